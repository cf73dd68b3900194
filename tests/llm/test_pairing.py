"""Tests of agentfootprint.llm.pairing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.llm import (
    BrokenPair,
    BrokenPairError,
    CallPosition,
    LLMMessage,
    PairingFold,
    ToolCall,
    verify_pairs,
)

USER = LLMMessage("user", "q")


def propose(*ids: str) -> LLMMessage:
    return LLMMessage("assistant", "", tool_calls=[ToolCall(id_, "t", {}) for id_ in ids])


def answer(id_: str | None) -> LLMMessage:
    return LLMMessage("tool", "ok", tool_call_id=id_)


IDS = st.sampled_from(["", "a", "b", "c"])
HISTORIES = st.lists(
    st.lists(IDS, min_size=1, max_size=3).map(lambda ids: propose(*ids)) | IDS.map(answer) | st.just(USER), max_size=20
)


def test_a_whole_history_passes_as_it_is() -> None:
    history = [USER, propose("a", "b", "a"), answer("a"), answer("b"), answer("a"), propose(""), answer(None), USER]

    report = verify_pairs(history)

    assert report.messages == tuple(history)
    assert (report.unanswered, report.dropped) == ((), ())


def test_a_call_without_result_is_reported_to_be_settled() -> None:
    history = [propose("a", "b"), answer("b"), USER, propose("a")]

    assert verify_pairs(history).unanswered == ((0, 0), (3, 0))


@pytest.mark.parametrize(
    ("history", "index", "reason"),
    [
        ([USER, answer("a")], 1, "no-call"),
        ([propose("a"), answer("b")], 1, "no-call"),
        ([answer("a"), propose("a")], 0, "before-call"),
        ([propose("a"), answer("a"), answer("a")], 2, "duplicate"),
        ([propose("a"), propose("a"), answer("a"), answer("a")], 3, "duplicate"),
    ],
)
def test_a_result_without_a_call_is_refused_by_its_index(history: list[LLMMessage], index: int, reason: str) -> None:
    with pytest.raises(BrokenPairError, match=rf"index {index} .*repair=True") as caught:
        verify_pairs(history)

    assert (caught.value.index, caught.value.reason) == (index, reason)


def test_a_repair_drops_what_answers_nothing_and_says_so() -> None:
    history = [answer("a"), propose("a"), answer("x"), USER, answer("a"), answer("a"), propose("b")]

    report = verify_pairs(history, repair=True)

    assert report.messages == (history[1], USER, history[4], history[6])
    assert report.dropped == (BrokenPair(0, "before-call"), BrokenPair(2, "no-call"), BrokenPair(5, "duplicate"))
    assert report.unanswered == (CallPosition(3, 0),)


@given(HISTORIES)
def test_a_repaired_history_passes_and_lacks_nothing_but_the_dropped(history: list[LLMMessage]) -> None:
    report = verify_pairs(history, repair=True)
    again = verify_pairs(report.messages)

    dropped = {one.message for one in report.dropped}
    assert list(report.messages) == [message for i, message in enumerate(history) if i not in dropped]
    assert (again.dropped, again.unanswered) == ((), report.unanswered)
    answers = sum(message.role == "tool" for message in report.messages)
    assert answers + len(report.unanswered) == sum(len(message.tool_calls) for message in history)


@given(HISTORIES, st.integers(0, 20))
def test_verifying_what_was_added_equals_verifying_the_whole(history: list[LLMMessage], split: int) -> None:
    whole = list(verify_pairs(history, repair=True).messages)
    fold = PairingFold()

    fold.advance(whole[:split])
    fold.advance(whole)

    assert fold.length == len(whole)
    assert fold.unanswered == verify_pairs(whole).unanswered


def test_the_fold_names_the_index_in_the_whole_history() -> None:
    fold = PairingFold()
    history = [propose("a"), answer("a")]
    fold.advance(history)

    with pytest.raises(BrokenPairError) as caught:
        fold.advance([*history, USER, answer("a")])

    assert caught.value.index == 3
