"""Tests of agentfootprint.agent.pausing.rejoining."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import LLMMessage
from agentfootprint.agent.pausing.rejoining import in_call_order, read_noted
from agentfootprint.trace import FrozenList, freeze


def window(*numbers: int) -> FrozenList:
    messages = [LLMMessage("user", "Go."), LLMMessage("assistant", "")]
    messages += [LLMMessage("tool", str(n), tool_call_id="x", tool_name="t") for n in numbers]
    return FrozenList(messages, len(messages))


@given(st.permutations(range(5)))
def test_the_results_of_a_batch_come_into_call_order(places: list[int]) -> None:
    ordered = in_call_order(window(*places), places)

    assert [message.content for message in ordered] == ["Go.", "", "0", "1", "2", "3", "4"]


@pytest.mark.parametrize("places", [[0, 1, 2, 3], [0] * 9])
def test_a_window_that_somebody_changed_stays_as_it_is(places: list[int]) -> None:
    changed = window(1, 0)

    assert in_call_order(changed, places) is changed


def test_what_the_pause_noted_is_read_back() -> None:
    assert read_noted(freeze({"answered": [0, 2], "announced": 4})) == ([0, 2], 4)


@pytest.mark.parametrize(
    "noted",
    [
        None,
        "x",
        {},
        {"answered": [0], "announced": "4"},
        {"answered": "01", "announced": 4},
        {"answered": [0, 0], "announced": 4},
        {"answered": [-1], "announced": 4},
        {"answered": [True], "announced": 4},
    ],
)
def test_a_note_that_is_none_counts_as_absent(noted: Any) -> None:
    assert read_noted(freeze(noted)) == (None, 0)
