"""Tests of agentfootprint.observe.audit.checking."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.observe import verify_audit
from tests.observe.audit.chains import events, filled

COUNT = 12
WHOLE = filled(COUNT - 1).bundle()
OTHER = filled(COUNT - 1, run="run-7-7").bundle()


def changed() -> dict[str, Any]:
    return copy.deepcopy(WHOLE)


def counted(bundle: dict[str, Any]) -> dict[str, Any]:
    """A forger who knows that the header counts, and that the end is the last hash."""
    bundle["header"]["recordCount"] = len(bundle["records"])
    bundle["finalHash"] = bundle["records"][-1]["hash"]
    return bundle


@given(st.integers(0, COUNT - 1), st.sampled_from(["timestamp", "eventType", "payload", "meta", "prevHash", "hash"]))
def test_a_changed_member_names_its_record(at: int, key: str) -> None:
    bundle = changed()
    others: dict[str, Any] = {"timestamp": -1, "payload": {}, "meta": {}}
    bundle["records"][at][key] = others.get(key, "x")

    verdict = verify_audit(bundle)

    assert (verdict.valid, verdict.broken_at, verdict.records_checked) == (False, at, at)


@given(st.integers(0, COUNT - 2))
def test_a_removed_record_is_named(at: int) -> None:
    bundle = changed()
    del bundle["records"][at]

    verdict = verify_audit(counted(bundle))

    assert (verdict.check, verdict.broken_at) == ("sequence", at)


@given(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1))
def test_records_that_changed_places_are_found_at_the_first(one: int, other: int) -> None:
    bundle = changed()
    records = bundle["records"]
    records[one], records[other] = records[other], records[one]

    verdict = verify_audit(counted(bundle))

    assert verdict.broken_at == (None if one == other else min(one, other))


@given(st.integers(1, COUNT - 1))
def test_records_of_another_chain_do_not_follow(at: int) -> None:
    bundle = changed()
    bundle["records"][at:] = copy.deepcopy(OTHER["records"][at:])

    verdict = verify_audit(counted(bundle))

    assert (verdict.check, verdict.broken_at) == ("link", at)


def test_an_inserted_record_is_named() -> None:
    bundle = changed()
    bundle["records"].insert(5, copy.deepcopy(bundle["records"][5]))

    assert verify_audit(counted(bundle)).broken_at == 6


def test_a_cut_head_is_found_whatever_the_header_says() -> None:
    bundle = changed()
    del bundle["records"][:3]
    counted(bundle)["header"]["firstSeq"] = 3

    assert (verify_audit(bundle).check, verify_audit(bundle).broken_at) == ("head", 3)


def test_a_later_segment_alone_is_whole_and_says_where_it_begins() -> None:
    audit = filled(3)
    audit.drain()
    later = audit.drain()

    verdict = verify_audit(later)

    assert (verdict.valid, verdict.first_seq) == (True, 4)


def test_a_segment_that_was_left_out_is_named() -> None:
    audit = filled(3)
    segments = [audit.drain()]
    for _ in range(2):
        for each in events(2):
            audit.export(each)
        segments.append(audit.drain())

    verdict = verify_audit([segments[0], segments[2]])

    assert (verdict.check, verdict.segment, verdict.broken_at, verdict.records_checked) == ("continuity", 1, 6, 4)


def test_what_it_cannot_show_is_a_cut_end() -> None:
    """AUD-10: that needs an anchor."""
    bundle = changed()
    del bundle["records"][8:]

    assert verify_audit(counted(bundle)).valid


def test_an_end_that_is_not_the_last_hash_is_found() -> None:
    bundle = changed()
    bundle["finalHash"] = "0" * 64

    assert verify_audit(bundle).check == "end"


ODD: list[Any] = [
    *(None, 7, "text", b"bytes", {}, {"header": {}}, [[]], [None], {"header": [], "records": {}, "finalHash": 3}),
    {**WHOLE, "records": 5},
    {**WHOLE, "records": [None] * COUNT},
    {**WHOLE, "records": [{"seq": 0}] * COUNT},
    {**WHOLE, "records": [{**WHOLE["records"][0], "payload": {1, 2}}, *WHOLE["records"][1:]]},
    {**WHOLE, "records": [{**WHOLE["records"][0], "hash": None}, *WHOLE["records"][1:]]},
    {**WHOLE, "records": [{**WHOLE["records"][0], "seq": False}, *WHOLE["records"][1:]]},
    {**WHOLE, "header": {**WHOLE["header"], "firstSeq": True}},
    {**WHOLE, "header": {**WHOLE["header"], "recordCount": "12"}},
    {**WHOLE, "header": {**WHOLE["header"], "chainHead": None}},
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_malformed_data_is_not_valid_and_does_not_raise(odd: Any) -> None:
    verdict = verify_audit(odd)

    assert not verdict.valid
    assert verdict.reason


def test_a_record_that_holds_itself_is_not_valid() -> None:
    bundle = changed()
    bundle["records"][2]["payload"]["self"] = bundle["records"][2]

    assert (verify_audit(bundle).check, verify_audit(bundle).broken_at) == ("hash", 2)


def test_the_verdict_as_json_says_nothing_it_does_not_know() -> None:
    assert verify_audit(WHOLE).to_wire() == {
        "valid": True,
        "recordsChecked": COUNT,
        "segmentCount": 1,
        "runCount": 1,
        "firstSeq": 0,
        "finalHash": WHOLE["finalHash"],
    }
