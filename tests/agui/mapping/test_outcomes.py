"""Tests of agentfootprint.agui.mapping.outcomes."""

from __future__ import annotations

from agentfootprint.agui.mapping.outcomes import Cancelled, Failed, Interrupted, Succeeded


def test_where_a_person_consents_and_what_is_asked_are_in_no_repr() -> None:
    outcome = Interrupted(consent_urls={"s": "https://idp.example"}, data={"question": "swordfish"})

    assert "https" not in repr(outcome)
    assert "swordfish" not in repr(outcome)


def test_outcomes_are_told_apart_by_what_they_say() -> None:
    assert Cancelled() == Cancelled()
    assert Failed(code="timeout") != Failed()
    assert Succeeded(text="a") != Succeeded(text="b")
