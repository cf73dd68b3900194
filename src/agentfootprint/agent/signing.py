"""Was a stored checkpoint edited since this key signed it?

The signature covers every member and the kind of thing it is, whatever order a store gives the keys, and is no
encryption: what is written stays readable. A text that is signed is read with its key or not at all, so leaving the
key out never skips the check.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from agentfootprint.agent.errors import CheckpointFormatError
from agentfootprint.errors import ConfigError
from agentfootprint.trace import JsonObject

__all__ = ["Kind", "read_signed", "refuse_signed", "signed", "verified"]

Kind: TypeAlias = Literal["checkpoint", "pause"]
"""What is signed; one kind is never taken for the other."""

_MEMBER: Final = "signature"
_SCHEME: Final = "hmac-sha256:"


def signed(wire: Mapping[str, Any], kind: Kind, key: str | bytes) -> dict[str, Any]:
    """A stored form with its signature.

    Args:
        wire: Plain JSON.
        kind: What it is.
        key: The secret; anybody who has it can sign.

    Raises:
        ConfigError: The key is no text and no bytes, or empty.
    """
    plain = {member: value for member, value in wire.items() if member != _MEMBER}
    return {**plain, _MEMBER: _SCHEME + _mac(plain, kind, key)}


def read_signed(text: str | bytes, kind: Kind, key: str | bytes | None, *, fix: str) -> Any:  # noqa: ANN401  what it holds is looked at by its reader
    """What a stored text holds, its signature checked where there is a key.

    Args:
        text: The text.
        kind: What it should be.
        key: The key that it was signed with, if it was.
        fix: What to do about a text that is none of a checkpoint.

    Raises:
        CheckpointFormatError: It is no text or no JSON, or the signature is not the key's.
        ConfigError: The key is no text and no bytes, or empty.
    """
    if not isinstance(text, (str, bytes, bytearray, memoryview)):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
        raise CheckpointFormatError("checkpoint", f"The checkpoint is of the type {type(text).__name__}.", fix=fix)
    try:
        wire = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as broken:
        raise CheckpointFormatError("checkpoint", "The checkpoint is no JSON.", fix=fix) from broken
    return verified(cast("JsonObject", wire), kind, key) if key is not None and isinstance(wire, Mapping) else wire


def verified(wire: Mapping[str, Any], kind: Kind, key: str | bytes) -> dict[str, Any]:
    """A stored form without its signature, which is the key's.

    Raises:
        CheckpointFormatError: It is not signed, with another key, or was edited since.
        ConfigError: The key is no text and no bytes, or empty.
    """
    found = wire.get(_MEMBER)
    plain = {member: value for member, value in wire.items() if member != _MEMBER}
    wanted = _SCHEME + _mac(plain, kind, key)
    if not isinstance(found, str):
        raise CheckpointFormatError(
            _MEMBER,
            "The checkpoint is not signed, and a key to check it with was given.",
            fix="Read what to_json(key=...) wrote, or leave the key out if it may come from anybody.",
        )
    if not hmac.compare_digest(found.encode("utf-8", "replace"), wanted.encode()):
        raise CheckpointFormatError(
            _MEMBER,
            "The checkpoint was edited since it was signed, or was signed with another key.",
            fix="Give it exactly as it was stored, with the key that it was written with.",
        )
    return plain


def refuse_signed(wire: Mapping[str, Any], reader: str) -> None:
    """Refuse a signed form where nobody has checked the signature.

    Args:
        wire: The stored form.
        reader: The method that checks it.

    Raises:
        CheckpointFormatError: It is signed.
    """
    found = wire.get(_MEMBER)
    if isinstance(found, str) and found.startswith(_SCHEME):
        raise CheckpointFormatError(
            _MEMBER, "The checkpoint is signed, and its signature was not checked.", fix=f"Read it with {reader}."
        )


def _mac(plain: Mapping[str, Any], kind: Kind, key: str | bytes) -> str:
    if not isinstance(key, (str, bytes)) or not key:  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
        raise ConfigError(
            "key",
            "The key is empty." if isinstance(key, (str, bytes)) else f"The key is of the type {type(key).__name__}.",  # pyright: ignore[reportUnnecessaryIsInstance]  as above
            fix="Give a secret text or bytes, such as secrets.token_bytes(32).",
        )
    secret = key.encode() if isinstance(key, str) else key
    text = json.dumps(plain, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hmac.new(secret, f"agentfootprint {kind}\n{text}".encode(), hashlib.sha256).hexdigest()
