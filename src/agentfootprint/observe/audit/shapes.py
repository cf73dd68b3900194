"""Which words stand in an audit bundle: its format, its keys, the first link (AUD-1, AUD-2, AUD-4)?"""

from __future__ import annotations

from typing import Any, Final

__all__ = [
    "CANONICALIZATION",
    "FORMAT",
    "GENESIS",
    "HASH_ALGORITHM",
    "RECORD_KEYS",
    "UNATTRIBUTED",
    "ZERO_HASH",
    "sealed",
]

FORMAT: Final = "agentfootprint.audit/1"
HASH_ALGORITHM: Final = "sha-256"
CANONICALIZATION: Final = "afp-cjson/1"
ZERO_HASH: Final = "0" * 64
"""What the first record of a chain follows."""
GENESIS: Final = "audit.genesis"
"""The record that opens a run."""
UNATTRIBUTED: Final = "unattributed"
"""The run of events that belong to none."""
RECORD_KEYS: Final = ("seq", "timestamp", "eventType", "payload", "meta", "prevHash", "hash")


def sealed(body: dict[str, Any], own_hash: str) -> dict[str, Any]:
    """A record with its hash, its keys in the order of the format."""
    body["hash"] = own_hash
    return {key: body[key] for key in RECORD_KEYS}
