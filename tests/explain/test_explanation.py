"""Tests of agentfootprint.explain.explanation."""

from __future__ import annotations

import json

import pytest

from agentfootprint import Why
from agentfootprint.explain import UnknownSourceError
from tests.explain.desks import RULE, desk, long_desk


@pytest.fixture(scope="module")
def asked() -> Why:
    return long_desk().run_sync("Refund gamma?").why()


@pytest.fixture(scope="module")
def proof() -> Why:
    return desk().run_sync("Refund?").prove_sync(changed=RULE)


def test_printing_an_explanation_gives_the_text_for_people(asked: Why) -> None:
    assert str(asked) == asked.to_text()
    assert repr(asked) == f"Why(step={asked.step!r}, mode='correlational', sources=8)"


def test_an_explanation_without_re_runs_has_spent_nothing_and_judged_nothing(asked: Why) -> None:
    assert (asked.mode, asked.runs_used, asked.spent, asked.plan, asked.change) == (
        "correlational",
        0,
        None,
        None,
        None,
    )
    assert asked.leading == asked.sources[0]


def test_a_proof_leads_with_what_was_confirmed(proof: Why) -> None:
    assert (proof.mode, proof.change) == ("causal", ("APPROVED", "DECLINED"))
    assert proof.leading is not None
    assert proof.leading.id == "vip"
    assert proof.spent is not None
    assert proof.runs_used == proof.spent.runs > 0


def test_the_wire_form_is_plain_json_with_format_custody_and_confidence(asked: Why, proof: Why) -> None:
    for each in (asked, proof):
        wire = each.to_wire()

        assert json.loads(json.dumps(wire)) == wire
        assert wire["format"] == "agentfootprint.why/1"
        assert wire["mode"] == each.mode
        assert [hop["step"] for hop in wire["custody"]] == ["answer", "read", "landed", "allowed", "born"]
        assert wire["confidence"]["clearWinner"] is each.confidence.clear_winner
        assert ("spent" in wire) == (each is proof)


def test_custody_is_of_the_source_that_was_asked_for_else_of_the_leading_one() -> None:
    recording = desk().run_sync("Refund?")

    assert recording.why(of="style").custody() == recording.why().custody("style")
    assert recording.why().custody() == recording.why().custody("vip")
    assert recording.why(of="style").custody("vip") == recording.why().custody("vip")


def test_an_unknown_source_is_refused_with_those_there_are(asked: Why) -> None:
    with pytest.raises(UnknownSourceError, match="'lookup'") as caught:
        asked.custody("lookup")

    assert "Did you mean look_up?" in caught.value.fix


def test_the_custody_text_marks_this_piece_and_no_other_place_of_its_words() -> None:
    text = long_desk().run_sync("Refund gamma?").why().custody_text("short")

    assert "           You decide. Be short.\n         > Be short.\n" in text
    assert text.count(">") == 1


def test_without_sources_there_is_no_custody_and_a_sentence() -> None:
    asked = desk("Hi.", record=True).without(["vip", "style"]).run_sync("hello").why()

    assert asked.custody() == ()
    assert asked.custody_text() == "CUSTODY  Nothing that could be left out reached this answer."
