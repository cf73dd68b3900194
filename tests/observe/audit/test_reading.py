"""Tests of agentfootprint.observe.audit.reading."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfootprint.observe import AuditExporter, AuditFileError, AuditVerification, verify_audit_files
from agentfootprint.recording import FileProblemError
from tests.observe.audit.chains import events, filled

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400, deadline=None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of two segments of 21 records."""
    audit, path = AuditExporter(payload_mode="verbatim"), tmp_path_factory.mktemp("audit") / "whole.jsonl"
    for run in ("run-1-1", "run-1-2"):
        for each in events(20, run=run):
            audit.export(each)
        audit.save(path)
    return path.read_bytes()


def verdict_on(data: bytes, folder: Path, *anchors: str) -> AuditVerification:
    path = folder / "changed.jsonl"
    path.write_bytes(data)
    return verify_audit_files([path], anchors=anchors)


def record_of(line: int) -> int | None:
    """Which record stands in a line: a header, 21 records, an end, and the same again."""
    segment, at = divmod(line, 23)
    return None if at in (0, 22) else segment * 21 + at - 1


@SAME_FOLDER
@given(st.data())
def test_any_one_changed_byte_names_the_record_it_is_in(whole: bytes, tmp_path: Path, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda each: each != whole[at]))

    verdict = verdict_on(whole[:at] + bytes([byte]) + whole[at + 1 :], tmp_path)

    assert not verdict.valid
    line = whole.count(b"\n", 0, at)
    expected = record_of(line)
    if expected is not None:
        assert verdict.broken_at == expected
        assert verdict.records_checked == expected
    else:
        assert verdict.segment == line // 23 or verdict.check == "count"


@SAME_FOLDER
@given(st.data())
def test_a_file_that_was_cut_anywhere_but_between_segments_is_not_whole(
    whole: bytes, tmp_path: Path, data: st.DataObject
) -> None:
    length = data.draw(st.integers(200, len(whole) - 1))
    end = whole.index(b'{"finalHash"')
    first = whole.index(b"\n", end) + 1

    verdict = verdict_on(whole[:length], tmp_path)

    assert verdict.valid is (length == first)


def test_a_torn_last_line_is_said_to_be_one(whole: bytes, tmp_path: Path) -> None:
    verdict = verdict_on(whole[: whole.index(b'{"seq":30') + 40], tmp_path)

    assert (verdict.broken_at, verdict.reason) == (30, "the file ends in the middle of its line")


def test_lines_that_were_removed_moved_or_added_are_found(whole: bytes, tmp_path: Path) -> None:
    lines = whole.splitlines(keepends=True)

    for at in range(1, 22):
        assert verdict_on(b"".join(lines[:at] + lines[at + 1 :]), tmp_path).broken_at == at - 1
        assert verdict_on(b"".join([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]), tmp_path).broken_at == (
            at - 1
        )
        assert verdict_on(b"".join([*lines[:at], lines[at], *lines[at:]]), tmp_path).broken_at == at
        assert verdict_on(b"".join([*lines[:at], b"\n", *lines[at:]]), tmp_path).broken_at == at - 1


def test_a_whole_segment_that_was_removed_or_moved_is_found(whole: bytes, tmp_path: Path) -> None:
    lines = whole.splitlines(keepends=True)
    first, second = lines[:23], lines[23:]

    assert verdict_on(b"".join(second), tmp_path).first_seq == 21
    assert verdict_on(b"".join(second + first), tmp_path).check == "continuity"
    assert verdict_on(b"".join(first + first), tmp_path).check == "continuity"
    assert verdict_on(b"".join(first), tmp_path).valid


def test_an_anchor_shows_that_the_end_was_cut_off(tmp_path: Path) -> None:
    anchored: list[str] = []
    audit, path = AuditExporter(anchor=anchored.append), tmp_path / "whole.jsonl"
    for run in ("run-1-1", "run-1-2"):
        for each in events(20, run=run):
            audit.export(each)
        audit.save(path)
    first = b"".join(path.read_bytes().splitlines(keepends=True)[:23])

    assert verdict_on(first, tmp_path, anchored[0]).anchored_to == 20
    assert verdict_on(first, tmp_path, anchored[1]).check == "anchor"
    assert verdict_on(path.read_bytes(), tmp_path, *anchored).anchored_to == 41
    assert verdict_on(path.read_bytes(), tmp_path, anchored[0].upper()).anchored_to == 20


def test_a_record_appended_from_another_chain_is_found(tmp_path: Path) -> None:
    mine, other = filled(5), filled(9, run="run-7-7")
    mine.save(tmp_path / "mine.jsonl")
    other.save(tmp_path / "other.jsonl")

    verdict = verify_audit_files([tmp_path / "mine.jsonl", tmp_path / "other.jsonl"])

    assert (verdict.check, verdict.segment, verdict.records_checked) == ("continuity", 1, 6)


def test_a_line_that_says_the_same_in_other_bytes_was_changed(whole: bytes, tmp_path: Path) -> None:
    """The digits of 20/3 can be others and still be read as that number; a key can stand twice."""
    line = next(each for each in whole.splitlines() if b'"items":13' in each)

    spaced = line.replace(b'"items":13', b'"items": 13')
    twice = line.replace(b'"items":13', b'"items":99,"items":13')

    for edited in (spaced, twice):
        assert verdict_on(whole.replace(line, edited), tmp_path).broken_at == 14


@pytest.mark.parametrize("indent", [None, 1])
def test_a_bundle_as_one_json_document_is_read_too(tmp_path: Path, indent: int | None) -> None:
    audit, path = filled(20), tmp_path / "bundle.json"
    text = json.dumps(audit.bundle(), indent=indent)

    for edit, expected in (
        (("", ""), None),
        (("basket", "basked"), 1),
        (('"items": 7', '"items": 7, "items": 7'), 8),
        (('"items": 7', '"items": 7]'), 8),
        (('"items": 7', '"items": NaN'), 8),
    ):
        path.write_text(text.replace(*edit, 1), encoding="utf-8")
        assert verify_audit_files([path]).broken_at == expected
    path.write_text(json.dumps([audit.drain(), audit.drain()], indent=indent), encoding="utf-8")
    assert verify_audit_files([path]).segment_count == 2


@pytest.mark.parametrize(
    "held", [b"", b"Buy milk.\n", b"{}", b"[]", b'{"snapshot": {}, "events": []}', b"\xff\xfe\x00"]
)
def test_a_file_without_audit_records_cannot_be_asked(tmp_path: Path, held: bytes) -> None:
    with pytest.raises(AuditFileError, match=r"changed\.jsonl"):
        verdict_on(held, tmp_path)


def test_a_file_that_is_not_there_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(FileProblemError, match="can't be read"):
        verify_audit_files([tmp_path / "nothing.jsonl"])
