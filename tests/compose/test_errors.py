"""Tests of agentfootprint.compose.errors."""

from __future__ import annotations

import pytest

from agentfootprint import Agent, Gates, LLMCall, Mock, Parallel, RecordOptions, Sequence
from agentfootprint.agent import (
    Act,
    MessageDeniedError,
    MessageView,
    RuleOutcome,
    conversation_redaction,
    deny,
    on_message,
)
from agentfootprint.compose import CompositionError, Step, runner
from agentfootprint.events import event_to_wire
from agentfootprint.flow import RedactionPolicy
from agentfootprint.trace import compact_json
from tests.compose.parts import boom, heard_by, up


async def test_what_a_composition_says_of_what_others_raised_is_withheld_where_something_is_kept_out() -> None:
    async def fail(message: str) -> str:
        raise ValueError("no card 4111")

    policy = RedactionPolicy(keys=["card", "branchErrors"])
    branches = {"a": LLMCall(Mock("x"), record=RecordOptions(redaction=policy)), "b": runner(fail)}
    line = Sequence([Step("both", Parallel(branches, merge=lambda _: ""))])
    heard = heard_by(line)

    with pytest.raises(CompositionError, match="b: no card 4111"):
        await line.run("hi")

    assert "4111" not in "".join(compact_json(event_to_wire(event)) for event in heard)
    assert heard[-1].payload.error == "[REDACTED]"


async def test_a_rule_that_refuses_in_a_part_is_quoted_nowhere_where_the_conversation_is_kept_out() -> None:
    @on_message(name="guard")
    def guard(message: MessageView) -> RuleOutcome:
        return deny(f"mark-refusal of {message.content}")

    record = RecordOptions(redaction=conversation_redaction())
    line = Sequence([Agent(Mock("x"), id="a", gates=Gates(act=Act(input=[guard])), record=record)])
    heard = heard_by(line)

    with pytest.raises(MessageDeniedError, match="mark-refusal of mark-message"):
        await line.run("mark-message")

    assert "mark-" not in "".join(compact_json(event_to_wire(event)) for event in heard)
    assert heard[-1].payload.error == "[REDACTED]"


async def test_a_failed_composition_is_not_told_of_as_a_failed_model_call() -> None:
    both = Parallel({"a": boom, "b": up}, merge=lambda _: "", id="both")
    heard = heard_by(both)

    with pytest.raises(CompositionError):
        await both.run("hi")

    assert heard[-1].payload.error.startswith("The Parallel 'both' failed: 1 of 2 branches failed.")
