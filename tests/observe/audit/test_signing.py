"""Tests of agentfootprint.observe.audit.signing."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from agentfootprint.errors import MissingExtraError
from agentfootprint.observe import AuditExporter, AuditKeyError, verify_audit, verify_audit_files
from agentfootprint.trace import freeze
from tests.observe.audit.chains import events, filled

KEY, OTHER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
PEM = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
PUBLIC = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def signed(count: int = 5, key: Any = KEY) -> dict[str, Any]:
    return filled(count, signing_key=key).bundle()


def test_a_signed_chain_is_whole_with_its_key_and_without() -> None:
    bundle = signed()

    assert verify_audit(bundle, key=PUBLIC).signature == "by-key"
    assert verify_audit(bundle).signature == "by-itself"
    assert verify_audit(bundle, key=PUBLIC).valid
    assert set(bundle["signed"]) == {"signature", "publicKey"}


def test_the_signature_changes_nothing_that_is_hashed() -> None:
    bundle = signed()

    plain = filled(5).bundle()

    assert {**bundle, "header": {**bundle["header"], "exportedAt": 0}} == {
        **plain,
        "header": {**plain["header"], "exportedAt": 0},
        "signed": bundle["signed"],
    }


def test_a_chain_that_was_made_anew_is_not_signed_by_the_one_who_is_known() -> None:
    """What no hash can show: every record is whole, and somebody else wrote them."""
    forged = signed(key=OTHER)

    verdict = verify_audit(forged, key=PUBLIC)

    assert verify_audit(forged).valid
    assert (verdict.valid, verdict.check, verdict.signature) == (False, "signature", "broken")
    assert "not with the one given" in str(verdict.reason)


def test_a_signature_that_was_taken_off_or_moved_is_missed() -> None:
    bundle, other = signed(), signed(6)

    without = {key: value for key, value in bundle.items() if key != "signed"}
    moved = {**bundle, "signed": other["signed"]}

    assert verify_audit(without, key=PUBLIC).reason == "it is not signed"
    assert verify_audit(moved, key=PUBLIC).reason == "its signature does not match it"
    assert verify_audit(moved).check == "signature"


@pytest.mark.parametrize("part", ["exportedAt", "library", "recordCount", "firstSeq"])
def test_the_header_is_signed_too(part: str) -> None:
    bundle = signed()
    changed = copy.deepcopy(bundle)
    changed["header"][part] = {"name": "x"} if part == "library" else 77

    assert not verify_audit(changed, key=PUBLIC).valid


@pytest.mark.parametrize("garbage", [7, "x", {}, {"signature": "!", "publicKey": "!"}, {"signature": ""}, []])
def test_a_signature_that_is_none_is_told_and_raises_nothing(garbage: Any) -> None:
    verdict = verify_audit({**signed(), "signed": garbage})

    assert (verdict.valid, verdict.check) == (False, "signature")


def test_every_segment_of_a_file_is_signed_and_every_byte_counts(tmp_path: Path) -> None:
    audit, path = AuditExporter(signing_key=PEM), tmp_path / "run.audit.jsonl"
    for run in ("run-1-1", "run-1-2"):
        for each in events(2, run=run):
            audit.export(each)
        audit.save(path)
    data = path.read_bytes()
    (tmp_path / "public.pem").write_bytes(PUBLIC)

    assert verify_audit_files([path], key=tmp_path / "public.pem").signature == "by-key"
    start = data.index(b'"signed"')
    for at in range(start, data.index(b"\n", start)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert not verify_audit_files([path], key=PUBLIC).valid
        assert not verify_audit_files([path]).valid


def test_one_segment_that_is_not_signed_makes_the_chain_unsigned(tmp_path: Path) -> None:
    first = filled(3, signing_key=KEY)
    bundle = first.drain()
    for each in events(2):
        first.export(each)
    second = {key: value for key, value in first.drain().items() if key != "signed"}

    assert verify_audit([bundle, second]).signature == "none"
    assert verify_audit([bundle, second], key=PUBLIC).segment == 1


def test_keys_are_taken_as_they_are_kept(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(PEM)
    raw = KEY.public_key().public_bytes_raw()

    bundle = signed(key=tmp_path / "key.pem")

    for key in (PUBLIC, raw, raw.hex(), base64.b64encode(raw).decode(), KEY.public_key()):
        assert verify_audit(bundle, key=key).signature == "by-key"


def test_what_is_no_key_is_refused_and_not_told(tmp_path: Path) -> None:
    other = X25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    locked = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))

    for key in (b"marker-7f3a", other, locked, tmp_path / "nothing.pem"):
        with pytest.raises(AuditKeyError) as refused:
            AuditExporter(signing_key=key)
        assert "marker" not in str(refused.value)
    for public in ("marker-7f3a", b"marker-7f3a", PEM, PUBLIC[:60], tmp_path / "nothing.pem"):
        with pytest.raises(AuditKeyError):
            verify_audit(signed(), key=public)


def test_without_the_extra_signing_names_it_and_checking_says_that_it_was_not(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = json.loads(json.dumps(signed()))
    for name in [name for name in __import__("sys").modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(__import__("sys").modules, name)
    monkeypatch.setitem(__import__("sys").modules, "cryptography", None)

    with pytest.raises(MissingExtraError, match=r"agentfootprint\[audit\]"):
        AuditExporter(signing_key=PEM)
    assert verify_audit(bundle).signature == "unchecked"
    assert verify_audit(bundle).valid
    assert not verify_audit(bundle, key=KEY.public_key().public_bytes_raw().hex()).valid


def test_nothing_in_a_header_makes_the_check_raise() -> None:
    bundle = signed()

    for value in ({1, 2}, object(), float("nan"), {"a": {3}}):
        changed = {**bundle, "header": {**bundle["header"], "library": value}}
        assert verify_audit(changed, key=PUBLIC).check == "signature"
    assert verify_audit(freeze(bundle), key=PUBLIC).valid
