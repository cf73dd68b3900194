"""Tests of agentfootprint.agent.gating.judging."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Act, Agent, after_tool, allow, approve, ask, ask_human, before_tool, decline, deny
from agentfootprint.agent import RuleOutcome, ToolCallView, ToolResultView, ToolRule
from tests.agent.gating.office import RAN, batch, denying, ledger, named, office, told

ONE = batch(("c1", "send", {"text": "ssn 1"}))


@before_tool(name="mask")
def mask(call: ToolCallView) -> RuleOutcome:
    return allow({**call.args, "text": "masked"}, "a number") if "ssn" in call.args["text"] else allow()


@before_tool(name="sure")
def sure(call: ToolCallView) -> RuleOutcome:
    return ask(f"Send {call.args['text']}?", detail={"to": "all"})


@after_tool(name="loud")
async def loud(call: ToolResultView) -> RuleOutcome:
    return allow(call.result.upper(), "loud")


async def test_a_call_runs_with_what_the_rules_made_of_its_arguments() -> None:
    result = await office(ONE, "Done.", act=Act(before_tool=[mask])).run("Go.")

    assert RAN == ["send masked"]
    start = next(event.payload for event in result.recording.events if event.type.endswith("tool_start"))
    assert dict(start.args) == {"text": "ssn 1"}
    assert [(row["outcome"], row["changed"], row["before"], row["after"]) for row in ledger(result)] == [
        ("allow", True, {"text": "ssn 1"}, {"text": "masked"})
    ]


async def test_events_never_carry_the_values() -> None:
    result = await office(ONE, "Done.", act=Act(before_tool=[mask])).run("Go.")

    (row,) = [event.payload for event in result.recording.events if event.type.endswith("middleware.decision")]
    assert not hasattr(row, "before")
    assert (row.middleware, row.outcome, row.changed, row.why) == ("mask", "allow", True, "a number")


async def test_a_denied_call_is_answered_with_the_reason_word_for_word() -> None:
    @before_tool(name="no")
    def no(call: ToolCallView) -> RuleOutcome:
        return deny(f"{call.tool_name} needs a ticket")

    result = await office(ONE, "Done.", act=Act(before_tool=[no], after_tool=[loud])).run("Go.")

    assert RAN == []
    assert told(result.messages) == [("c1", "send needs a ticket")]
    assert [call.denied for call in result.tool_calls] == [True]
    assert [row["middleware"] for row in ledger(result)] == ["no"]


async def test_rewritten_arguments_are_checked_like_the_models_own() -> None:
    @before_tool(name="wrong")
    def wrong(_: ToolCallView) -> RuleOutcome:
        return allow({"other": 1}, "wrong")

    result = await office(ONE, "Done.", act=Act(before_tool=[wrong])).run("Go.")

    assert RAN == []
    assert named(result.recording.events, "validation") == ["validation.args_invalid"]


async def test_a_checker_that_denies_leaves_the_rules_unasked() -> None:
    result = await office(ONE, "Done.", permission=denying("send"), act=Act(before_tool=[mask])).run("Go.")

    assert ledger(result) == []


async def test_the_model_reads_what_the_rules_made_of_a_result_and_the_record_keeps_it() -> None:
    result = await office(ONE, "Done.", act=Act(after_tool=[loud])).run("Go.")

    assert told(result.messages) == [("c1", "SENT")]
    assert [call.result for call in result.tool_calls] == ["sent"]
    end = next(event.payload for event in result.recording.events if event.type.endswith("tool_end"))
    assert end.result == "sent"
    assert result.recording.snapshot["sharedState"]["lastToolResult"]["result"] == "SENT"


async def test_a_denied_result_is_kept_from_the_model_alone() -> None:
    @after_tool(name="private")
    def private(_: ToolResultView) -> RuleOutcome:
        return deny("private")

    result = await office(ONE, "Done.", act=Act(after_tool=[private])).run("Go.")

    assert told(result.messages) == [("c1", "private")]
    assert [(row["before"], row["after"]) for row in ledger(result)] == [("sent", "private")]


async def test_a_tool_that_raised_is_shown_to_the_rules_as_an_error() -> None:
    seen: list[tuple[Any, bool]] = []

    @after_tool(name="see")
    def see(call: ToolResultView) -> RuleOutcome:
        seen.append((call.result, call.error))
        return allow()

    await office(batch(("c1", "fail", {"text": "x"})), "Done.", act=Act(after_tool=[see])).run("Go.")

    assert seen == [("no x", True)]


async def test_side_by_side_results_are_judged_in_call_order() -> None:
    calls = batch(("c1", "send", {"text": "a"}), ("c2", "look", {"order": "B"}))

    result = await office(calls, "Done.", parallel=True, act=Act(after_tool=[loud])).run("Go.")

    assert told(result.messages) == [("c1", "SENT"), ("c2", "B: SHIPPED")]
    assert [row["toolCallId"] for row in ledger(result)] == ["c1", "c2"]


async def test_a_rule_sees_the_caller_s_own_object_and_the_conversation() -> None:
    seen: list[Any] = []

    @before_tool(name="see")
    def see(call: ToolCallView) -> RuleOutcome:
        seen.extend([call.deps, [message.role for message in call.history], call.iteration, call.tool_call_id])
        return allow()

    await office(ONE, "Done.", act=Act(before_tool=[see])).run("Go.", deps="mine")

    assert seen == ["mine", ["user", "assistant"], 1, "c1"]


async def test_a_rule_that_writes_into_what_it_was_shown_fails_closed() -> None:
    @before_tool(name="sly")
    def sly(call: ToolCallView) -> RuleOutcome:
        args: Any = call.args
        args["text"] = "changed behind the record"
        return allow()

    result = await office(ONE, "Done.", act=Act(before_tool=[sly])).run("Go.")

    assert RAN == []
    assert told(result.messages)[0][1].startswith("middleware 'sly' threw: ")


async def test_a_rule_cannot_ask_as_a_tool_does() -> None:
    @before_tool(name="lost")
    def lost(_: ToolCallView) -> RuleOutcome:
        ask_human("May it?")

    result = await office(ONE, "Done.", act=Act(before_tool=[lost])).run("Go.")

    assert result.paused is None
    assert "return ask(...)" in told(result.messages)[0][1]


async def test_a_question_pauses_with_the_arguments_as_they_would_run() -> None:
    agent = office(ONE, "Done.", act=Act(before_tool=[mask, sure]))

    paused = (await agent.run("Go.")).paused

    assert paused is not None
    assert paused.ask is not None
    assert (paused.kind, paused.ask.question, paused.ask.middleware) == ("ask", "Send masked?", "sure")
    assert paused.ask.detail == {"to": "all"}
    assert RAN == []


async def test_an_approved_call_goes_on_behind_the_rule_that_asked() -> None:
    agent = office(ONE, "Done.", act=Act(before_tool=[sure, mask], after_tool=[loud]))
    paused = (await agent.run("Go.")).paused
    assert paused is not None

    result = await agent.resume(paused, approve(by="dana"))

    assert RAN == ["send masked"]
    assert told(result.messages) == [("c1", "SENT")]
    assert [(row["middleware"], row["outcome"]) for row in ledger(result)] == [
        ("sure", "ask"),
        ("sure", "allow"),
        ("mask", "allow"),
        ("loud", "allow"),
    ]


async def test_a_second_question_after_an_approval_is_a_denial() -> None:
    agent = office(ONE, "Done.", act=Act(before_tool=[sure, Again()]))
    paused = (await agent.run("Go.")).paused
    assert paused is not None

    result = await agent.resume(paused, approve(by="dana"))

    assert RAN == []
    assert "asked a person to decide, and there is no pause here" in told(result.messages)[0][1]
    assert [call.denied for call in result.tool_calls] == [True]


class Again(ToolRule):
    name = "again"

    def on_tool_call(self, call: ToolCallView) -> RuleOutcome:
        return ask(f"Really {call.tool_name}?")


async def test_a_declined_call_is_not_shown_to_the_rules_about_results() -> None:
    agent = office(ONE, "Done.", act=Act(before_tool=[sure], after_tool=[loud]))
    paused = (await agent.run("Go.")).paused
    assert paused is not None

    result = await agent.resume(paused, decline(by="dana", note="no"))

    assert told(result.messages) == [("c1", "declined by human: no")]
    assert ledger(result)[-1]["outcome"] == "deny"


async def test_an_approved_call_is_not_put_to_the_checker_again() -> None:
    checker = denying()
    agent = office(ONE, "Done.", permission=checker, act=Act(before_tool=[sure]))
    paused = (await agent.run("Go.")).paused
    assert paused is not None

    await agent.resume(paused, approve(by="dana"))

    assert len(checker.asked) == 1


async def test_a_rerun_answers_calls_from_the_record_whatever_rules_change() -> None:
    agent: Agent[Any, Any] = office(ONE, "Done.", act=Act(before_tool=[mask], after_tool=[loud]))
    result = await agent.run("Go.")
    RAN.clear()

    again = await result.rerun()

    assert RAN == []
    assert again.answer == "Done."


@pytest.mark.parametrize("act", [None, Act()])
async def test_an_empty_act_changes_nothing(act: Act | None) -> None:
    result = await office(ONE, "Done.", act=act).run("Go.")

    assert "middlewareDecisions" not in result.recording.snapshot["sharedState"]
    assert told(result.messages) == [("c1", "sent")]
