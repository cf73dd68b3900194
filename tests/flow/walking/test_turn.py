"""Tests of agentfootprint.flow.walking.turn."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.flow import BranchNotFoundError, Choice, Decider, Selection, Selector
from tests.flow.charts import always, ran, raw, steps_of


def branch_taken(returned: Any, **more: Any) -> list[str]:
    decider = Decider(always(returned), [raw("a"), raw("5"), raw("True")], id="d", raw=True, **more)
    return steps_of(ran(raw("s"), decider)[1].journal)[2:]


def branches_taken(returned: Any) -> list[str]:
    selector = Selector(always(returned), [raw("a"), raw("b"), raw("c")], id="d", raw=True)
    return [step.partition("#")[0] for step in steps_of(ran(raw("s"), selector)[1].journal)[2:]]


@pytest.mark.parametrize(("returned", "taken"), [("a", "a#2"), (5, "5#2"), (True, "True#2"), (Choice("a"), "a#2")])
def test_a_branch_is_matched_by_the_text_of_what_was_returned(returned: Any, taken: str) -> None:
    assert branch_taken(returned) == [taken]


def test_no_match_and_no_default_is_refused_with_the_branches_there_are() -> None:
    with pytest.raises(BranchNotFoundError, match=r"Stage 'd' returned 'nope'.*Return one of: a, 5, True") as refused:
        branch_taken("nope")

    assert refused.value.returned == ("nope",)


@pytest.mark.parametrize("returned", [None, "nope", Choice("nope")])
def test_the_default_is_for_everything_that_matches_nothing(returned: Any) -> None:
    assert branch_taken(returned, default="5") == ["5#2"]


@pytest.mark.parametrize(
    ("returned", "taken"),
    [
        (["c", "a"], ["a", "c"]),
        (("b",), ["b"]),
        ("b", ["b"]),
        (["a", "a"], ["a"]),
        ([], []),
        (None, []),
        (Selection(("c", "b")), ["b", "c"]),
    ],
)
def test_branches_run_in_the_order_of_their_declaration(returned: Any, taken: list[str]) -> None:
    assert branches_taken(returned) == taken


def test_an_unknown_branch_of_a_selector_is_named_with_those_there_are() -> None:
    with pytest.raises(BranchNotFoundError, match=r"'x', 'y'.*a, b, c"):
        branches_taken(["y", "a", "x"])
