"""Traps of pauses: what went wrong in other implementations, one test each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint import (
    Agent,
    Gates,
    LLMMessage,
    Mock,
    ToolCall,
    ToolContext,
    approve,
    ask_human,
    tool,
)
from agentfootprint.agent import DecisionRequiredError, PauseAnswerRequiredError
from agentfootprint.agent.gating.outcomes import RuleOutcome, allow, ask
from agentfootprint.agent.gating.rules import Act, after_tool, before_tool
from agentfootprint.agent.gating.views import ToolCallView, ToolResultView
from agentfootprint.agent.pausing.leaving import leave
from agentfootprint.agent.pausing.resuming import open_batch
from agentfootprint.flow import PauseCheckpoint
from agentfootprint.llm import CallRef, LLMResponse, NotDispatched
from agentfootprint.security import extract_sequence, settled_proposals
from agentfootprint.trace import freeze
from tests.agent.pausing.desk import RAN, desk, question


async def test_trap_t8_a_resume_with_nothing_is_no_empty_tool_message() -> None:
    agent = desk(Mock.call("ask", question="Vip?"), "Done.")
    paused = question(await agent.run("Go."))

    with pytest.raises(PauseAnswerRequiredError):
        await agent.resume(paused)


async def test_trap_t9_a_misshapen_decision_declines_nothing() -> None:
    RAN.clear()
    agent = desk(Mock.call("refund", amount=480), "Done.")
    paused = question(await agent.run("Go."))

    with pytest.raises(DecisionRequiredError):
        await agent.resume(paused, {"approve": True, "user": "dana"})

    assert (await agent.resume(paused, approve(by="dana"))).text == "Done."
    assert RAN == ["refund 480"]


async def test_trap_t10_a_rule_that_redacts_results_sees_what_a_person_pasted() -> None:
    @after_tool(name="no-cards")
    def no_cards(call: ToolResultView) -> RuleOutcome:
        return allow("[a card number]", why="masked") if "4111" in str(call.result) else allow()

    agent = desk(Mock.call("ask", question="Card?"), "Done.", gates=Gates(act=Act(after_tool=[no_cards])))

    result = await agent.resume(question(await agent.run("Go.")), "4111 1111 1111 1111")

    assert [message.content for message in result.messages if message.role == "tool"] == ["[a card number]"]


async def test_trap_t11_a_rules_approval_is_not_the_approval_that_a_tool_asks_for() -> None:
    RAN.clear()

    @before_tool(name="guard")
    def guard(call: ToolCallView) -> RuleOutcome:
        return ask("OK?") if call.tool_name == "refund" else allow()

    gates = Gates(act=Act(before_tool=[guard]))
    script = [Mock.call("refund", amount=5), Mock.call("refund", amount=480), "Done."]
    agent = desk(*script, gates=gates)

    small = await agent.resume(question(await agent.run("Go.")), approve(by="d"))
    large = await agent.resume(question(small), approve(by="d"))

    assert RAN == ["refund 5"]
    assert [call.ok for call in large.tool_calls] == [False]


async def test_trap_t12_a_call_that_is_refused_asks_nobody() -> None:
    agent = desk(Mock.call("refund", amount="much"), "Sorry.")

    assert (await agent.run("Go.")).paused is None


async def test_trap_t20_no_address_of_a_consent_is_told_in_an_event() -> None:
    agent = desk(Mock.call("ask", question="Vip?"), "Done.")
    events: list[Any] = []
    agent.on("agentfootprint.pause.request", lambda event: events.append(event.payload))
    from agentfootprint.agent.loop import AgentRun

    run = AgentRun(
        agent, "Go.", deps=None, identity=None, session_id=None, settings=None, limits=None, gates=None, options=None
    )
    data = {"question": "Sign in", "authorization": {"service": "mail", "authorizationUrl": "https://x.example/s"}}

    leave(
        run.scope,
        PauseCheckpoint(state=freeze({}), paused_stage_id="tool-calls", pause_data=freeze(data)),
        groups=(None, None, None),
    )

    assert events[0].question_payload["authorization"] == {"service": "mail"}
    assert "https" not in str(events[0])


def proposing(*calls: tuple[str, str]) -> LLMMessage:
    return LLMMessage("assistant", "", tool_calls=[ToolCall(id, name, {}) for id, name in calls])  # noqa: A001


def told(call_id: str, *, settled: bool = False) -> LLMMessage:
    mark = NotDispatched(paused_call=CallRef("p", "ask")) if settled else None
    return LLMMessage("tool", "text", tool_call_id=call_id, tool_name="t", not_dispatched=mark)


def test_trap_t23_a_settled_call_counts_nothing_when_its_id_is_reused() -> None:
    history = [
        proposing(("p", "ask"), ("x", "verify")),
        told("p"),
        told("x", settled=True),
        proposing(("x", "transfer")),
        told("x"),
    ]

    assert [entry.name for entry in extract_sequence(history, 2)] == ["ask", "transfer"]
    assert settled_proposals(history) == {(0, 1)}


def test_trap_t23_a_surplus_answer_is_paired_with_no_older_turn() -> None:
    history = [proposing(("x", "verify")), proposing(("x", "transfer")), told("x"), told("x", settled=True)]

    assert settled_proposals(history) == set()
    assert open_batch(history, "x", "transfer", None).undispatched == ()


async def test_trap_t23_a_settled_bracket_is_neither_a_success_nor_a_failure() -> None:
    calls = (ToolCall("c1", "ask", {"question": "?"}), ToolCall("c2", "look", {"order": "A"}))
    agent = desk(LLMResponse(tool_calls=calls, stop_reason="tool_use"), "Done.")

    result = await agent.resume(question(await agent.run("Go.")), "y")

    ends = [event.payload for event in result.recording.events if event.type.endswith("tool_end")]
    assert [(end.tool_call_id, end.error, end.not_dispatched is None) for end in ends] == [
        ("c1", None, True),
        ("c2", None, False),
    ]
    settled = result.recording.tool_uses[1]
    assert (settled.ok, settled.error) == (False, False)


async def test_trap_t26_what_a_run_opened_is_closed_after_its_resume_and_not_at_its_pause() -> None:
    closed: list[str | None] = []

    @tool
    async def opens(ctx: ToolContext) -> str:
        """Open, then ask. Use it always."""
        ctx.on_teardown(lambda: closed.append(ctx.run_id))
        ask_human("Go on?")

    agent = Agent(Mock([Mock.call("opens"), "Done."], cursor="history"), tools=[opens])
    first = await agent.run("Go.")
    at_the_pause = list(closed)

    last = await agent.resume(question(first), "y")

    assert (at_the_pause, closed) == ([], [first.run_id])
    assert last.run_id != first.run_id


async def test_trap_t35_a_pause_says_which_checks_ran() -> None:
    result = await desk(Mock.call("ask", question="Vip?"), "Done.").run("Go.")

    assert result.recording.events[-1].type == "agentfootprint.integrity.disposition"
    json.dumps(result.recording.to_wire())
