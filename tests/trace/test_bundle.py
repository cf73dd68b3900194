"""Tests of agentfootprint.trace.bundle."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from agentfootprint.trace import (
    ABSENT,
    CommitBundle,
    FrozenDict,
    MalformedBundleError,
    TraceEntry,
    as_bundle,
    freeze,
    payload_of,
    thaw,
)
from tests.trace.logs import bundle, logs


@given(logs())
def test_a_bundle_round_trips_through_its_wire_form(log: list[dict[str, Any]]) -> None:
    for wire in log:
        record = CommitBundle.from_wire(wire)

        assert json.dumps(record.to_wire()) == json.dumps(wire)
        assert CommitBundle.from_wire(record.to_wire()) == record


def test_a_record_owns_its_payloads() -> None:
    wire = bundle(0, "a#0", ("k", "set", [1]))
    record = CommitBundle.from_wire(wire)

    wire["overwrite"]["k"].append(2)

    assert thaw(record.overwrite) == {"k": [1]}


def test_no_reads_and_unrecorded_reads_differ_on_the_wire() -> None:
    wire = bundle(0, "a#0", ("k", "set", 1), ("l", "set", 1), reads={"k": []})

    assert CommitBundle.from_wire(wire).to_wire()["trace"] == [
        {"path": "k", "verb": "set", "readKeys": []},
        {"path": "l", "verb": "set"},
    ]


def test_untracked_sources_are_absent_when_there_are_none() -> None:
    wire = bundle(0, "a#0")

    assert "untrackedSources" not in CommitBundle.from_wire(wire).to_wire()
    assert CommitBundle.from_wire({**wire, "untrackedSources": ["args"]}).to_wire()["untrackedSources"] == ["args"]


def test_an_absent_payload_is_missing_on_the_wire_while_its_entry_stays() -> None:
    entry = TraceEntry("k", "set")
    record = CommitBundle(0, "A", "a", "a#0", (entry,), freeze({}), freeze({}), ())
    deleted = CommitBundle(0, "A", "a", "a#0", (entry,), as_mapping({"k": ABSENT}), freeze({}), ())

    assert payload_of(record, entry) is ABSENT
    assert payload_of(deleted, entry) is ABSENT
    assert record.to_wire() == deleted.to_wire()
    assert record.to_wire()["trace"] == [{"path": "k", "verb": "set"}]


def as_mapping(data: dict[str, Any]) -> Any:
    return FrozenDict(data)


@pytest.mark.parametrize(
    ("broken", "field"),
    [
        ({"idx": "0"}, "idx"),
        ({"stageId": None}, "stageId"),
        ({"trace": None}, "trace"),
        ({"trace": [{"verb": "set"}]}, "trace"),
        ({"trace": ["k"]}, "trace"),
        ({"overwrite": []}, "overwrite"),
    ],
)
def test_what_is_no_bundle_is_refused_by_position_and_field(broken: dict[str, Any], field: str) -> None:
    with pytest.raises(MalformedBundleError, match=rf"Bundle 7 of the log has no valid '{field}'") as caught:
        as_bundle({**bundle(0, "a#0"), **broken}, 7)

    assert (caught.value.position, caught.value.field) == (7, field)


def test_what_is_no_object_is_refused() -> None:
    not_a_bundle: Any = 5

    with pytest.raises(MalformedBundleError, match=r"A commit bundle has no valid 'form'"):
        as_bundle(not_a_bundle)
