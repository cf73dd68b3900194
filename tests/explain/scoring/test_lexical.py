"""Tests of agentfootprint.explain.scoring.lexical."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain.errors import DuplicateIdError, InvalidWeightsError
from agentfootprint.explain.scoring.influence import Evidence, InfluenceWeights
from agentfootprint.explain.scoring.lexical import lexical_overlap, lexical_tokens, score_lexical


class Raising:
    async def embed(self, text: str) -> list[float]:
        raise AssertionError(text)


def test_plurals_fold_and_stop_words_drop_before_the_fold() -> None:
    assert lexical_tokens("The refunds, windows and gas of A-1001's address!") == {
        "refund", "window", "gas", "1001", "address",
    }  # fmt: skip


def test_letters_outside_ascii_split_words() -> None:
    assert lexical_tokens("café 日本") == {"caf"}


def test_an_embedder_is_accepted_and_never_called() -> None:
    evidence = [Evidence("a", "VIP override"), Evidence("b", "style")]

    first = score_lexical(evidence, "VIP override status", embedder=Raising())

    assert first == score_lexical(evidence, "VIP override status")
    assert [item.id for item in first] == ["a", "b"]


def test_equal_scores_keep_the_order_they_came_in() -> None:
    scores = score_lexical([Evidence("z", "x1"), Evidence("a", "x1"), Evidence("m", "x1")], "nothing alike")

    assert [item.id for item in scores] == ["z", "a", "m"]


def test_an_overlap_at_the_threshold_does_not_persist() -> None:
    evidence = [Evidence("a", "alpha", ("alpha beta gamma delta",))]  # overlap exactly one half

    assert score_lexical(evidence, "alpha", persistence_threshold=0.5)[0].signals.persist == 0.0
    assert score_lexical(evidence, "alpha", persistence_threshold=0.49)[0].signals.persist == 1.0


def test_one_id_twice_is_refused() -> None:
    with pytest.raises(DuplicateIdError, match=r"score_lexical.*'__proto__'"):
        score_lexical([Evidence("__proto__", "a"), Evidence("__proto__", "b")], "c")


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        (InfluenceWeights(fa=-1.0), "fa"),
        (InfluenceWeights(depth=float("nan")), "depth"),
        (InfluenceWeights(fa=0, avg=0, persist=0, depth=0), "all are 0"),
    ],
)
def test_weights_that_can_not_weigh_are_refused(weights: InfluenceWeights, named: str) -> None:
    with pytest.raises(InvalidWeightsError, match=named):
        score_lexical([], "answer", weights=weights)


@given(st.text(), st.text())
def test_overlap_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    overlap = lexical_overlap(one, other)

    assert 0 <= overlap <= 1 + 1e-12
    assert overlap == lexical_overlap(other, one)
    if lexical_tokens(one):
        assert lexical_overlap(one, one) == pytest.approx(1.0)
