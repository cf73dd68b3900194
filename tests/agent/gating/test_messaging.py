"""Tests of agentfootprint.agent.gating.messaging."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import Act, Agent, Limits, Output, allow, ask, deny, on_message
from agentfootprint.agent import MessageDeniedError, MessageRule, MessageView, RuleOutcome
from agentfootprint.llm import LLMResponse, Mock, ToolCall
from tests.agent.gating.office import batch, ledger, named, office


@on_message(name="mask")
def mask(message: MessageView) -> RuleOutcome:
    clean = message.content.replace("ssn", "[x]")
    return allow() if clean == message.content else allow(clean, "a number")


class Denying(MessageRule):
    def __init__(self, phase: str) -> None:
        self.name = f"no-{phase}"
        self._phase = phase

    async def on_message(self, message: MessageView) -> RuleOutcome:
        return deny("not that") if message.phase == self._phase else allow()


async def test_the_run_sees_the_message_as_the_rules_left_it() -> None:
    agent = office("Fine.", act=Act(input=[mask]))

    result = await agent.run("my ssn")

    assert [message.content for message in result.messages] == ["my [x]", "Fine."]
    state = result.recording.snapshot["sharedState"]
    assert state["userMessage"] == "my [x]"
    assert [(row["phase"], row["changed"]) for row in ledger(result)] == [("input", True), ("output", False)]


async def test_a_denied_message_asks_no_model_and_leaves_no_text_in_the_error() -> None:
    handle = office("Never.", act=Act(input=[Denying("input")])).start("my ssn 4711")
    events = [event async for event in handle]

    with pytest.raises(MessageDeniedError) as caught:
        await handle.result()

    error = caught.value
    assert (error.reason, error.phase, error.middleware) == ("not that", "input", "no-input")
    assert "4711" not in str(error)
    assert named(events, "agent", "stream", "error") == ["agent.run_configured", "agent.turn_start"]
    assert handle.snapshot["sharedState"]["messageDeniedBy"] == "no-input"


async def test_the_answer_is_what_the_rules_leave_of_it() -> None:
    result = await office("the ssn", act=Act(output=[mask])).run("Go.")

    assert (result.text, result.output, str(result)) == ("the [x]", "the [x]", "the [x]")
    end = next(event.payload for event in result.recording.events if event.type.endswith("turn_end"))
    assert (end.final_content, end.denied) == ("the [x]", None)


async def test_a_denied_answer_is_published_nowhere() -> None:
    handle = office("secret", act=Act(output=[Denying("output")])).start("Go.")
    events = [event async for event in handle]

    with pytest.raises(MessageDeniedError) as caught:
        await handle.result()

    assert (caught.value.phase, caught.value.middleware) == ("output", "no-output")
    assert "secret" not in str(caught.value)
    end = next(event.payload for event in events if event.type.endswith("turn_end"))
    assert (end.final_content, end.denied) == ("", True)


class Refund(BaseModel):
    amount: float


def typed(*script: Any, retries: int = 1, rules: Any) -> Agent[Any, Any]:
    return office(*script, output=Output(Refund, retries=retries), act=Act(output=rules))


async def test_every_candidate_is_judged_and_the_rules_come_before_the_type() -> None:
    @on_message(name="strip")
    def strip(message: MessageView) -> RuleOutcome:
        return allow(message.content.removeprefix("Sure: "), "no talk")

    result = await typed("Sure: nothing", 'Sure: {"amount": 3}', rules=[strip]).run("Go.")

    assert result.output == Refund(amount=3)
    outputs = [row for row in ledger(result) if row["moment"] == "output"]
    assert [row["iteration"] for row in outputs] == [1, 2]


async def test_the_model_is_not_asked_again_for_what_a_rule_broke() -> None:
    @on_message(name="breaks")
    def breaks(message: MessageView) -> RuleOutcome:
        return allow(message.content.replace("3", "three"), "in words")

    result = await typed('{"amount": 3}', '{"amount": 4}', rules=[breaks]).run("Go.")

    assert result.iterations == 1
    assert result.contract_unmet is not None
    assert result.contract_unmet.broken_by == "breaks"


async def test_a_denied_answer_is_judged_by_nobody_else() -> None:
    handle = typed("no json at all", rules=[Denying("output")]).start("Go.")
    events = [event async for event in handle]

    with pytest.raises(MessageDeniedError):
        await handle.result()

    assert named(events, "agent.output", "resilience") == []
    assert named(events, "agent.route_decided", "middleware")[-2:] == ["middleware.decision", "agent.route_decided"]


async def test_the_text_beside_calls_that_a_limit_cuts_is_an_answer_too() -> None:
    reply = LLMResponse("my ssn", tool_calls=[ToolCall("c1", "look", {"order": "A"})])
    agent = office(reply, act=Act(output=[mask]))

    result = await agent.run("Go.", limits=Limits(iterations=1, wrap_up=False))

    assert result.text == "my [x]"


async def test_an_answer_that_stands_because_arguments_were_refused_is_judged_too() -> None:
    reply = LLMResponse("my ssn", tool_calls=[ToolCall("c1", "look", {})])

    result = await office(reply, act=Act(output=[mask])).run("Go.", limits=Limits(invalid_args=1))

    assert (result.ended_because, result.text) == ("refused", "my [x]")


async def test_a_rule_sees_which_end_it_is_at() -> None:
    seen: list[Any] = []

    class See(MessageRule):
        name = "see"

        def on_message(self, message: MessageView) -> RuleOutcome:
            seen.append((message.phase, message.content, len(message.history), message.deps))
            return allow()

    rule = See()
    agent = Agent(Mock("Fine."), gates=office("x", act=Act(input=[rule], output=[rule])).plan.gates)

    await agent.run("Hi.", deps=7)

    assert seen == [("input", "Hi.", 0, 7), ("output", "Fine.", 1, 7)]


async def test_a_run_of_tools_is_no_answer_and_not_judged() -> None:
    result = await office(batch(("c1", "look", {"order": "A"})), "Fine.", act=Act(output=[mask])).run("Go.")

    assert [(row["phase"], row["iteration"]) for row in ledger(result)] == [("input", 0), ("output", 2)]


async def test_a_question_about_a_message_is_a_denial() -> None:
    @on_message(name="asks")
    def asks(_: MessageView) -> RuleOutcome:
        return ask("Release?")

    with pytest.raises(MessageDeniedError, match=r"Release\?"):
        await office("Fine.", act=Act(output=[asks])).run("Go.")
