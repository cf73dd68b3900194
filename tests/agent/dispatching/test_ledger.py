"""Tests of agentfootprint.agent.dispatching.ledger."""

from __future__ import annotations

from agentfootprint import Act, allow, before_tool
from agentfootprint.agent import RuleOutcome, ToolCallView
from tests.agent.gating.office import batch, ledger, office


@before_tool(name="pass")
def passing(_: ToolCallView) -> RuleOutcome:
    return allow(None, "looked at")


async def test_a_pass_has_its_row_and_its_event() -> None:
    calls = batch(("c1", "look", {"order": "A"}), ("c2", "look", {"order": "B"}))

    result = await office(calls, "Done.", act=Act(before_tool=[passing])).run("Go.")

    assert ledger(result)[1] == {
        "middleware": "pass",
        "moment": "before-tool",
        "at": "tool",
        "toolName": "look",
        "toolCallId": "c2",
        "iteration": 1,
        "outcome": "allow",
        "changed": False,
        "why": "looked at",
    }
    events = [event for event in result.recording.events if event.type.endswith("middleware.decision")]
    assert [event.meta.tool_ordinal for event in events] == [0, 1]
