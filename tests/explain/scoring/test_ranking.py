"""Tests of agentfootprint.explain.scoring.ranking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.errors import ConfigError
from agentfootprint.explain.scoring.ranking import margin_strategy, ranking_confidence, ratio_strategy

scored = st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(allow_nan=True, allow_infinity=True)), max_size=12)


def test_a_lead_of_0_41_is_clear() -> None:
    confidence = ranking_confidence([("vip-override-fact", 0.767), ("lookup_order", 0.352), ("style-fact", 0.2)])

    assert (confidence.clear_winner, confidence.lead, confidence.shortlist) == (
        True, "vip-override-fact", ("vip-override-fact",),
    )  # fmt: skip
    assert confidence.margin == pytest.approx(0.415)
    assert confidence.threshold == "margin>=0.05"


def test_a_flat_top_is_refused_an_order_and_gives_a_worklist() -> None:
    confidence = ranking_confidence([("vip", 0.85), ("style", 0.841), ("lookup_order", 0.71)])

    assert (confidence.clear_winner, confidence.shortlist) == (False, ("vip", "style"))


def test_the_runner_up_is_on_the_worklist_whatever_the_band() -> None:
    assert ranking_confidence([("a", 0.5), ("b", 0.46)], shortlist_band=0.0).shortlist == ("a", "b")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_malformed_score_never_wins(bad: float) -> None:
    confidence = ranking_confidence([("broken", bad), ("a", 0.2)])

    assert (confidence.lead, confidence.clear_winner, confidence.margin) == ("a", True, None)
    assert confidence.shortlist == ("a",)


@pytest.mark.parametrize("bad", [-0.1, math.nan])
@pytest.mark.parametrize("option", ["clear_winner_margin", "shortlist_band"])
def test_a_threshold_that_is_none_is_refused_by_name(option: str, bad: float) -> None:
    with pytest.raises(ConfigError, match=option):
        ranking_confidence([("a", 1.0)], **{option: bad})  # type: ignore[arg-type]  the name is the parameter


@pytest.mark.parametrize(("make", "name"), [(margin_strategy, "margin_strategy"), (ratio_strategy, "ratio_strategy")])
def test_a_strategy_with_a_negative_threshold_is_refused(make: type, name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        make(-1.0)


def test_a_ratio_does_not_mind_the_scale_and_knows_no_ratio_to_zero() -> None:
    assert ranking_confidence([("a", 0.001), ("b", 0.0009)], strategy=ratio_strategy()).clear_winner
    assert not ranking_confidence([("a", 0.0), ("b", -1.0)], strategy=ratio_strategy()).clear_winner


@given(scored)
def test_the_worklist_holds_the_lead_and_nothing_twice(scores: list[tuple[str, float]]) -> None:
    before = list(scores)

    confidence = ranking_confidence(scores)

    assert [repr(item) for item in scores] == [repr(item) for item in before]
    assert len(set(confidence.shortlist)) == len(confidence.shortlist)
    if scores:
        assert confidence.lead in confidence.shortlist
        finite = [score for _, score in scores if math.isfinite(score)]
        best = max(finite, default=None)
        assert best is None or (confidence.lead, best) in scores


def test_what_is_not_known_has_no_key_on_the_wire() -> None:
    assert ranking_confidence([]).to_wire() == {"clearWinner": False, "shortlist": []}
