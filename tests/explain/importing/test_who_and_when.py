"""Tests of agentfootprint.explain.importing.who_and_when."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.explain.importing import BrokenTraceError
from agentfootprint.explain.importing.who_and_when import how_known, read
from tests.explain.importing.logs import a_log, sample


def test_a_log_is_known_by_its_history_and_its_annotation() -> None:
    assert how_known(sample()) == "history[].content and mistake_step"
    assert how_known({"history": [], "question": "?"}) == "history[].content and question"


@pytest.mark.parametrize("other", [{}, {"history": []}, {"mistake_step": "1"}, {"runId": "r", "history": []}])
def test_something_else_is_not_taken_for_a_log(other: dict[str, Any]) -> None:
    assert how_known(other) is None


def test_the_speaker_is_the_name_or_the_role_up_to_its_parenthesis() -> None:
    log = a_log(
        ("Orchestrator (thought)", "Plan."), ("WebSurfer", "I clicked."), ("Orchestrator (-> WebSurfer)", "Go.")
    )
    log["history"].append({"role": "user", "name": "Excel_Expert", "content": "Four."})

    turns = read(log, "log.json").turns

    assert [turn.agent for turn in turns] == ["Orchestrator", "WebSurfer", "Orchestrator", "Excel_Expert"]


def test_people_and_the_terminal_are_no_agents() -> None:
    log = a_log(("human", "?"), ("Assistant", "4"), ("ComputerTerminal", "exitcode: 0"), ("Computer_terminal", "4"))

    turns = read(log, "log.json").turns

    assert [turn.speaker for turn in turns] == ["person", "agent", "program", "program"]


def test_the_answer_is_the_last_message_of_an_agent_that_is_more_than_a_word_of_termination() -> None:
    log = a_log(
        ("Counter", "Three lamps are lit."),
        ("Checker", "Agreed: three. TERMINATE"),
        ("Computer_terminal", "There is no code to execute."),
        ("Checker", "  "),
        ("Checker", "**TERMINATE**"),
    )

    conversation = read(log, "log.json")

    assert conversation.answered_by == 1
    assert conversation.answer == "Agreed: three. TERMINATE"


def test_a_message_for_one_other_agent_is_not_the_answer() -> None:
    log = a_log(
        ("WebSurfer", "Three."), ("Orchestrator (-> WebSurfer)", "Count again."), ("Orchestrator (thought)", "Stalled.")
    )

    assert read(log, "log.json").answered_by == 0


def test_without_any_message_for_everybody_the_last_of_an_agent_is_the_answer() -> None:
    log = a_log(("human", "?"), ("Orchestrator (thought)", "Plan."), ("Orchestrator (thought)", "Next speaker A"))

    assert read(log, "log.json").answered_by == 2


@pytest.mark.parametrize("who", ["WebSurfer", "Orchestrator (termination condition)", "ComputerTerminal"])
def test_a_final_answer_that_the_program_printed_stands_apart_from_the_message(who: str) -> None:
    printed = "FINAL ANSWER: 3\nSCENARIO.PY COMPLETE !#!#\nRUN.SH COMPLETE !#!#"
    log = a_log(("human", "?"), ("A", "Hm."), (who, f"I clicked on lamps.\n{printed}"))

    conversation = read(log, "log.json")

    assert (conversation.answered_by, conversation.answer) == (None, "3")
    assert conversation.turns[2].text + conversation.signed_off == log["history"][2]["content"]
    assert conversation.notes == (
        'the answer is what follows "FINAL ANSWER:" in history[2]; who wrote it is not recorded',
    )


def test_a_final_answer_alone_in_its_message_is_the_answer_of_who_says_it() -> None:
    log = a_log(("human", "?"), ("A", "Three?"), ("B", "FINAL ANSWER: three\nor four"))

    conversation = read(log, "log.json")

    assert (conversation.answered_by, conversation.answer, conversation.notes) == (2, "three\nor four", ())
    assert conversation.turns[2].text == "FINAL ANSWER: three\nor four"


@pytest.mark.parametrize("text", ["x\nFINAL ANSWER:", "x\nFINAL ANSWER: \nRUN.SH COMPLETE !#!#", "no FINAL ANSWER: 3"])
def test_a_final_answer_without_an_answer_is_text_like_any_other(text: str) -> None:
    log = a_log(("human", "?"), ("A", "Three."), ("B", text))

    assert read(log, "log.json").answer == text


def test_instructions_in_the_first_message_are_not_the_answer() -> None:
    log = a_log(("A", "Do this.\nFINAL ANSWER: [your answer]"), ("B", "TERMINATE"))

    assert read(log, "log.json").answered_by == 0


def test_the_task_is_not_there_twice_when_a_person_says_it_first() -> None:
    said = a_log(("human", "How many  lamps\nare lit?\n\nSee lamps.png."), ("A", "3"))
    unsaid = a_log(("A", "How many lamps are lit? 3"))
    nameless = {**a_log(("human", "How many doors?"), ("A", "2"), mistake_step="1"), "question": None}

    assert read(said, "log.json").asked_by_turn
    assert not read(unsaid, "log.json").asked_by_turn
    assert read(nameless, "log.json").question == "How many doors?"


def test_a_log_without_a_task_has_none() -> None:
    log = a_log(("A", "3"), mistake_agent="A")
    del log["question"]

    assert read(log, "log.json").question is None


def test_system_prompts_and_annotation_are_kept() -> None:
    conversation = read(sample(), "log.json")

    assert set(conversation.system_prompts) == set(conversation.agents)
    assert conversation.annotation["mistake_agent"] == "Schedule_Expert"
    assert "history" not in conversation.annotation


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("hello", r"history\[1\] is no object"),
        ({"role": "A"}, r'history\[1\] has no "content"'),
        ({"role": "A", "content": None}, r'history\[1\] has a "content" that is no text'),
        ({"role": "A", "content": ["x"]}, r'history\[1\] has a "content" that is no text'),
        ({"content": "x"}, r'history\[1\] says in neither "name" nor "role" who spoke'),
        ({"content": "x", "role": " ", "name": ""}, r'history\[1\] says in neither "name" nor "role" who spoke'),
        ({"content": "x", "role": 3}, r'history\[1\] says in neither "name" nor "role" who spoke'),
    ],
)
def test_a_broken_message_is_refused_by_its_index(entry: Any, said: str) -> None:
    log = a_log(("A", "3"))
    log["history"].append(entry)

    with pytest.raises(BrokenTraceError, match=rf"log\.json can't be imported: {said}\.") as caught:
        read(log, "log.json")

    assert (caught.value.index, caught.value.part) == (1, "history[1]")
    assert caught.value.code == "ERR_BROKEN_TRACE"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"history": {}}, "history is no list"),
        ({"history": []}, "history is empty"),
        ({"history": [{"role": "human", "content": "?"}]}, "history holds no message of an agent"),
        ({"history": [{"role": "A", "content": "TERMINATE"}]}, "history holds no message of an agent"),
        ({"question": 4}, "question is no text"),
        ({"system_prompt": "be kind"}, "system_prompt is no object of texts"),
        ({"system_prompt": {"A": None}}, "system_prompt is no object of texts"),
    ],
)
def test_a_broken_part_is_refused_by_its_name(change: dict[str, Any], said: str) -> None:
    log = {**a_log(("A", "3")), **change}

    with pytest.raises(BrokenTraceError, match=rf"log\.json can't be imported: {said}\.") as caught:
        read(log, "log.json")

    assert caught.value.index is None
    assert caught.value.fix
