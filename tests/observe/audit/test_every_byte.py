"""Tests of a small chain, in both of its forms: whatever one byte is changed, the verdict names the record it is in."""

from __future__ import annotations

import json
from bisect import bisect_right
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agentfootprint.errors import AgentFootprintError
from agentfootprint.observe import AuditExporter, AuditVerification, verify_audit_files
from tests.observe.audit.chains import events

FLIPS = (0x01, 0x20, 0x80)
"""Another digit or letter; the other case, or a space for a control; no ASCII any more."""
KEY = Ed25519PrivateKey.generate()


def chain(*, signed: bool) -> AuditExporter:
    audit = AuditExporter(signing_key=KEY if signed else None)
    for each in events(2):
        audit.export(each)
    return audit


def verdict(data: bytes, folder: Path) -> AuditVerification | None:
    """What is said of these bytes; `None` when it is said that they hold no audit records."""
    path = folder / "changed"
    path.write_bytes(data)
    try:
        return verify_audit_files([path])
    except AgentFootprintError:
        return None


@pytest.mark.parametrize("signed", [False, True])
def test_of_a_file_of_lines(tmp_path: Path, signed: bool) -> None:
    whole = chain(signed=signed).save(tmp_path / "run.jsonl").read_bytes()
    starts = [0, *(at + 1 for at, byte in enumerate(whole) if byte == ord("\n"))]

    for at in range(len(whole)):
        line = bisect_right(starts, at) - 1
        for flip in FLIPS:
            found = verdict(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :], tmp_path)

            assert found is not None, at
            assert not found.valid, at
            if 1 <= line <= 3:
                assert (found.broken_at, found.records_checked) == (line - 1, line - 1), at


@pytest.mark.parametrize("signed", [False, True])
def test_of_a_bundle_as_one_document(tmp_path: Path, signed: bool) -> None:
    """Unlike a line, a document has no one way to be written: what says the same in other bytes is the same."""
    bundle = chain(signed=signed).bundle()
    whole = json.dumps(bundle).encode()
    starts = [whole.index(json.dumps(record).encode()) for record in bundle["records"]]
    ends = [start + len(json.dumps(record).encode()) for start, record in zip(starts, bundle["records"], strict=True)]

    for at in range(len(whole)):
        record = next((n for n in range(3) if starts[n] <= at < ends[n]), None)
        for flip in FLIPS:
            changed = whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :]
            found = verdict(changed, tmp_path)

            if found is None:
                assert record is None, at
            elif found.valid and signed and not says_the_same(changed, bundle):
                assert found.signature == "none", at  # the signature was taken off, which who has the key will see
                assert not verify_audit_files([tmp_path / "changed"], key=KEY.public_key()).valid, at
            elif found.valid:
                assert says_the_same(changed, bundle), at
            elif record is not None:
                assert found.broken_at in (record, record - 1 if record else None), at


def says_the_same(changed: bytes, bundle: object) -> bool:
    """Whether only what nothing vouches for differs: facts of the header that no hash covers in this form."""
    read = json.loads(changed)
    assert isinstance(bundle, dict)
    for key in ("exportedAt", "library"):
        read["header"].pop(key, None)
    known = json.loads(json.dumps(bundle))
    for key in ("exportedAt", "library"):
        known["header"].pop(key, None)
    extra = {key: value for key, value in read["header"].items() if key not in known["header"]}
    read["header"] = {key: value for key, value in read["header"].items() if key not in extra}
    return read == known
