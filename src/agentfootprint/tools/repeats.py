"""Is this the call that the model made before, with the same outcome?

Counting never hashes what it does not need to: arguments are put in order only when a tool gave one text twice. The
fingerprints of the wire are made when a repeat is told (03:SIZ-7).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from agentfootprint.trace import FrozenDict, JsonObject, Record, compact_json, fnv1a

__all__ = ["RepeatMode", "RepeatedCallKey", "RepeatedCalls", "fingerprint", "repeated_call_key", "repeated_call_note"]

RepeatMode: TypeAlias = Literal["result", "arguments"]


class RepeatedCallKey(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """How the wire names a call and its outcome; fingerprints are 8 hex digits."""

    key: str
    args_fingerprint: str
    result_fingerprint: str


def fingerprint(text: str) -> str:
    """The 8 hex digits of a text in a repeated-call key; the only hash of the library that is padded (03:SIZ-7)."""
    return fnv1a(text).zfill(8)


def repeated_call_key(
    tool: str, args: FrozenDict | JsonObject, text: str, mode: RepeatMode = "result"
) -> RepeatedCallKey:
    """The key of a call under which repeats are told (AGT-70).

    Args:
        tool: The tool's name.
        args: What it was called with; the order of keys does not matter.
        text: What the model read, before any suffix of the library.
        mode: With `"arguments"` the outcome is no part of the key.
    """
    asked, came = fingerprint(compact_json(args, sort_keys=True)), fingerprint(text)
    return RepeatedCallKey(f"{tool}:{asked}:{'*' if mode == 'arguments' else came}", asked, came)


def repeated_call_note(tool: str, mode: RepeatMode = "result") -> str:
    """The suffix of the second of two equal calls, and of no other (AGT-70)."""
    outcome = "and gave the same result" if mode == "result" else "already"
    return (
        f"\n\n[identical call: {tool} was called before in this run with the same arguments {outcome}. "
        "Another such call can be expected to bring nothing new.]"
    )


class RepeatedCalls:
    """How often each call came to each outcome; one a run, never recorded."""

    def __init__(self) -> None:
        self._by_outcome: dict[tuple[str, int, int], FrozenDict | dict[str, int]] = {}
        self._by_args: dict[tuple[str, str], int] = {}

    def landed(self, tool: str, args: FrozenDict, text: str, mode: RepeatMode = "result") -> int:
        """Count a call that ran, also one that failed.

        Returns:
            1 for the first of its kind, 2 for the one that gets the note, and so on.
        """
        if mode == "arguments":
            key = (tool, compact_json(args, sort_keys=True))
            self._by_args[key] = count = self._by_args.get(key, 0) + 1
            return count
        outcome = (tool, len(text), hash(text))
        seen = self._by_outcome.get(outcome)
        if seen is None:
            self._by_outcome[outcome] = args
            return 1
        if isinstance(seen, FrozenDict):
            self._by_outcome[outcome] = seen = {compact_json(seen, sort_keys=True): 1}
        asked = compact_json(args, sort_keys=True)
        seen[asked] = count = seen.get(asked, 0) + 1
        return count
