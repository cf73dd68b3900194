"""Is a session id an opaque text to a store, whatever stands in it?

An id may be refused. One that was accepted must open its own session and no other, so every mapping of ids to keys must
be injective: the pairs below are what mappings that are not have been seen to confuse.
"""

from __future__ import annotations

from agentfootprint.hosting.cases.case import expect, opened, said
from agentfootprint.hosting.sessions.port import SessionStore

__all__ = ["AWKWARD", "FOLDED", "awkward"]

_LONG = 1000

AWKWARD = (
    *(
        "a/b",
        "/",
        "a b",
        " ",
        "..",
        "../../etc/passwd",
        "a\\b",
        "😀",
        "日本語",
        "'",
        '"',
        "'; DROP TABLE agent_sessions; --",
    ),
    *("a\0b", "a\0c", "%", "_", "%00", "a\nb", "constructor", "__proto__", "null", "x" * _LONG),
)
"""Ids that are hard on paths, on queries and on texts."""


def _pairs(base: str) -> tuple[tuple[str, str, str], ...]:
    """Pairs of ids that are not the same, each with what would make them so; both of a pair come from one base."""
    long = (base * _LONG)[:_LONG]
    return (
        ("percent-decoding", f"{base}%2F1", f"{base}/1"),
        ("replacing what is unsafe by a filler", f"{base}/1", f"{base}_1"),
        ("replacing what is unsafe by one filler", f"{base}:1", f"{base}?1"),
        ("taking _ and - for one", f"{base}_1", f"{base}-1"),
        ("folding case", f"{base}A", f"{base}a"),
        ("composing characters (NFC)", f"{base}\u00e9", f"{base}e\u0301"),
        ("folding case past ASCII", f"{base}\u00c9", f"{base}\u00e9"),
        ("folding compatible characters (NFKC)", f"{base}\ufb01", f"{base}fi"),
        ("dropping what has no width", f"{base}\u200b1", f"{base}1"),
        ("cutting the tail", f"{long}a", f"{long}b"),
        ("losing the head", f"a{long}", f"b{long}"),
        ("dropping a prefix", f"session-{base}", base),
        ("cutting the front", f"{base}{long}", long),
    )


FOLDED = _pairs("conversation")


async def awkward(store: SessionStore) -> None:
    """Awkward ids come back; no two are taken for one."""
    accepted = [session_id for session_id in AWKWARD if await _accepted(store, session_id, session_id)]
    for session_id in accepted:
        found = await opened(store, session_id)
        expect(
            found == session_id,
            f"The session id {session_id[:40]!r} does not open its session.",
            "Keep ids as they are.",
        )
    for mapping, one, other in FOLDED:
        stored = {
            key: text
            for key, text in ((one, f"one {mapping}"), (other, f"other {mapping}"))
            if await _accepted(store, key, text)
        }
        for key, text in stored.items():
            expect(
                await opened(store, key) == text, f"Two session ids became one by {mapping}.", "Map ids injectively."
            )


async def _accepted(store: SessionStore, session_id: str, text: str) -> bool:
    try:
        await store.persist(session_id, said(text))
    except Exception:  # noqa: BLE001  an id may be refused, by any error
        return False
    return True
