"""Tests of agentfootprint.llm.view."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pytest

from agentfootprint.llm import InjectedBy, LLMMessage, LLMRequest, NotDispatched, RequestMessages
from agentfootprint.trace import FrozenList, thaw

PLAIN = LLMMessage("user", "q")
INJECTED = LLMMessage("user", "hint", injected_by=InjectedBy("hint", "fact", 1))
SETTLED = LLMMessage("tool", "not run", tool_call_id="c", not_dispatched=NotDispatched(cause="halt"))
HISTORY = FrozenList([], 0).extend([PLAIN, INJECTED, SETTLED])


def test_bookkeeping_is_taken_off_and_positions_stay() -> None:
    view = RequestMessages(HISTORY)

    assert thaw(view) == [
        {"role": "user", "content": "q"},
        {"role": "user", "content": "hint"},
        {"role": "tool", "content": "not run", "toolCallId": "c"},
    ]
    assert LLMRequest(model="m", messages=view).to_wire()["messages"] == thaw(view)


def test_a_message_is_stripped_once_and_a_plain_one_never() -> None:
    view = RequestMessages(HISTORY)
    later = view.over(HISTORY.append(LLMMessage("user", "more")))

    assert view[0] is PLAIN
    assert view[1] is view[1]
    assert later[2] is view[2]
    assert next(reversed(later)).content == "more"


def test_a_view_reads_like_the_list_it_stands_for() -> None:
    view = RequestMessages(HISTORY)
    listed = [PLAIN, LLMMessage("user", "hint"), LLMMessage("tool", "not run", tool_call_id="c")]

    assert isinstance(view, Sequence)
    assert view == listed
    assert view[1:] == listed[1:]
    assert view[-1] == listed[-1]
    assert repr(view) == repr(listed)
    assert (view.index(listed[1]), view.count(PLAIN), PLAIN in view, INJECTED in view) == (1, 1, True, False)
    with pytest.raises(IndexError):
        view[3]


def test_a_view_pickles_as_a_list() -> None:
    again = pickle.loads(pickle.dumps(RequestMessages(HISTORY)))

    assert type(again) is list
    assert again == list(RequestMessages(HISTORY))


def test_a_view_keeps_its_length_when_the_history_grows() -> None:
    view = RequestMessages(HISTORY)

    HISTORY.append(PLAIN)

    assert len(view) == 3
    assert len(list(view)) == 3
