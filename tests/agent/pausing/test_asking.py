"""Tests of agentfootprint.agent.pausing.asking: what happens when a rule has asked."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Mock, approve, decline
from agentfootprint.agent import AskComponent, InvalidAskComponentError
from agentfootprint.agent.pausing.asking import asked_by_rule
from agentfootprint.trace import freeze
from tests.agent.pausing.desk import RAN, desk, question


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()


def asking(monkeypatch: pytest.MonkeyPatch, args: dict[str, Any], component: AskComponent | None = None) -> None:
    """A rule that asks about every call, after it has rewritten the arguments."""

    def asks(*_: object) -> None:
        raise asked_by_rule(
            question="May it?", middleware="guard", args=freeze(args), index=0, detail={"x": 1}, component=component
        )

    monkeypatch.setattr("agentfootprint.agent.batch.validated", asks)


async def test_a_rules_question_is_on_record_with_its_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    asking(monkeypatch, {"order": "B"}, AskComponent("panel"))

    result = await desk(Mock.call("look", order="A"), "Done.").run("Go.")

    paused = question(result)
    assert paused.ask is not None
    assert (paused.kind, paused.ask.middleware, paused.ask.detail) == ("ask", "guard", {"x": 1})
    state = result.recording.snapshot["sharedState"]
    assert {key: state[key] for key in state if key.startswith("pausedAsk") or key == "pausedComponentId"} == {
        "pausedAsk": True,
        "pausedAskArgs": {"order": "B"},
        "pausedAskIndex": 0,
        "pausedAskMiddleware": "guard",
        "pausedComponentId": "panel",
    }


async def test_an_approved_call_runs_as_the_rules_left_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asking(monkeypatch, {"order": "B"})
    agent = desk(Mock.call("look", order="A"), "Done.")
    paused = question(await agent.run("Go."))
    monkeypatch.undo()

    result = await agent.resume(paused, approve(by="amy", note="ok"))

    assert RAN == ["look B"]
    state = result.recording.snapshot["sharedState"]
    assert (state["pausedAsk"], "pausedAskArgs" in state) == (False, False)
    row = state["middlewareDecisions"][0]
    assert (row["outcome"], row["changed"], row["why"]) == ("allow", False, "approved by amy: ok")


async def test_a_declined_call_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asking(monkeypatch, {"order": "B"})
    agent = desk(Mock.call("look", order="A"), "Done.")
    paused = question(await agent.run("Go."))
    monkeypatch.undo()

    result = await agent.resume(paused, decline(by="amy"))

    assert RAN == []
    assert result.tool_calls[0].denied
    assert result.recording.snapshot["sharedState"]["middlewareDecisions"][0]["why"] == "declined by amy"


async def test_one_decision_is_not_two_approvals(monkeypatch: pytest.MonkeyPatch) -> None:
    asking(monkeypatch, {"amount": 480})
    agent = desk(Mock.call("refund", amount=480), "Done.")
    paused = question(await agent.run("Go."))
    monkeypatch.undo()

    result = await agent.resume(paused, approve(by="amy"))

    assert RAN == []
    assert "guard" in result.messages[2].content
    assert result.tool_calls[0].ok is False


async def test_what_was_approved_is_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    asking(monkeypatch, {"order": 5})
    agent = desk(Mock.call("look", order="A"), "Done.")
    paused = question(await agent.run("Go."))
    monkeypatch.undo()

    result = await agent.resume(paused, approve(by="amy"))

    assert (RAN, result.tool_calls[0].ok) == ([], False)


async def test_a_component_that_cannot_be_shown_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asking(monkeypatch, {}, AskComponent("panel", props_ref="art_1"))

    with pytest.raises(InvalidAskComponentError) as refused:
        await desk(Mock.call("look", order="A"), "Done.").run("Go.")

    assert refused.value.door == "ask"
