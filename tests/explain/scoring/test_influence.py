"""Tests of agentfootprint.explain.scoring.influence."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentfootprint.explain.scoring.influence import (
    DEFAULT_WEIGHTS,
    Evidence,
    InfluenceWeights,
    adapt_weights,
    score_by_similarity,
    structural_proximity,
)

weight = st.floats(0, 10)


@example(InfluenceWeights(fa=0.0, avg=0.0, persist=1.5, depth=5e-324))
@given(st.builds(InfluenceWeights, fa=weight, avg=weight, persist=weight, depth=weight))
def test_adapting_keeps_the_mass_and_the_ratio(weights: InfluenceWeights) -> None:
    adapted, shifted = adapt_weights(weights, 0)

    assert sum(adapted.to_wire().values()) == pytest.approx(sum(weights.to_wire().values()))
    assert adapted.fa * weights.depth == pytest.approx(adapted.depth * weights.fa)
    assert shifted == (weights.fa + weights.depth > 0 and weights.avg + weights.persist > 0)


def test_without_ancestors_the_defaults_become_80_and_20() -> None:
    adapted, shifted = adapt_weights(DEFAULT_WEIGHTS, 0)

    assert (adapted.fa, adapted.avg, adapted.persist, adapted.depth, shifted) == (
        pytest.approx(0.8), 0.0, 0.0, pytest.approx(0.2), True,
    )  # fmt: skip


def test_weights_without_a_base_stay_as_they_are() -> None:
    weights = InfluenceWeights(fa=0, avg=1, persist=1, depth=0)

    assert adapt_weights(weights, 0) == (weights, False)


@pytest.mark.parametrize("count", [-1, 1.5, True])
def test_a_count_of_ancestors_is_a_whole_number(count: int) -> None:
    with pytest.raises(ValueError, match="whole number"):
        structural_proximity(count)


def test_no_evidence_gives_no_scores() -> None:
    assert score_by_similarity([], "answer", lambda _a, _b: 1.0) == []


def test_scores_are_ordered_by_the_similarity_given() -> None:
    scores = score_by_similarity([Evidence("a", "no"), Evidence("b", "yes")], "yes", lambda a, b: float(a == b))

    assert [(score.id, score.score) for score in scores] == [("b", pytest.approx(1.0)), ("a", pytest.approx(0.2))]
