"""Tests of agentfootprint.explain.scoring.hashing."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain.scoring.hashing import content_hash, utf16_units


def test_an_emoji_counts_as_two_units() -> None:
    assert list(utf16_units("😀")) == [0xD83D, 0xDE00]
    assert content_hash("😀").startswith("2-")


def test_a_lone_surrogate_has_a_key_too() -> None:
    assert content_hash("\ud800").startswith("1-")


@given(st.text())
def test_a_key_is_short_and_starts_with_the_length(text: str) -> None:
    key = content_hash(text)

    assert re.fullmatch(r"[0-9a-z]+-[0-9a-f]{16}", key)
    assert int(key.partition("-")[0], 36) == len(utf16_units(text))
    assert key == content_hash(text)


@given(st.text(), st.characters())
def test_one_character_more_is_another_key(text: str, more: str) -> None:
    assert content_hash(text) != content_hash(text + more)
