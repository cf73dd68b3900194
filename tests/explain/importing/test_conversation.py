"""Tests of agentfootprint.explain.importing.conversation."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentfootprint.explain.importing.conversation import FINAL_ANSWER, QUESTION, Conversation, Turn, stage_ids
from agentfootprint.trace import build_runtime_stage_id, parse_runtime_stage_id

NAMES = st.text(max_size=12) | st.sampled_from(
    ["Question", "final answer", "a_b", "a b", "A-B", "a b 2", "a-b-2", "#/~"]
)


@given(st.lists(NAMES, max_size=12))
@example(["a b", "a_b", "a b 2"])
@example(["a b 2", "a_b", "a b"])
def test_two_names_never_have_one_stage_id(names: list[str]) -> None:
    ids = stage_ids(names)

    assert list(ids) == list(dict.fromkeys(names))
    assert len(set(ids.values())) == len(ids)
    assert not {QUESTION, FINAL_ANSWER} & set(ids.values())


@given(NAMES)
def test_a_stage_id_makes_a_step_id_that_reads_back(name: str) -> None:
    stage = stage_ids([name])[name]

    read = parse_runtime_stage_id(build_runtime_stage_id(stage, 7))

    assert (read.stage_id, read.execution_index, read.subflow_path) == (stage, 7, None)


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("Excel_Expert", "excel-expert"),
        ("Blu-Ray_Expert", "blu-ray-expert"),
        ("  ", "agent"),
        ("Prüferin 2", "prüferin-2"),
        ("Question", "question-2"),
    ],
)
def test_a_stage_id_is_the_name_in_plain_words(name: str, stage: str) -> None:
    assert stage_ids([name]) == {name: stage}


def test_agents_are_named_once_in_order_and_people_and_programs_are_none() -> None:
    turns = (Turn("human", "?", "person"), Turn("B", "1"), Turn("A", "2"), Turn("sh", "3", "program"), Turn("B", "4"))

    conversation = Conversation(question="?", turns=turns, answered_by=4, answer="4")

    assert conversation.agents == ("B", "A")
