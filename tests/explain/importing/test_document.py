"""Tests of agentfootprint.explain.importing.document."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain import forbidden_words
from agentfootprint.explain.importing.conversation import Conversation, Turn
from agentfootprint.explain.importing.document import limits_of, step_of_answer, wire_document
from agentfootprint.explain.importing.who_and_when import read
from agentfootprint.trace import array_provenance, causal_chain, keys_read_from_execution_tree, thaw, value_at
from tests.explain.importing.logs import a_log, sample


def made(log: dict[str, Any]) -> dict[str, Any]:
    return wire_document(read(log, "log.json"), run_id="run", source={}, limits=("something",))


def steps(wire: dict[str, Any]) -> list[str]:
    return [bundle["runtimeStageId"] for bundle in wire["snapshot"]["commitLog"]]


def calls(wire: dict[str, Any], kind: str = "llm_end") -> dict[str, dict[str, Any]]:
    return {e["meta"]["runtimeStageId"]: e["payload"] for e in wire["events"] if e["type"].endswith(kind)}


def test_a_message_is_a_step_after_the_step_of_the_task() -> None:
    wire = made(sample())

    assert steps(wire) == [
        "question#0",
        "planning-expert#1",
        "schedule-expert#2",
        "counting-expert#3",
        "computer-terminal#4",
        "counting-expert#5",
        "verification-expert#6",
        "verification-expert#7",
    ]
    assert [bundle["stage"] for bundle in wire["snapshot"]["commitLog"]][2] == "Schedule_Expert"


def test_the_history_holds_every_message_word_for_word_and_says_whose_it_is() -> None:
    log = sample()

    history = made(log)["snapshot"]["sharedState"]["history"]

    assert [message["content"] for message in history] == [log["question"], *(m["content"] for m in log["history"])]
    assert [m["injectedBy"]["injectionId"] for m in history] == ["question", *(f"turn-{n}" for n in range(1, 8))]
    assert [m["role"] for m in history] == ["user", "assistant", "assistant", "assistant", "user", *["assistant"] * 3]


def test_the_log_replays_to_the_state_and_knows_who_wrote_each_message() -> None:
    snapshot = made(sample())["snapshot"]

    births = array_provenance(snapshot["commitLog"], "history").births

    assert thaw(value_at(snapshot["commitLog"], 7, "history")) == snapshot["sharedState"]["history"]
    assert births is not None
    assert [(birth.runtime_stage_id, birth.basis) for birth in births][2] == ("schedule-expert#2", "append-verb")


def test_agents_up_to_the_answer_make_one_call_each_time_they_speak() -> None:
    log = sample()

    wire = made(log)

    assert list(calls(wire)) == [
        "planning-expert#1",
        "schedule-expert#2",
        "counting-expert#3",
        "counting-expert#5",
        "verification-expert#6",
    ]
    assert [payload["iteration"] for payload in calls(wire).values()] == [1, 2, 3, 4, 5]
    assert calls(wire)["verification-expert#6"]["content"] == log["history"][5]["content"]
    assert calls(wire, "llm_start")["verification-expert#6"]["messagesCount"] == 6


def test_what_is_not_known_is_not_zero() -> None:
    wire = made(sample())

    end = calls(wire)["verification-expert#6"]
    assert end["usage"]["usageReported"] is False
    assert "durationMs" not in end
    assert not any("wallClockMs" in event["meta"] for event in wire["events"])


def test_an_answering_step_is_taken_to_have_read_the_history_before_it() -> None:
    snapshot = made(sample())["snapshot"]
    reads = keys_read_from_execution_tree(snapshot["executionTree"])

    chain = causal_chain(snapshot["commitLog"], "verification-expert#6", reads)

    assert reads("verification-expert#6") == ("history",)
    assert reads("computer-terminal#4") == ()
    assert chain is not None
    assert chain.parents[0].runtime_stage_id == "counting-expert#5"


def test_a_system_prompt_stands_with_its_agent_only() -> None:
    started = calls(made(sample()), "llm_start")

    assert started["schedule-expert#2"]["systemPromptText"].startswith("You know when things take place.")
    assert "systemPromptText" not in calls(made(a_log(("A", "3"))), "llm_start")["a#1"]


def test_an_answer_that_stands_apart_is_the_last_step() -> None:
    log = a_log(("human", "How many lamps are lit?"), ("A", "Looking.\nFINAL ANSWER: 3\nRUN.SH COMPLETE !#!#"))

    wire = made(log)

    assert steps(wire) == ["question#0", "human#1", "a#2", "final-answer#3"]
    assert list(calls(wire)) == ["a#2", "final-answer#3"]
    assert calls(wire)["a#2"]["content"] == "Looking.\n"
    assert calls(wire)["final-answer#3"]["content"] == "3"


def test_a_task_that_a_person_says_first_stands_in_the_history_once() -> None:
    wire = made(a_log(("human", "How many lamps are lit?"), ("A", "3")))

    assert [m["injectedBy"]["injectionId"] for m in wire["snapshot"]["sharedState"]["history"]] == ["turn-1", "turn-2"]
    assert wire["snapshot"]["sharedState"]["userMessage"] == "How many lamps are lit?"


def test_the_annotation_changes_nothing_but_itself() -> None:
    log = sample()
    other = {**log, "mistake_agent": "Planning_Expert", "mistake_step": "0", "ground_truth": "57 0", "level": "3"}

    assert made(other) == made(log)


def test_the_header_names_no_agent_and_the_flags_say_imported() -> None:
    conversation = read(sample(), "log.json")

    wire = wire_document(conversation, run_id="run", source={"format": "x"}, limits=("one", "two"))

    assert wire["header"] == {"imported": {"format": "x", "limits": ["one", "two"]}, "flags": ["imported"]}


def test_the_limits_say_what_the_log_can_not() -> None:
    plain = limits_of(read(a_log(("A", "3")), "log.json"), "log")
    half = limits_of(read(a_log(("A", "3"), ("B", "4"), system_prompt={"A": "x"}), "log.json"), "log")
    after = limits_of(read(sample(), "log.json"), "log")

    assert plain[0] == "imported from a log: reads are inferred from message text, not recorded"
    assert "system prompts are not recorded" in plain
    assert "system prompts are not recorded for 1 agent" in half
    assert "1 message after the answer can't have reached it: left out of the ranking" in after
    assert not forbidden_words(" ".join((*plain, *half, *after)))


def test_a_log_without_a_task_says_so() -> None:
    log = a_log(("A", "3"), mistake_step="0")
    del log["question"]

    conversation = read(log, "log.json")

    assert "the task is not in the log" in limits_of(conversation, "log")
    assert made(log)["snapshot"]["sharedState"]["history"][0]["injectedBy"]["injectionId"] == "turn-1"


TEXTS = st.text(max_size=20)
TURNS = st.lists(st.builds(Turn, st.sampled_from(["A", "a", "B b", "Ä", "#"]), TEXTS), min_size=1, max_size=9)


@given(TURNS, st.none() | TEXTS, st.data())
def test_any_conversation_replays_word_for_word(turns: list[Turn], question: str | None, data: st.DataObject) -> None:
    answered_by = data.draw(st.integers(0, len(turns) - 1))
    conversation = Conversation(
        question=question, turns=tuple(turns), answered_by=answered_by, answer=turns[answered_by].text
    )

    wire = wire_document(conversation, run_id="run", source={}, limits=())

    assert json.loads(json.dumps(wire)) == wire
    assert len(set(steps(wire))) == len(turns) + 1
    assert list(calls(wire))[-1] == step_of_answer(conversation)
    last = len(turns)
    texts = [message["content"] for message in thaw(value_at(wire["snapshot"]["commitLog"], last, "history"))]
    assert texts[-last:] == [turn.text for turn in turns]


def test_a_long_log_grows_by_what_is_said() -> None:
    short = len(json.dumps(made(a_log(*[("A", "x")] * 200))))
    long = len(json.dumps(made(a_log(*[("A", "x")] * 2000))))

    assert long < short * 11
