"""Traps of gates: what went wrong in other implementations, one test each."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import (
    Act,
    Agent,
    Gates,
    Mock,
    Output,
    PolicyHaltError,
    ToolCall,
    allow,
    ask,
    before_tool,
    on_message,
    tool,
)
from agentfootprint.agent import MessageDeniedError, MessageView, RuleOutcome, ToolCallView
from agentfootprint.llm import ArgsError, LLMResponse
from agentfootprint.security import PermissionDecision, PermissionRequest, extract_sequence
from tests.agent.gating.office import Checker, batch, halting, ledger, office, told


async def test_trap_t12_a_denied_call_asks_no_person() -> None:
    asked: list[object] = []

    def trips(args: object, _: object) -> bool:
        asked.append(args)
        return True

    @tool(check_in=trips)
    async def refund(amount: float) -> str:
        """Refund an amount. Use it when asked."""
        return f"refunded {amount}"

    checker = Checker(lambda _: PermissionDecision("deny"))
    agent = Agent(Mock([Mock.call("refund", amount=3), "Done."]), tools=[refund], gates=Gates(permission=checker))

    result = await agent.run("Go.")

    assert result.paused is None
    assert asked == []


async def test_trap_t16_an_answer_is_judged_once_the_rules_have_spoken() -> None:
    class Refund(BaseModel):
        amount: float

    @on_message(name="unwrap")
    def unwrap(message: MessageView) -> RuleOutcome:
        return allow(message.content.strip("<>"), "wrapped")

    agent = Agent(
        Mock(['<{"amount": 3}>', "never"]), output=Output(Refund, retries=1), gates=Gates(act=Act(output=[unwrap]))
    )

    result = await agent.run("Go.")

    assert (result.output, result.iterations) == (Refund(amount=3), 1)


async def test_trap_t21_the_model_never_reads_why_a_run_was_halted() -> None:
    agent = office(
        batch(("c1", "send", {"text": "x"})),
        permission=halting("send", reason="security:exfil-rule-7", rationale="rule 7 tripped"),
    )

    with pytest.raises(PolicyHaltError) as caught:
        await agent.run("Go.")

    read = [text for _, text in told(caught.value.history)]
    assert read != []
    assert not any("exfil" in text or "rule 7" in text for text in read)


async def test_trap_t22_a_failing_checker_tells_the_model_not_to_try_again_and_nothing_else() -> None:
    def down(request: PermissionRequest) -> PermissionDecision:
        raise ConnectionError("policy.internal:443 refused")

    result = await office(batch(("c1", "send", {"text": "x"})), "Done.", permission=Checker(down)).run("Go.")

    ((_, text),) = told(result.messages)
    assert text.startswith("[permission denied:")
    assert "not call it again" in text
    assert "policy.internal" not in text


async def test_trap_t32_a_call_with_an_empty_id_is_answered_and_never_counted() -> None:
    seen: list[list[str]] = []

    def check(request: PermissionRequest) -> PermissionDecision:
        seen.append([entry.name for entry in request.sequence])
        return PermissionDecision("allow")

    agent = office(
        batch(("", "look", {"order": "A"}), ("c2", "look", {"order": "B"})), "Done.", permission=Checker(check)
    )

    result = await agent.run("Go.")

    assert told(result.messages) == [("", "A: shipped"), ("c2", "B: shipped")]
    assert seen == [[], []]
    assert [entry.name for entry in extract_sequence(result.messages, 1)] == ["look"]


@pytest.mark.parametrize("answer", [ask("Release?"), allow({"text": "secret"}, "why"), None, "text"])
async def test_trap_t34_what_is_no_answer_about_a_message_withholds_it(answer: Any) -> None:
    @on_message(name="odd")
    def odd(_: MessageView) -> Any:
        return answer

    with pytest.raises(MessageDeniedError) as caught:
        await office("the secret", act=Act(output=[odd])).run("Go.")

    assert caught.value.middleware == "odd"
    assert "secret" not in str(caught.value)


async def test_a_malformed_call_is_shown_to_no_rule_and_says_what_was_wrong() -> None:
    @before_tool(name="see")
    def see(call: ToolCallView) -> RuleOutcome:
        return allow({"order": call.args["order"]}, "seen")

    reply = LLMResponse("", tool_calls=[ToolCall("c1", "look", {}, args_error=ArgsError("they are no JSON", 5))])

    result = await office(reply, "Done.", act=Act(before_tool=[see])).run("Go.")

    assert ledger(result) == []
    assert "they are no JSON" in told(result.messages)[0][1]
    assert (result.tool_calls[0].ok, result.tool_calls[0].denied) == (False, False)
