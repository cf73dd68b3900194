"""Tests of agentfootprint.explain.board.changes."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain.board.changes import changes_between, changes_panel
from agentfootprint.explain.board.view import View
from tests.explain.board.sample import refund, refund_partial
from tests.explain.board.sample_edges import long_run

INDICES = st.lists(st.integers(0, 9), max_size=12)


@given(INDICES, INDICES)
def test_what_came_and_went_turns_one_list_into_the_other(before: list[int], after: list[int]) -> None:
    change = changes_between(before, after)

    assert Counter(before) - Counter(change.went) + Counter(change.came) == Counter(after)
    assert change.carried + len(change.came) == len(after)
    assert change.carried + len(change.went) == len(before)


@given(INDICES)
def test_equal_lists_carry_everything(indices: list[int]) -> None:
    change = changes_between(indices, indices)

    assert (change.came, change.went, change.carried) == ((), (), len(indices))


def test_the_change_into_the_answer_names_what_came_and_counts_what_stayed() -> None:
    panel = changes_panel(View(refund()))

    assert "3 · 245 ch" in panel
    assert "no change" in panel
    assert "calls lookup_order({&quot;orderId&quot;:&quot;A-1001&quot;})" in panel
    assert "+17" in panel


def test_a_slot_with_unknown_words_has_no_size() -> None:
    panel = changes_panel(View(refund_partial()))

    assert "3 · unknown ch" in panel
    assert "· 0 ch" not in panel


def test_over_many_calls_each_slot_says_where_it_changed() -> None:
    panel = changes_panel(View(long_run(60)))

    assert "Tools offered</b> changed before iteration 30" in panel
    assert "Messages</b> changed before every call (59 times)" in panel
    assert "System prompt</b> never changed" in panel
