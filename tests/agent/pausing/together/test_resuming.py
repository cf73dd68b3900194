"""Tests of agentfootprint.agent.pausing.together.resuming."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import (
    Act,
    Agent,
    Gates,
    Mock,
    PauseCheckpoint,
    Recording,
    after_tool,
    allow,
    approve,
    decline,
    tool,
)
from agentfootprint.agent import RuleOutcome, ToolResultView
from agentfootprint.agent.errors import PendingQuestionError
from agentfootprint.llm import LLMResponse, ToolCall, verify_pairs
from agentfootprint.security import extract_sequence
from tests.agent.pausing.together.till import KEYS, RAN, calls, paused, said, till, told
from tests.landed import ROOT

MIXED = calls(
    ("a", "look", "A"),
    ("b", "pay", 20),
    ("c", "look", "B"),
    ("d", "mail", "eve@out"),
    ("e", "look", "SECRET"),
    ("f", "pay", 30),
    ("g", "pay", 5),
)
YES = approve(by="dana")
NO = decline(by="eve", note="too much")


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()
    KEYS.clear()


async def test_each_call_is_decided_on_its_own_and_all_have_their_result_in_call_order() -> None:
    agent = till(MIXED)
    question = paused(await agent.run("Go on."))

    result = await agent.resume(question, [YES, NO, YES])

    assert RAN == ["look A", "pay 20", "look B", "pay 30", "pay 5"]
    assert [id_ for id_, _ in said(result.messages)] == ["a", "b", "c", "d", "e", "f", "g"]
    assert said(result.messages)[3] == ("d", "declined by human: too much")
    assert result.text == "All done."
    assert verify_pairs(result.messages).unanswered == ()


async def test_all_decisions_are_on_record_before_anything_runs() -> None:
    agent = till(MIXED)
    question = paused(await agent.run("Go on."))

    result = await agent.resume(question, [YES, NO, YES])

    events = told(result)
    assert events[: events.index("agent.iteration_end") + 1] == [
        *("pause.resume", "agent.run_configured"),
        *("checkin.decision", "middleware.decision", "checkin.decision"),
        *("stream.tool_end",) * 5,
        "agent.iteration_end",
    ]
    decided = [event for event in result.recording.events if event.type.endswith(".decision")]
    assert [event.meta.tool_ordinal for event in decided] == [1, 3, 5]
    ended = next(event for event in result.recording.events if event.type.endswith("iteration_end"))
    assert ended.payload.tool_call_count == 5


async def test_what_ran_is_what_the_sequence_says() -> None:
    agent = till(MIXED)
    question = paused(await agent.run("Go on."))

    result = await agent.resume(question, [NO, YES, NO])

    ran = [entry.name for entry in extract_sequence(result.messages, 1)]
    assert ran == ["look", "pay", "look", "mail", "pay", "pay"]  # a declined call counts (AGT-65)
    assert [call.name for call in result.tool_calls if call.dispatched] == ["look", "mail", "pay"]


async def test_nothing_is_left_of_the_questions_in_the_state() -> None:
    agent = till(MIXED)
    question = paused(await agent.run("Go on."))

    result = await agent.resume(question, [YES, NO, YES])

    state = result.recording.snapshot["sharedState"]
    assert not {"pausedTogether", "pausedBatch", "pausedToolIndex", "pausedCheckInArgs"} & set(state)
    assert state["pausedToolName"] == ""


async def test_arguments_are_corrected_for_each_call_and_checked_like_the_models_own() -> None:
    agent = till(MIXED)
    question = paused(await agent.run("Go on."))
    answers = [
        approve(by="dana", args={"amount": 21}),
        approve(by="dana", args={"to": "bob@here"}),
        approve(by="dana", args={"amount": "lots"}),
    ]

    result = await agent.resume(question, answers)

    assert RAN == ["look A", "pay 21", "look B", "mail bob@here", "pay 5"]
    assert "expected integer" in said(result.messages)[5][1]
    rows = result.recording.snapshot["sharedState"]["middlewareDecisions"]
    assert [(row["toolCallId"], dict(row["after"])) for row in rows if "after" in row] == [
        ("b", {"amount": 21}),
        ("d", {"to": "bob@here"}),
        ("f", {"amount": "lots"}),
    ]


async def test_an_approval_for_the_run_holds_for_later_calls_with_the_same_arguments() -> None:
    agent = till(MIXED, calls(("h", "pay", 30), ("i", "pay", 20)))
    question = paused(await agent.run("Go on."))

    again = paused(await agent.resume(question, [YES, NO, approve(by="dana", remember="run")]))

    assert [each.tool_call_id for each in again.questions] == ["i"]
    assert RAN[-1] == "pay 30"


async def test_a_turn_may_ask_about_several_calls_more_than_once() -> None:
    agent = till(MIXED, calls(("h", "pay", 50), ("i", "pay", 60)))
    first = paused(await agent.run("Go on."))

    second = paused(await agent.resume(first, [NO, NO, NO]))
    result = await agent.resume(second, [NO, YES])

    assert [each.tool_call_id for each in second.questions] == ["h", "i"]
    assert {each.id for each in second.questions}.isdisjoint(each.id for each in first.questions)
    assert RAN[-1] == "pay 60"
    assert result.text == "All done."


async def test_a_call_that_kept_its_turn_and_asks_while_it_runs_is_to_be_called_again() -> None:
    agent = till(calls(("a", "pay", 20), ("b", "date", "A")), calls(("c", "date", "A")))
    question = paused(await agent.run("Go on."))

    again = paused(await agent.resume(question, YES))

    assert "Call it again" in said(again.checkpoint.state["history"])[1][1]
    assert again.tool_call_id == "c"
    assert again.kind == "ask_human"


async def test_a_rule_sees_the_results_of_calls_that_were_taken_up_before() -> None:
    seen: list[list[str | None]] = []

    @after_tool(name="sees")
    def sees(call: ToolResultView) -> RuleOutcome:
        seen.append([message.tool_call_id for message in call.history if message.role == "tool"])
        return allow()

    @tool(check_in="always")
    def pay(amount: int) -> str:
        """Pay an amount."""
        return f"paid {amount}"

    batch = tuple(ToolCall(f"c{n}", "pay", {"amount": n}) for n in range(3))
    agent = Agent(
        Mock([LLMResponse("", tool_calls=batch, stop_reason="tool_use"), "Paid."]),
        tools=[pay],
        gates=Gates(ask_together=True, act=Act(after_tool=[sees])),
    )
    question = paused(await agent.run("Pay."))

    await agent.resume(question, [YES, YES, YES])

    assert seen == [[], ["c0"], ["c0", "c1"]]


@pytest.mark.parametrize("answers", [[YES, NO, YES], {"b": YES, "d": NO, "f": YES}])
async def test_both_legs_are_replayed_as_they_were(answers: Any) -> None:
    agent = till(MIXED)
    first = await agent.run("Go on.")
    question = paused(first)
    second = await agent.resume(question, answers)

    asked = await agent.replay(first.recording)
    answered = await agent.replay(second.recording, paused=question.checkpoint)

    assert str(asked.difference) == "None"
    assert str(answered.difference) == "None"


@pytest.mark.parametrize("form", ["native", "wire"])
async def test_the_record_says_of_every_call_what_it_was_and_gave(tmp_path: Path, form: Any) -> None:
    agent = till(MIXED)
    result = await agent.resume(paused(await agent.run("Go on.")), [YES, NO, YES])

    recording = Recording.load(result.recording.save(tmp_path / "run.json", form=form))

    assert [(use.tool_name, use.tool_call_id, use.result, use.message_index) for use in recording.tool_uses] == [
        ("pay", "b", "paid 20", 3),
        ("look", "c", "B: shipped", 4),
        ("mail", "d", "declined by human: too much", 5),
        ("pay", "f", "paid 30", 7),
        ("pay", "g", "paid 5", 8),
    ]
    assert [len(use.gates) for use in recording.tool_uses] == [1, 0, 1, 1, 0]
    assert [dict(use.args) for use in result.recording.tool_uses][::4] == [{"amount": 20}, {"amount": 5}]
    assert {suspect.text for suspect in result.why().suspects} >= {"paid 20", "B: shipped", "paid 30"}


async def test_a_conversation_keeps_the_questions_until_all_are_answered() -> None:
    talk = till(MIXED).conversation()
    question = paused(await talk.run("Go on."))

    with pytest.raises(PendingQuestionError):
        await talk.run("And?")
    await talk.resume(question, [YES, NO, YES])

    assert talk.pending is None
    assert RAN == ["look A", "pay 20", "look B", "pay 30", "pay 5"]


async def test_questions_that_are_given_up_leave_every_call_answered_and_nothing_run() -> None:
    agent = till(MIXED)
    talk = agent.conversation()
    await talk.run("Go on.")

    dropped = await talk.abandon_pause()
    await talk.run("Leave it.")

    assert dropped is not None
    assert talk.checkpoint is not None
    answers = [message for message in talk.checkpoint.history if message.role == "tool"]
    assert [message.tool_call_id for message in answers] == ["a", "b", "c", "d", "e", "f", "g"]
    assert [message.tool_call_id for message in answers if message.not_dispatched] == ["b", "c", "d", "f", "g"]
    assert RAN == ["look A"]


SCRIPT = """
import json, sqlite3, sys
from agentfootprint import PauseCheckpoint
from tests.agent.pausing.together.test_resuming import MIXED
from tests.agent.pausing.together.till import KEYS, RAN, said, till

