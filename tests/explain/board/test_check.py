"""Tests of agentfootprint.explain.board.check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.explain.board import BoardDocumentError, validate_board
from agentfootprint.trace import ValueRefusedError, freeze
from tests.explain.board.sample import (
    refund,
    refund_flat,
    refund_inconclusive,
    refund_partial,
    refund_proven,
)
from tests.explain.board.sample_edges import hostile, long_run

SAMPLES: list[Callable[[], Any]] = [
    refund,
    refund_proven,
    refund_flat,
    refund_inconclusive,
    refund_partial,
    hostile,
    long_run,
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.__name__)
def test_a_document_is_given_back_equal_and_plain(sample: Callable[[], Any]) -> None:
    document = sample()

    checked = validate_board(freeze(document))

    assert checked == document
    assert type(checked["sources"]) is list


def test_keys_that_are_not_known_are_kept() -> None:
    document: Any = refund()
    document["later"] = {"a": 1}

    assert validate_board(document).get("later") == {"a": 1}


def _set(path: str, value: object) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        *way, last = path.split(".")
        for part in way:
            document = document[int(part) if part.isdigit() else part]
        document[int(last) if last.isdigit() else last] = value

    return change


def _drop(path: str) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        *way, last = path.split(".")
        for part in way:
            document = document[int(part) if part.isdigit() else part]
        del document[last]

    return change


RATE = {"samples": 4, "flips": 5}
WRONG: list[tuple[str, Callable[[Any], None], str]] = [
    ("another format", _set("format", "agentfootprint.why/1"), "format"),
    ("no answer", _drop("answer"), "$"),
    ("a score that is text", _set("sources.0.score", "high"), "sources[0].score"),
    ("a score over one", _set("sources.0.score", 1.5), "sources[0].score"),
    ("a lane that is not one", _set("timeline.0.kind", "other"), "timeline[0].kind"),
    ("an id twice", _set("sources.1.id", "vip-override-fact"), "sources[1]"),
    ("a call twice", _set("calls.1.step", "call-llm#18"), "calls[1]"),
    ("an unknown source to open", _set("of", "nobody"), "of"),
    ("a span outside the answer", _set("sources.0.shared", [[0, 9999]]), "sources[0].shared"),
    ("spans in disorder", _set("sources.0.shared", [[5, 9], [0, 3]]), "sources[0].shared"),
    ("a record of nobody", _set("records.0.source", "nobody"), "records[0].source"),
    ("a span outside a record", _set("records.0.span", [0, 9999]), "records[0].span"),
    ("a range outside the records", _set("calls.1.messages.records", [[3, 99]]), "calls[1].messages.records"),
    ("a range of another slot", _set("calls.1.messages.records", [[0, 3]]), "calls[1].messages.records"),
    ("a source without a chain", _drop("custody.style-fact"), "custody"),
    (
        "a highlight that is not there",
        _set("custody.style-fact.2.highlight", "no such words"),
        "custody.(chain 2)[2].highlight",
    ),
    ("more flips than samples", _set("sources.0.verdict.removed", RATE), "sources[0].verdict.removed"),
    (
        "an interval upside down",
        _set("sources.0.verdict.removed.interval", [0.9, 0.1]),
        "sources[0].verdict.removed.interval",
    ),
    ("an effect outside its ends", _set("sources.0.verdict.effect", [0.9, 0.1, 0.5]), "sources[0].verdict.effect"),
]


@pytest.mark.parametrize(("change", "where"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_a_wrong_document_is_refused_by_its_place(change: Callable[[Any], None], where: str) -> None:
    document = refund_proven()
    change(document)

    with pytest.raises(BoardDocumentError) as caught:
        validate_board(document)

    assert caught.value.where == where
    assert "Dana" not in str(caught.value)


def test_a_verdict_without_a_proof_is_refused() -> None:
    document: Any = refund_proven()
    del document["proof"]

    with pytest.raises(BoardDocumentError, match=r"without a proof.*EXP-3"):
        validate_board(document)


def test_what_json_cannot_hold_is_refused() -> None:
    document: Any = refund()
    document["sources"][0]["score"] = float("nan")

    with pytest.raises(ValueRefusedError):
        validate_board(document)


def test_checking_changes_nothing_of_what_it_was_given() -> None:
    document = refund_proven()

    validate_board(document)

    assert document == refund_proven()
