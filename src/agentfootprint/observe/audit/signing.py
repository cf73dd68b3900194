"""Who wrote a bundle: an Ed25519 signature beside it, and how it is checked (AUD-10).

What is signed is the header and the last hash, which stand for every record. Invariants: the signature stands outside
of everything that is hashed, so that a bundle verifies with it and without; a key is never in a message or a repr.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from agentfootprint._optional import optional
from agentfootprint.observe.audit.canonical import canonical_bytes
from agentfootprint.observe.errors import AuditKeyError
from agentfootprint.trace import JsonObject, Value, thaw

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["SIGNED", "Signer", "SigningKey", "VerifyKey", "fingerprint", "public_key_of", "signature_problem"]

SIGNED: Final = "signed"
"""The key of a bundle, and of the last line of a segment, that the signature stands under."""
_FORMAT: Final = "agentfootprint.audit-signature/1"
_KEY_BYTES: Final = 32
_HEX_DIGITS: Final = 64

SigningKey: TypeAlias = "Path | bytes | Ed25519PrivateKey"
"""A private key: the path of a PEM file, its bytes, or a key of `cryptography`."""
VerifyKey: TypeAlias = "Path | bytes | str | Ed25519PublicKey"
"""A public key: the path of a PEM file, its bytes, the 32 bytes as hex or base64, or a key of `cryptography`."""


class Signer:
    """Signs bundles with one key.

    Args:
        key: The private key.

    Raises:
        AuditKeyError: It is no private key for Ed25519, or can't be read.
        MissingExtraError: `cryptography` is not installed; names the extra.
    """

    def __init__(self, key: SigningKey) -> None:
        with optional("cryptography", extra="audit", needed_by="A signed audit bundle"):
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        found: object = key
        if isinstance(key, (Path, bytes)):
            try:
                found = load_pem_private_key(_read(key), password=None)
            except (ValueError, TypeError) as error:  # TypeError: it has a password
                raise _refused("private") from error
        if not isinstance(found, Ed25519PrivateKey):
            raise _refused("private")
        self._key = found
        self._public = _text(found.public_key().public_bytes_raw())

    def signed(self, header: JsonObject, final_hash: str) -> dict[str, str]:
        """The signature over a segment, and the public key that it can be checked with, both as base64."""
        return {"signature": _text(self._key.sign(_message(header, final_hash))), "publicKey": self._public}


def public_key_of(given: VerifyKey) -> bytes:
    """The 32 bytes of a public key.

    Raises:
        AuditKeyError: It is no public key for Ed25519, or can't be read.
        MissingExtraError: `cryptography` is not installed; names the extra.
    """
    if isinstance(given, str):
        return _raw(given)
    with optional("cryptography", extra="audit", needed_by="Checking a signature"):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    found: object = given
    if isinstance(given, (Path, bytes)):
        data = _read(given)
        if len(data) == _KEY_BYTES:
            return data
        try:
            found = load_pem_public_key(data)
        except ValueError as error:
            if b"-----" in data:
                raise _refused("public") from error
            return _raw(data.decode("ascii", "replace").strip())
    if not isinstance(found, Ed25519PublicKey):
        raise _refused("public")
    return found.public_bytes_raw()


def fingerprint(public_key: bytes) -> str:
    """A short name for a public key: the first 16 hex digits of its SHA-256."""
    return hashlib.sha256(public_key).hexdigest()[:16]


def signature_problem(  # noqa: PLR0911  an answer each, in order
    signed: Value, header: JsonObject, final_hash: str, key: bytes | None
) -> tuple[Literal["unsigned", "signed", "unchecked"], str | None]:
    """What a segment's signature is worth.

    Args:
        signed: What stands under `signed`; `None` when nothing does.
        header: The segment's header.
        final_hash: Its last hash.
        key: The key it must be signed with; `None`: whatever key it names, which shows an edit and no origin.

    Returns:
        Whether there is a signature that was checked (`unchecked`: it can't be here), and what is wrong, in words.
    """
    if signed is None:
        return "unsigned", None if key is None else "it is not signed"
    parts: Mapping[str, Any] = cast("Mapping[str, Any]", signed) if isinstance(signed, Mapping) else {}
    signature, public = _bytes(parts.get("signature")), _bytes(parts.get("publicKey"))
    if set(parts) != {"signature", "publicKey"} or signature is None or public is None or len(public) != _KEY_BYTES:
        return "signed", "its signature can't be read"
    if key is not None and public != key:
        told = f"the key {fingerprint(public)}, not with the one given, {fingerprint(key)}"
        return "signed", f"it is signed with {told}"
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ModuleNotFoundError:
        return "unchecked", None if key is None else "its signature can't be checked without the extra 'audit'"
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _message(header, final_hash))
    except InvalidSignature:
        return "signed", "its signature does not match it"
    except Exception:  # noqa: BLE001  whatever stands in a header or a key that somebody changed, the answer is no
        return "signed", "its signature can't be checked"
    return "signed", None


def _message(header: JsonObject, final_hash: str) -> bytes:
    return canonical_bytes({"format": _FORMAT, "header": thaw(header), "finalHash": final_hash})


def _read(given: Path | bytes) -> bytes:
    if isinstance(given, bytes):
        return given
    try:
        return given.read_bytes()
    except OSError as error:
        raise AuditKeyError(
            f"The key {str(given)!r} can't be read: {(error.strerror or type(error).__name__).lower()}.",
            fix="Check the path and its permissions.",
        ) from error


def _raw(text: str) -> bytes:
    try:
        data = bytes.fromhex(text) if len(text) == _HEX_DIGITS else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error) as error:
        raise _refused("public") from error
    if len(data) != _KEY_BYTES:
        raise _refused("public")
    return data


def _refused(kind: Literal["private", "public"]) -> AuditKeyError:
    made = (
        "genpkey -algorithm ed25519 -out key.pem" if kind == "private" else "pkey -in key.pem -pubout -out public.pem"
    )
    return AuditKeyError(
        f"It is no {kind} key for Ed25519, or has a password.", fix=f"Give a PEM file, as of: openssl {made}."
    )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(text: object) -> bytes | None:
    """What a base64 text says, if it is the one way to write it."""
    if not isinstance(text, str):
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
    return data if _text(data) == text else None
