"""Tests of agentfootprint.explain.words."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain import words
from agentfootprint.explain.words import (
    STANDING_MARKS,
    VERDICT_WORDS,
    counted,
    display_width,
    effect_text,
    escaped,
    evidence_text,
    folded,
    forbidden_words,
    interval_text,
    money_text,
    quoted,
    rate_text,
    score_text,
    seconds_text,
    size_text,
    unknown_text,
)


@pytest.mark.parametrize(
    ("count", "samples", "text"),
    [
        (10, 10, "10 of 10 (72-100 %)"),
        (0, 10, "0 of 10 (0-28 %)"),
        (0, 4, "0 of 4 (0-49 %)"),
        (2, 9, "2 of 9 (6-55 %)"),
        (5, 9, "5 of 9 (27-81 %)"),
    ],
)
def test_a_rate_is_printed_with_its_counts_and_interval(count: int, samples: int, text: str) -> None:
    assert rate_text(count, samples) == text


def test_an_interval_that_was_computed_elsewhere_is_printed_as_given() -> None:
    assert interval_text((0.722, 1.0)) == "72-100 %"
    assert rate_text(1, 2, (0.1, 0.9)) == "1 of 2 (10-90 %)"
    assert rate_text(10, 10, noun="re-runs") == "10 of 10 re-runs (72-100 %)"


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        ((1.0, 0.608, 1.0), "+100 points (+61 to +100)"),
        ((0.0, -0.49, 0.49), "+0 points (-49 to +49)"),
        ((-0.2, -0.6, -0.001), "-20 points (-60 to +0)"),
    ],
)
def test_an_effect_is_printed_in_points_with_signs(effect: tuple[float, float, float], text: str) -> None:
    assert effect_text(effect) == text


def test_evidence_is_printed_against_what_it_needs() -> None:
    assert evidence_text(66.376, 60.0, sources=3) == "e = 66.4, needs 60: 5 % over 3 sources"
    assert evidence_text(0.0421, 20.0) == "e = 0.042, needs 20: 5 %"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (score_text(0.767), "0.77"),
        (score_text(0.767, alone=True), "0.77 of 1"),
        (counted(1, "tool call"), "1 tool call"),
        (counted(28, "re-run"), "28 re-runs"),
        (counted(5_320, "token"), "5,320 tokens"),
        (counted(2, "entry", "entries"), "2 entries"),
        (size_text(98), "98 characters"),
        (money_text(0.027), "$0.03"),
        (money_text(None), "not priced"),
        (money_text(0.0), "$0"),
        (money_text(0.004), "under $0.01"),
        (money_text(4.1), "$4.10"),
        (seconds_text(0.013), "0.01 s"),
        (seconds_text(0.9), "0.9 s"),
        (seconds_text(41.2), "41 s"),
        (seconds_text(9.97), "10 s"),
        (seconds_text(59.7), "1 min 0 s"),
        (seconds_text(125), "2 min 5 s"),
        (
            seconds_text(None, why_unknown="all 57 events carry one clock time"),
            "unusable: all 57 events carry one clock time",
        ),
        (unknown_text("not recorded"), "unknown: not recorded"),
    ],
)
def test_numbers_have_their_units(said: str, text: str) -> None:
    assert said == text


def test_standings_and_verdicts_have_one_word_each() -> None:
    assert STANDING_MARKS == {"recorded": "[recorded]", "ranked": "[ranked, not proven]", "proven": "[PROVEN]"}
    assert VERDICT_WORDS["not-confirmed"] == "no effect found"


def test_a_quote_is_one_line_and_is_cut_by_its_width() -> None:
    text = "Customer Dana Reyes\nholds  VIP tier override status"

    assert quoted(text) == '"Customer Dana Reyes holds VIP tier override status"'
    assert quoted(text, 24) == '"Customer Dana Reyes..."'


def test_wide_characters_count_as_two_columns() -> None:
    assert display_width("日本") == 4
    assert display_width("e\u0301") == 1
    assert quoted("日本日本日本", 11) == '"日本日..."'


@given(st.text(), st.integers(5, 40))
def test_no_quote_is_too_wide_or_can_reach_the_terminal(text: str, width: int) -> None:
    cut = quoted(text, width)

    assert display_width(cut) <= width
    assert not any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in cut)


def test_terminal_sequences_are_shown_not_obeyed() -> None:
    assert quoted("\x1b[31mred\u202e\U000e0041") == '"\\x1b[31mred\\u202e\\U000e0041"'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("vip-override-fact is the root cause", ["root cause"]),
        ("The culprit caused it, confirmed.", ["culprit", "caused", "confirmed"]),
        ("approved because of the VIP fact", ["because of"]),
        ("style-fact is innocent and was cleared", ["innocent", "cleared"]),
        ("85 % likely", ["%"]),
        ("Proven", ["Proven"]),
    ],
)
def test_words_that_claim_more_than_was_tested_are_found(text: str, words: list[str]) -> None:
    assert forbidden_words(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "vip-override-fact resembles most: 0.77 of 1, next 0.35; ranked, not proven",
        "SOURCES that reached it: 3     [ranked by lexical-overlap, not proven]",
        "Nothing here is proven. To test it:  result.prove_sync()  about 28 re-runs",
        "to prove: agentfootprint why run.json --prove --agent refunds:agent",
        'WHY    "Refund APPROVED because of the 100 % proven VIP cause"',
        "standing: recorded. Not proven: run result.prove() to test it.",
        "mode: correlational",
    ],
)
def test_what_keeps_to_its_standing_passes(text: str) -> None:
    assert forbidden_words(text) == []


def test_a_text_is_folded_at_blanks_and_a_longer_word_where_the_line_ends() -> None:
    assert folded("one two  three", 8, start="- ", rest="  ") == ["- one", "  two", "  three"]
    assert folded("abcdefgh ij", 5, start="> ", rest="  ") == ["> abc", "  def", "  gh", "  ij"]
    assert folded("日本日本", 5) == ["日本", "日本"]
    assert folded("", 5, start="label") == ["label"]
    assert folded("ab", 3, start="wide", rest="wider") == ["widea", "widerb"]


@given(st.text(alphabet="a 日\u0301\n"), st.integers(2, 12))
def test_folding_keeps_every_character_but_blanks_and_no_line_is_too_wide(text: str, width: int) -> None:
    lines = folded(text, width)

    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(display_width(line) <= width for line in lines)


def steps_of(work: Callable[[], object]) -> int:
    """How many characters the functions of the module look at and how many lines they run, as a measure of the work."""
    steps = 0

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal steps
        if frame.f_code.co_filename != words.__file__:
            return None
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


def _folded(text: str) -> object:
    return folded(text, 80)


@pytest.mark.parametrize("unit", ["x", "日", "\x1b", "word ", "e\u0301"])
@pytest.mark.parametrize(
    "work", [_folded, quoted, escaped, display_width], ids=["folded", "quoted", "escaped", "display_width"]
)
def test_twice_the_text_takes_at_most_twice_the_work(work: Callable[[str], object], unit: str) -> None:
    once, twice = (steps_of(partial(work, unit * count)) for count in (4_000, 8_000))

    assert twice <= 2.1 * once + 10


def test_a_cut_quote_looks_no_further_than_it_shows() -> None:
    once, twice = (steps_of(partial(quoted, "日" * count, 80)) for count in (4_000, 8_000))

    assert once == twice


def test_an_escape_is_not_cut_in_its_middle() -> None:
    assert quoted("ab\x1bcdef", 10) == '"ab..."'
