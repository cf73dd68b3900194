"""Tests of agentfootprint.explain.claims."""

from __future__ import annotations

import pytest

from agentfootprint.explain import Claim
from agentfootprint.explain.errors import UnknownValueError


def test_a_known_claim_gives_its_value_and_evidence() -> None:
    claim = Claim.known(11, "declared")

    assert (claim.value, claim.is_known, str(claim)) == (11, True, "11 (declared)")


def test_none_may_be_known() -> None:
    claim: Claim[str | None] = Claim.known(None, "the record says null")

    assert (claim.value, claim.value_or("x"), claim.to_wire()["value"]) == (None, None, None)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (Claim[int].unknown("no cache fields"), "unknown — no cache fields"),
        (Claim[int].not_applicable("no cache here"), "not applicable — no cache here"),
    ],
)
def test_a_value_that_is_not_known_can_not_be_read_by_accident(claim: Claim[int], text: str) -> None:
    with pytest.raises(UnknownValueError, match=text):
        _ = claim.value

    assert (claim.value_or(0), claim.is_known, str(claim)) == (0, False, text)
    assert "value" not in claim.to_wire()
