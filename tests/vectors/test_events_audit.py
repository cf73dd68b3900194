"""The vectors of the area `events` about the audit chain: canonical JSON, what a record keeps, chain and verdict."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from agentfootprint.events import decode_event
from agentfootprint.observe import AuditExporter, canonical_json, verify_audit
from tests.vectors.harness import Case, assert_same, load

EVENTS = load("events")
OPTIONS = {"payloadMode": "payload_mode", "includeTokenEvents": "include_token_events"}
CHECKS = {
    "bundle missing": "shape",
    "no bundles": "shape",
    "unsupported format": "format",
    "unsupported hashAlgorithm": "algorithm",
    "unsupported canonicalization": "canonicalization",
    "recordCount": "count",
    "segment discontinuity": "continuity",
    "head-truncation guard": "head",
    "sequence mismatch": "sequence",
    "hash mismatch": "hash",
}
"""How the reference's reasons begin, and which check they name."""


@pytest.mark.parametrize("case", EVENTS.cases("canonical-json"))
def test_canonical_json(case: Case) -> None:
    """AUD-5."""
    text = canonical_json(case.input)

    assert text == case.expected["canonical"]
    assert hashlib.sha256(text.encode()).hexdigest() == case.expected["sha256"]


@pytest.mark.parametrize("case", EVENTS.cases("audit-bounding"))
def test_audit_bounding(case: Case) -> None:
    """AUD-6, AUD-7: of typed payloads, and of events whose type nobody knows."""
    audit = AuditExporter(include_token_events=True)

    audit.export(decode_event(json.dumps({"meta": {"runId": "run-1-1"}, **case.input})))

    assert_same(audit.bundle()["records"][1]["payload"], case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("audit-chain"))
def test_audit_chain(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """AUD-1 to AUD-4, to the last hash, with the version of the library that made the vector."""
    version = case.expected["header"]["library"]["version"]

    def recorded(_: str) -> str:
        return version

    monkeypatch.setattr("importlib.metadata.version", recorded)
    given: dict[str, Any] = case.input["options"]
    options: dict[str, Any] = {OPTIONS.get(name, name): value for name, value in given.items()}
    audit = AuditExporter(**options)

    for event in case.input["events"]:
        audit.export(decode_event(json.dumps(event)))

    bundle = audit.bundle()
    bundle["header"]["exportedAt"] = 0
    assert_same(bundle, case.expected)
    assert verify_audit(bundle).valid


@pytest.mark.parametrize("case", EVENTS.cases("audit-verify"))
def test_audit_verify(case: Case) -> None:
    """AUD-9."""
    verdict = verify_audit(case.input)

    expected = case.expected
    reason = expected.pop("reason", None)
    assert_same({key: value for key, value in verdict.to_wire().items() if key in CHECKED}, expected)
    assert verdict.check == next(
        (check for start, check in CHECKS.items() if reason and reason.startswith(start)), None
    )
    assert (verdict.reason is None) is (reason is None)


CHECKED = {"valid", "recordsChecked", "brokenAt"}
