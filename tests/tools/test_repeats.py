"""Tests of agentfootprint.tools.repeats."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.tools import RepeatedCalls, repeated_call_key, repeated_call_note
from agentfootprint.trace import freeze

ARGS = st.dictionaries(st.sampled_from("ab"), st.integers(0, 1), max_size=2)
LANDING = st.tuples(st.sampled_from(["s", "t"]), ARGS, st.sampled_from(["x", "y"]))
MODES: list[Literal["result", "arguments"]] = ["result", "arguments"]


def test_a_key_does_not_depend_on_the_order_of_arguments() -> None:
    keys = {repeated_call_key("s", args, "r").key for args in ({"a": 1, "b": 2}, {"b": 2, "a": 1})}

    assert len(keys) == 1


@pytest.mark.parametrize("mode", MODES)
@given(landings=st.lists(LANDING, max_size=12))
def test_calls_are_counted_as_their_keys_are(
    mode: Literal["result", "arguments"], landings: list[tuple[str, dict[str, int], str]]
) -> None:
    ledger, keys = RepeatedCalls(), Counter[str]()

    for tool, args, text in landings:
        key = repeated_call_key(tool, args, text, mode).key
        keys[key] += 1
        assert ledger.landed(tool, freeze(args), text, mode) == keys[key]


def test_the_note_stands_apart_and_says_what_was_equal() -> None:
    same_result, same_arguments = repeated_call_note("time"), repeated_call_note("time", "arguments")

    assert same_result.startswith("\n\n[identical call:")
    assert same_arguments.startswith("\n\n[identical call:")
    assert "same result" in same_result
    assert "same result" not in same_arguments
