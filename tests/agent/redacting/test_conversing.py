"""Tests of agentfootprint.agent.redacting.conversing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import (
    Agent,
    Fact,
    Gates,
    Instruction,
    Mock,
    Output,
    Paused,
    RecordOptions,
    absent,
    approve,
    ask_human,
    decline,
    tool,
)
from agentfootprint.agent import (
    Act,
    InputField,
    MessageDeniedError,
    MessageView,
    PolicyHaltError,
    RuleOutcome,
    ToolCallView,
    ToolResultView,
    after_tool,
    allow,
    ask,
    before_tool,
    conversation_redaction,
    deny,
    on_message,
    request_input,
)
from agentfootprint.flow import RedactionPolicy
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.security import PermissionDecision, PermissionRequest
from tests.agent.redacting.views import KEPT, watched


def test_the_names_of_a_conversation_and_more() -> None:
    policy = conversation_redaction(["customerId"])

    assert all(map(policy.hides, ("content", "args", "result", "userMessage", "customerId")))
    assert not any(map(policy.hides, ("toolName", "stopReason", "iteration", "code")))
    assert not conversation_redaction().hides("customerId")


def test_a_policy_can_be_added() -> None:
    more = RedactionPolicy(patterns=["(?i)token$"], event_fields={"shop.paid": ["card"]}, placeholder="-")

    policy = conversation_redaction(more)

    assert policy.hides("apiToken")
    assert policy.event_fields["shop.paid"] == ("card",)
    assert "agentfootprint.agent.output_schema_retry" in policy.event_fields


class Bill(BaseModel):
    """What the model must answer."""

    amount: int
    to: str


def typed() -> Agent[Any, Any]:
    miss = '{"amount": "mark-miss", "to": "mark-to"}'
    return Agent(Mock(["mark-prose", miss, "mark-again"], cursor="run"), output=Output(Bill, retries=2))


def invalid_arguments() -> Agent[Any, Any]:
    calls = [ToolCall("c1", "pay", {"amount": "mark-amount"}), ToolCall("c2", "pay", {"amount": 1, "mark-key": 2})]
    return Agent(Mock([LLMResponse("", tool_calls=calls), "mark-done"], cursor="run"), tools=[pay])


def checked_in() -> Agent[Any, Any]:
    asks = LLMResponse("mark-intent", tool_calls=[ToolCall("c1", "refund", {"why": "mark-why"})])
    return Agent(Mock([asks, "mark-done"], cursor="history"), tools=[refund], context=[Fact("f", "Open all day.")])


def asked_by_a_rule() -> Agent[Any, Any]:
    @before_tool(name="guard")
    def guard(call: ToolCallView) -> RuleOutcome:
        return ask(f"May it pay {call.args['amount']}?", detail={"args": call.args})

    asks = LLMResponse("", tool_calls=[ToolCall("c1", "spend", {"amount": "mark-amount"})])
    return Agent(Mock([asks, "mark-done"], cursor="history"), tools=[spend], gates=Gates(act=Act(before_tool=[guard])))


def asked_for_values() -> Agent[Any, Any]:
    asks = LLMResponse("", tool_calls=[ToolCall("c1", "window", {"day": "mark-day"})])
    return Agent(Mock([asks, "mark-done"], cursor="history"), tools=[window])


def found_nothing() -> Agent[Any, Any]:
    asks = LLMResponse("", tool_calls=[ToolCall("c1", "search", {"query": "mark-query"})])
    return Agent(Mock([asks, "mark-done"], cursor="run"), tools=[search])


def rewritten() -> Agent[Any, Any]:
    @after_tool(name="mask")
    def mask(result: ToolResultView) -> RuleOutcome:
        return allow({"masked": "mark-masked"}, "masked")

    asks = LLMResponse("", tool_calls=[ToolCall("c1", "spend", {"amount": "mark-amount"})])
    return Agent(Mock([asks, "mark-done"], cursor="run"), tools=[spend], gates=Gates(act=Act(after_tool=[mask])))


def told_facts() -> Agent[Any, Any]:
    pieces = [Fact("hours", "mark-fact"), Instruction("be", "mark-instruction")]
    return Agent(Mock("mark-done"), system="mark-system", context=pieces)


class Checker:
    """Says in words what it saw."""

    name = "checker"

    def __init__(self, result: Any) -> None:
        self.result = result

    def check(self, request: PermissionRequest) -> PermissionDecision:
        return PermissionDecision(self.result, rationale=f"mark-rationale {request.context['amount']}")


def denied() -> Agent[Any, Any]:
    asks = LLMResponse("", tool_calls=[ToolCall("c1", "spend", {"amount": "mark-amount"})])
    return Agent(Mock([asks, "mark-done"], cursor="run"), tools=[spend], gates=Gates(permission=Checker("deny")))


def halted() -> Agent[Any, Any]:
    asks = LLMResponse("", tool_calls=[ToolCall("c1", "spend", {"amount": "mark-amount"})])
    return Agent(Mock([asks, "mark-done"], cursor="run"), tools=[spend], gates=Gates(permission=Checker("halt")))


def refused() -> Agent[Any, Any]:
    @on_message(name="guard")
    def guard(message: MessageView) -> RuleOutcome:
        return deny(f"mark-refusal {message.content}")

    return Agent(Mock("x"), gates=Gates(act=Act(input=[guard])))


def fell_back() -> Agent[Any, Any]:
    def give_up(*_: object) -> Bill:
        raise ValueError("mark-failure")

    output = Output(Bill, fallback=give_up, canned=Bill(amount=0, to=""))
    return Agent(Mock('{"amount": "mark-miss", "to": "mark-to"}'), output=output)


def asked_with_a_reason() -> Agent[Any, Any]:
    asks = LLMResponse("", tool_calls=[ToolCall("c1", "confirm", {"what": "mark-what"})])
    return Agent(Mock([asks, "mark-done"], cursor="history"), tools=[confirm])


@tool
def confirm(what: str) -> str:
    """Ask a person. Use it when unsure."""
    ask_human(f"mark-question {what}", reason=f"mark-reason {what}")


@tool
def pay(amount: int) -> str:
    """Pay an amount. Use it when one is named."""
    return "mark-paid"


@tool
def spend(amount: str) -> dict[str, str]:
    """Spend an amount. Use it when one is named."""
    return {"spent": f"mark-spent {amount}"}


@tool(check_in="always")
def refund(why: str) -> str:
    """Refund. Use it when asked."""
    return "mark-refunded"


@tool
def window(day: str) -> str:
    """Ask for a window. Use it when none is known."""
    request_input(
        id="window",
        question="For mark-person?",
        fields=[InputField("zone"), InputField("year", float)],
        supplied={"year": 2026, "zone": "mark-zone"} if day == "never" else {"year": 2026},
        context={"operation": "mark-operation"},
    )


@tool
def search(query: str) -> Any:
    """Search. Use it when something is to be found."""
    return absent(query, checked=["mark-shelf"], try_instead="mark-instead")


def given(paused: Paused) -> dict[str, Any]:
    """The values that a request waits for."""
    assert paused.awaiting is not None
    return {"requestId": paused.awaiting.request_id, "values": {"zone": "mark-given"}}


FEATURES: dict[str, tuple[Any, Any]] = {
    "a typed answer that misses": (typed, None),
    "arguments that do not fit": (invalid_arguments, None),
    "a check-in with its evidence": (checked_in, approve(by="mark-person", note="mark-note")),
    "a rule that asks": (asked_by_a_rule, decline(by="mark-person", note="mark-note")),
    "a request for values": (asked_for_values, given),
    "something that was not found": (found_nothing, None),
    "a rule that replaces a result": (rewritten, None),
    "pieces of context": (told_facts, None),
    "a call that is denied": (denied, None),
    "an answer in the place of one that misses": (fell_back, None),
    "a question with a reason": (asked_with_a_reason, "mark-answer"),
}


@pytest.mark.parametrize("feature", FEATURES)
async def test_of_a_conversation_nothing_is_in_any_view_whatever_the_loop_does(feature: str, tmp_path: Path) -> None:
    make, answer = FEATURES[feature]
    agent: Agent[Any, Any] = make()
    covered = agent.without(())
    policy = conversation_redaction(["by", "note"])
    covered.record = covered.plan.record = RecordOptions(redaction=policy, system_prompt=True)
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()

    open_ = await watched(agent, "mark-message", before, answer=answer)
    shut = await watched(covered, "mark-message", after, answer=answer)

    assert len(open_.showing("mark-")) > 10
    leaks = {name: shut.views[name] for name in shut.showing("mark-")}
    assert {name: text[text.index("mark-") - 120 :][:160] for name, text in leaks.items()} == {}
    assert shut.types == open_.types
    assert [result.text for result in shut.results] == [result.text for result in open_.results]


@pytest.mark.parametrize("make", [halted, refused])
async def test_of_a_run_that_is_refused_nothing_is_in_any_view(make: Any, tmp_path: Path) -> None:
    agent: Agent[Any, Any] = make()
    covered = agent.without(())
    covered.record = covered.plan.record = RecordOptions(redaction=conversation_redaction())

    shown: list[dict[str, str]] = []
    for each in (agent, covered):
        run = each.start("mark-message")
        with pytest.raises((PolicyHaltError, MessageDeniedError)):
            await run.result()
        shown.append({name: look(run.recording, tmp_path) for name, look in KEPT.items()})

    assert sum("mark-" in text for text in shown[0].values()) > 5
    leaks = {name: text for name, text in shown[1].items() if "mark-" in text}
    assert {name: text[text.index("mark-") - 120 :][:160] for name, text in leaks.items()} == {}