text, answer = sqlite3.connect(sys.argv[1]).execute("select checkpoint, answers from pauses").fetchone()
result = till(MIXED).resume_sync(PauseCheckpoint.from_json(text), json.loads(answer))
print(json.dumps({"text": result.text, "ran": RAN, "keys": KEYS, "said": said(result.messages)}))
"""


def test_the_answers_are_given_in_another_process(tmp_path: Path) -> None:
    question = paused(till(MIXED).run_sync("Go on."))
    ids = [each.id for each in question.questions]
    yes = {"approved": True, "by": "dana"}
    answers = {ids[2]: yes, ids[0]: {**yes, "args": {"amount": 11}}, ids[1]: {"approved": False, "by": "eve"}}
    store = tmp_path / "pauses.db"
    with sqlite3.connect(store) as rows:
        rows.execute("create table pauses (checkpoint text, answers text)")
        rows.execute("insert into pauses values (?, ?)", (question.checkpoint.to_json(), json.dumps(answers)))

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(store)], capture_output=True, text=True, check=True, cwd=ROOT
    )

    there = json.loads(done.stdout)
    assert there["ran"] == ["pay 11", "look B", "pay 30", "pay 5"]
    assert len(set(there["keys"])) == 3
    assert [id_ for id_, _ in there["said"]] == ["a", "b", "c", "d", "e", "f", "g"]
    assert there["text"] == "All done."


async def test_a_reader_that_knows_of_one_question_settles_the_calls_behind_it() -> None:
    wire = json.loads(paused(await till(MIXED).run("Go on.")).checkpoint.to_json())
    del wire["sharedState"]["pausedTogether"]  # what it does not know, it does not look at

    result = await till(MIXED).resume(PauseCheckpoint.from_wire(wire), YES)

    assert [id_ for id_, _ in said(result.messages)] == ["a", "b", "c", "d", "e", "f", "g"]
    unrun = [message.tool_call_id for message in result.messages if message.not_dispatched is not None]
    assert unrun == ["c", "d", "f", "g"]
    assert RAN == ["look A", "pay 20"]


async def test_a_tool_that_is_gone_when_the_answers_come_is_said_to_be_unknown() -> None:
    question = paused(await till(calls(("a", "pay", 20), ("b", "pay", 30))).run("Go on."))

    @tool
    def other(x: int) -> str:
        """Do something else."""
        return str(x)

    agent = Agent(Mock("Done."), id="till", tools=[other])
    result = await agent.resume(question.checkpoint, [YES, YES], allow_chart_change=True)

    assert said(result.messages) == [("a", "Unknown tool: pay"), ("b", "Unknown tool: pay")]
