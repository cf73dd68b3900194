"""Tests of agentfootprint.agent.pausing.checking."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Gates, Mock, ToolCall, approve, tool
from agentfootprint.agent import AskComponent, CheckInOptions, InvalidAskComponentError
from agentfootprint.agent.pausing.evidence import EvidenceInput
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event
from agentfootprint.llm import LLMResponse
from agentfootprint.tools import CheckInContext, ToolRules
from tests.agent.pausing.desk import RAN, desk, question


@tool
async def fails(n: int) -> str:
    """Fail. Use it always."""
    raise RuntimeError(f"no {n}")


def gated(predicate: Any = "always", **options: Any) -> Agent[Any, str]:
    @tool(check_in=predicate, rules=options.pop("rules", None))
    async def close(user: str) -> str:
        """Close an account for good. Use it when its owner asks."""
        return f"{user} closed"

    calls = (ToolCall("c0", "fails", {"n": 1}), ToolCall("c1", "close", {"user": "u7"}))
    script = [LLMResponse("I close it.", tool_calls=calls, stop_reason="tool_use"), "Closed."]
    return Agent(Mock(script, cursor="history"), system="Be kind.", tools=[fails, close], **options)


async def test_the_predicate_sees_the_window_as_it_stands_between_the_calls_of_the_batch() -> None:
    seen: list[CheckInContext] = []

    async def watch(args: dict[str, Any], ctx: CheckInContext) -> bool:
        seen.append(ctx)
        return True

    await gated(watch).run("Close u7.", deps="mine")

    assert [(message.role, message.content) for message in seen[0].history] == [
        ("system", "Be kind."),
        ("user", "Close u7."),
        ("assistant", "I close it."),
        ("tool", "no 1"),
    ]
    assert (seen[0].iteration, seen[0].tool_call_id, seen[0].deps) == (1, "c1", "mine")


async def test_the_trail_knows_which_calls_failed() -> None:
    paused = question(await gated().run("Close u7."))
    assert paused.check_in is not None
    assert paused.check_in.evidence.trail["toolCalls"] == [{"name": "fails", "ok": False}]
    assert paused.check_in.intent == "I close it."


async def test_the_request_is_told_before_the_pause() -> None:
    events: list[Event[Any]] = []
    agent = gated()
    agent.on("*", events.append)

    await agent.run("Close u7.")

    types = [event.type.removeprefix("agentfootprint.") for event in events]
    assert types[-3:] == ["checkin.request", "pause.request", "integrity.disposition"]


async def test_a_call_whose_arguments_do_not_fit_asks_nobody() -> None:
    RAN.clear()
    agent = desk(Mock.call("refund", amount="much"), "Sorry.")

    result = await agent.run("Go.")

    assert (result.paused, result.text, RAN) == (None, "Sorry.", [])


async def test_minimal_evidence_says_only_what_the_call_will_do() -> None:
    agent = gated(gates=Gates(check_in=CheckInOptions(evidence="minimal")))

    paused = question(await agent.run("Close u7."))
    assert paused.data["checkIn"]["evidence"] == {
        "willDo": "Close an account for good. Use it when its owner asks. \N{EM DASH} with user=u7"
    }


async def test_an_application_may_put_the_evidence_together() -> None:
    async def mine(given: EvidenceInput) -> dict[str, Any]:
        return {"willDo": given.tool_name, "ticket": "T-1"}

    paused = question(await gated(gates=Gates(check_in=CheckInOptions(evidence=mine))).run("Close u7."))

    assert paused.data["checkIn"]["evidence"] == {"willDo": "close", "ticket": "T-1"}


async def test_a_scorer_of_the_applications_ranks_what_was_read() -> None:
    options = CheckInOptions(scorer=lambda target, texts: [len(text) for text in texts])

    paused = question(await gated(gates=Gates(check_in=options)).run("Close u7."))

    drivers = paused.data["checkIn"]["evidence"]["drivers"]
    assert [row["score"] for row in drivers] == sorted((row["score"] for row in drivers), reverse=True)


def test_options_that_decide_nothing_are_refused() -> None:
    with pytest.raises(ConfigError, match="ranks nothing"):
        CheckInOptions(evidence="minimal", scorer=lambda target, texts: [])
    with pytest.raises(ConfigError):
        CheckInOptions(evidence="much")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"gates\.check_in"):
        Gates(check_in="always")  # type: ignore[arg-type]


def test_options_without_a_tool_that_asks_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"gates\.check_in"):
        Agent(Mock("hi"), tools=[fails], gates=Gates(check_in=CheckInOptions()))


async def test_a_component_that_refers_to_stored_data_fails_the_run_where_there_is_no_store() -> None:
    agent = gated(rules=ToolRules(component=AskComponent("panel", props_ref="art_1")))

    with pytest.raises(InvalidAskComponentError) as refused:
        await agent.run("Close u7.")

    assert (refused.value.reason, refused.value.door, refused.value.ref) == ("no-store", "check_in", "art_1")


async def test_an_approval_may_hold_for_the_whole_run_and_each_use_is_on_record() -> None:
    same, other = Mock.call("refund", amount=480), Mock.call("refund", amount=490)
    agent = desk(same, same, other, "Done.")
    RAN.clear()
    first = await agent.run("Go.")

    second = await agent.resume(question(first), approve(by="dana", remember="run"))
    last = await agent.resume(question(second), approve(by="dana"))

    assert second.paused is not None
    assert second.paused.check_in is not None
    assert second.paused.check_in.args == {"amount": 490}
    assert (last.text, RAN) == ("Done.", ["refund 480", "refund 480", "refund 490"])
    decisions = [event.payload for event in second.recording.events if event.type.endswith("checkin.decision")]
    assert [(decision.by, decision.remembered) for decision in decisions] == [("dana", None), ("dana", True)]


async def test_an_approval_holds_for_its_call_only_unless_it_says_otherwise() -> None:
    same = Mock.call("refund", amount=480)
    agent = desk(same, same, "Done.")

    second = await agent.resume(question(await agent.run("Go.")), approve(by="dana"))

    assert second.paused is not None
