"""Tests of agentfootprint.agent.gating.chains."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import Act, after_tool, allow, ask, before_tool, deny, on_message
from agentfootprint.agent import MessageView, RuleOutcome, ToolCallView, ToolResultView
from agentfootprint.agent.gating.chains import (
    judge_call,
    judge_message,
    judge_result,
    message_links,
    tool_links,
)
from agentfootprint.trace import FrozenDict, freeze

CALL = ToolCallView(tool_name="t", tool_call_id="c1", iteration=1, args=freeze({"a": 1}), history=())


def one(answer: Any) -> Act:
    @before_tool(name="one")
    def rule(_: ToolCallView) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Act(before_tool=[rule])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "it answered with nothing instead of"),
        (True, "it answered with a bool instead of"),
        (RuntimeError(""), "RuntimeError"),
        (RuntimeError("half \ud800"), "half"),
    ],
)
async def test_what_is_no_answer_is_a_denial_that_says_so(answer: Any, said: str) -> None:
    verdict = await judge_call(tool_links(one(answer)), CALL, lambda _: None)

    assert verdict.kind == "deny"
    assert verdict.reason.startswith("middleware 'one' threw: ")
    assert said in verdict.reason


async def test_arguments_are_an_object_and_a_message_is_a_text() -> None:
    secret = ["4711"]

    verdict = await judge_call(tool_links(one(allow(secret, "why"))), CALL, lambda _: None)

    assert verdict.kind == "deny"
    assert "no object" in verdict.reason
    assert "4711" not in verdict.reason


async def test_a_result_may_become_anything_json_has() -> None:
    @after_tool(name="r")
    def rule(_: ToolResultView) -> RuleOutcome:
        return allow(False, "no")

    view = ToolResultView(tool_name="t", tool_call_id="c1", iteration=1, args=freeze({}), history=(), result="R")

    assert (await judge_result(tool_links(Act(after_tool=[rule])), view, lambda _: None)).result is False


async def test_a_rule_listed_at_one_end_passes_at_the_other_unasked() -> None:
    @on_message(name="in")
    def rule(_: MessageView) -> RuleOutcome:
        return deny("never")

    rows: list[FrozenDict] = []
    links = message_links(Act(input=[rule]))

    verdict = await judge_message(links, MessageView(phase="output", content="x"), rows.append, iteration=1)

    assert verdict.kind == "allow"
    assert [(row["middleware"], row["outcome"]) for row in rows] == [("in", "allow")]


KINDS = st.sampled_from(["pass", "change", "deny", "ask", "throw", "none"])


def rule_of(place: int, kind: str) -> Any:
    @before_tool(name=f"r{place}")
    async def rule(call: ToolCallView) -> Any:
        if kind == "throw":
            raise RuntimeError("x")
        return {
            "pass": allow(),
            "change": allow({**call.args, f"k{place}": place}, "why"),
            "deny": deny("no"),
            "ask": ask("sure?"),
            "none": None,
        }[kind]

    return rule


@given(kinds=st.lists(KINDS, max_size=8), may_ask=st.booleans())
def test_a_walk_ends_at_the_first_that_does_not_allow_and_files_a_row_for_each_asked(
    kinds: list[str], may_ask: bool
) -> None:
    links = tool_links(Act(before_tool=[rule_of(place, kind) for place, kind in enumerate(kinds)]))
    rows: list[FrozenDict] = []

    verdict = asyncio.run(judge_call(links, CALL, rows.append, may_ask=may_ask))

    stops = [place for place, kind in enumerate(kinds) if kind not in ("pass", "change")]
    walked = kinds[: stops[0] + 1] if stops else kinds
    assert [row["middleware"] for row in rows] == [f"r{place}" for place in range(len(walked))]
    assert verdict.kind == ("allow" if not stops else "ask" if kinds[stops[0]] == "ask" and may_ask else "deny")
    changes = {f"k{place}": place for place, kind in enumerate(walked) if kind == "change"}
    assert dict(verdict.args) == {"a": 1, **changes}
