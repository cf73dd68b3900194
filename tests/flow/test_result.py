"""Tests of agentfootprint.flow.result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import Chart, FlowResult, RedactionPolicy, Stage
from agentfootprint.trace import ABSENT, flatten_causal_chain


def growing() -> FlowResult:
    def start(s: Any) -> None:
        s["n"], s["all"] = 1, ["a"]

    def grow(s: Any) -> None:
        s["all"] = [*s["all"], f"b{s['n']}"]
        s["n"] = s["n"] + 1

    parts = [Stage(start, id="start"), Stage(grow, id="grow"), Stage(grow, id="more")]
    return asyncio.run(Chart.of("Grow", *parts).build().run())


def test_it_says_what_a_value_came_from_and_went_into() -> None:
    result = growing()

    why, forward = result.why("all"), result.forward("n", before=1)

    assert why.root is not None
    assert [node.runtime_stage_id for node in flatten_causal_chain(why.root)] == ["more#2", "grow#1", "start#0"]
    assert forward.root is not None
    assert {edge.child.key for edge in forward.root.fed_edges} == {"all", "n"}


def test_it_gives_the_value_of_a_key_after_any_step() -> None:
    result = growing()

    assert result.value_at("n", 0) == 1
    assert result.value_at("n", "grow#1") == 2
    assert result.value_at("n", 10**6) == 3
    assert result.value_at("n", -1) is ABSENT
    assert result.value_at("nothing", 1) is ABSENT


def test_it_says_which_step_brought_each_element_of_a_list() -> None:
    result = growing()

    provenance, birth = result.array_provenance("all"), result.element_provenance("all", 2)

    assert provenance.length == 3
    assert birth is not None
    assert birth.runtime_stage_id == "more#2"
    assert result.element_provenance("all", 9) is None


def test_it_lists_when_a_key_was_written_and_read() -> None:
    kinds = [moment.kind for moment in growing().timeline("n").moments]

    assert kinds == ["write", "read", "write", "read", "write"]


@pytest.mark.parametrize("ask", ["why", "forward", "timeline", "array_provenance"])
def test_the_index_is_made_with_the_first_question_and_kept(ask: str) -> None:
    result = growing()

    question: Callable[[str], Any] = getattr(result, ask)
    question("all")
    kept = result._questions[0].runtimes().every[0].log  # pyright: ignore[reportPrivateUsage]  that it is one is the point
    result.why("n")

    assert result._questions[0].runtimes().every[0].log is kept  # pyright: ignore[reportPrivateUsage]
    assert len(result._questions) == 1  # pyright: ignore[reportPrivateUsage]


def test_no_answer_holds_a_redacted_value() -> None:
    def start(s: Any) -> None:
        s["secret"], s["all"] = "S3CRET", ["x"]

    flow = Chart.of("Redact", Stage(start, id="start")).build()
    result = asyncio.run(flow.executor(redaction=RedactionPolicy(keys=["secret"])).run())

    assert result.value_at("secret", 0) == "REDACTED"
    assert "S3CRET" not in str(result.why("secret")) + str(result.forward("secret")) + str(result.timeline("secret"))
