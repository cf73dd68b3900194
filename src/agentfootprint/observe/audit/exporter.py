"""How do the events of runs become a chain of records that nobody can edit unseen?

Each record holds the hash of the one before (AUD-1), so that changing, removing or moving one shows from there on.
Invariants: the order is the order of dispatch, over all runs and threads (AUD-11); a record is kept as the text its
hash was taken of, so nothing that is handed out can change it; nothing is forgotten before it was handed over.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, EventMeta
from agentfootprint.observe.audit.bounding import PayloadMode, kept_payload
from agentfootprint.observe.audit.canonical import settled_bytes
from agentfootprint.observe.audit.files import append_segment
from agentfootprint.observe.audit.keeping import SURELY_FITS, kept_object
from agentfootprint.observe.audit.shapes import (
    CANONICALIZATION,
    FORMAT,
    GENESIS,
    HASH_ALGORITHM,
    UNATTRIBUTED,
    ZERO_HASH,
    sealed,
)
from agentfootprint.observe.audit.signing import SIGNED, Signer, SigningKey

__all__ = ["AuditExporter"]

_TOKENS: Final = frozenset({"agentfootprint.stream.token", "agentfootprint.stream.thinking_delta"})
_MODES: Final = get_args(PayloadMode)
_REMEMBERED_RUNS: Final = 10_000
"""A run that sends nothing while so many others begin is opened a second time; its records are in the chain all the
same."""
_CLOCK: Final = "wallClockMs"


class AuditExporter:
    """Keeps what happened as a chain of hashed records, for somebody who must be able to tell that nobody edited it.

    Attach it to an agent, or give it the events of a recording. What people and models said is not in it unless
    `payload_mode` says so. One exporter makes one chain, over all runs and threads that send to it. Making a record
    costs the size of what is kept of the event, about ten microseconds; records stay in memory until `drain` or `save`.

    Args:
        payload_mode: `bounded` keeps lengths, key names and types of prompts, answers, arguments and results; `strict`
            does so also for free texts such as reasons and the questions of check-ins (AUD-8); `verbatim` keeps the
            words, cut at 256 characters.
        include_token_events: Whether single tokens are records too (AUD-3).
        anchor: Called with the last hash of every segment that is drained or saved. Put that hash where whoever could
            edit the chain can't: it shows then that the end was not cut off (AUD-10). A plain function.
        agent: A name for the agent, said at the beginning of each run.
        versions: Versions of what runs here, said there too.
        signing_key: A private key for Ed25519 (a PEM file, or its bytes): every bundle is signed with it, so that who
            knows the public key can tell who wrote the chain (AUD-10). Needs the extra `audit`.

    Raises:
        ConfigError: An option has a value that can't work.
        AuditKeyError: The key is none.
        MissingExtraError: A key is given and `cryptography` is not installed.

    Example:
        >>> from agentfootprint import Agent, Mock
        >>> audit = AuditExporter()
        >>> for event in Agent(Mock(["Yes."])).run_sync("Is it true?").recording.events:
        ...     audit.export(event)
        >>> bundle = audit.bundle()
        >>> bundle["records"][0]["eventType"], len(bundle["finalHash"])
        ('audit.genesis', 64)
    """

    name: str = "audit"
    """What the exporter is called in messages."""
    default_tier: Final = "firehose"
    """A chain takes every event (SNK-2); what it leaves out by itself are tokens."""

    def __init__(
        self,
        *,
        payload_mode: PayloadMode = "bounded",
        include_token_events: bool = False,
        anchor: Callable[[str], object] | None = None,
        agent: str | None = None,
        versions: Mapping[str, str] | None = None,
        signing_key: SigningKey | None = None,
    ) -> None:
        if payload_mode not in _MODES:
            raise ConfigError(
                "payload_mode", f"There is no payload_mode {payload_mode!r}.", fix=f"Use one of {', '.join(_MODES)}."
            )
        if anchor is not None and (not callable(anchor) or inspect.iscoroutinefunction(anchor)):
            raise ConfigError(
                "anchor",
                "The anchor is no plain function.",
                fix="Give a function that takes the hash, not a coroutine.",
            )
        self.payload_mode: Final = payload_mode
        self.include_token_events: Final = include_token_events
        self._anchor = anchor
        self._signer = None if signing_key is None else Signer(signing_key)
        self._library = {"name": "agentfootprint", "version": _installed_version()}
        self._genesis: dict[str, Any] = {
            **({} if agent is None else {"agent": agent}),
            "library": self._library,
            **({} if versions is None else {"versions": kept_object(versions)}),
            "payloadMode": payload_mode,
        }
        self._lock = threading.Lock()
        self._handing_over = threading.Lock()
        self._records: list[tuple[bytes, str]] = []
        """Of each record that was not handed over: what its hash was taken of, and the hash."""
        self._runs: dict[str, None] = {}
        self._first_seq = 0
        self._chain_head = ZERO_HASH
        self._final_hash = ZERO_HASH
        self._stopped = False

    @property
    def final_hash(self) -> str:
        """The hash of the newest record; 64 zeros before the first."""
        return self._final_hash

    def export(self, event: Event[Any]) -> None:
        """Add an event to the chain; any thread may."""
        kind = event.type
        if self._stopped or (kind in _TOKENS and not self.include_token_events):
            return
        source = event.source
        payload = kept_payload(kind, event.payload if source is None else source["payload"], self.payload_mode)
        known = event.meta
        meta = _kept_meta(known) if source is None else kept_object(source.get("meta", {}))
        meta.pop(_CLOCK, None)
        run = known.run_id if known.in_run else UNATTRIBUTED
        meta["runId"] = run if len(run) <= SURELY_FITS else kept_object({"runId": run})["runId"]
        with self._lock:
            if self._stopped:
                return
            if run not in self._runs:
                self._begin(run, meta["runId"], known.wall_clock_ms)
            self._append(kind, known.wall_clock_ms, payload, meta)

    def bundle(self) -> dict[str, Any]:
        """What was recorded and not drained or saved, as a bundle that can be verified (AUD-4); the caller owns it."""
        with self._lock:
            records, first_seq, head = self._records[:], self._first_seq, self._chain_head
        return self._bundled(records, first_seq, head)

    def drain(self) -> dict[str, Any]:
        """Hand over what was recorded, as `bundle` does, and forget it; the next segment continues the chain.

        Raises:
            Exception: Whatever the anchor raised; then nothing was forgotten, and draining again is safe.
        """
        with self._handing_over:
            bundle = self.bundle()
            if self._anchor is not None:
                self._anchor(bundle["finalHash"])
            self._forget(bundle)
        return bundle

    def save(self, path: Path | str) -> Path:
        """Append what was recorded to a file, as lines of JSON, and forget it.

        Every save adds one segment; a save without anything new adds none to a file that holds this chain. Check the
        file with `agentfootprint audit verify`.

        Args:
            path: The file; it is made when it is not there. One file holds one chain.

        Returns:
            The path as given.

        Raises:
            AuditFileError: The file holds something else, another chain, or a segment that was not finished.
            FileProblemError: It can't be written. In both cases the file is as it was, and nothing was forgotten.
            Exception: Whatever the anchor raised; the segment is in the file then, and `final_hash` is its end.
        """
        with self._handing_over:
            bundle = self.bundle()
            if append_segment(Path(path), bundle):
                self._forget(bundle)
                if self._anchor is not None:
                    self._anchor(bundle["finalHash"])
        return Path(path)

    async def flush(self) -> None:
        """Nothing waits here: an event is in the chain when `export` returns."""

    async def stop(self) -> None:
        """Take no more events; what was recorded stays and can be drained or saved (AUD-4)."""
        self._stopped = True

    def _begin(self, run: str, shown: str, timestamp: int) -> None:
        if len(self._runs) >= _REMEMBERED_RUNS:
            del self._runs[next(iter(self._runs))]
        self._runs[run] = None
        self._append(GENESIS, timestamp, {"runId": shown, **self._genesis}, {"runId": shown})

    def _append(self, event_type: str, timestamp: int, payload: object, meta: dict[str, Any]) -> None:
        body = settled_bytes(
            {
                "seq": self._first_seq + len(self._records),
                "timestamp": timestamp,
                "eventType": event_type,
                "payload": payload,
                "meta": meta,
                "prevHash": self._final_hash,
            }
        )
        own_hash = hashlib.sha256(body).hexdigest()
        self._records.append((body, own_hash))
        self._final_hash = own_hash

    def _bundled(self, records: list[tuple[bytes, str]], first_seq: int, head: str) -> dict[str, Any]:
        header = {
            "format": FORMAT,
            "hashAlgorithm": HASH_ALGORITHM,
            "canonicalization": CANONICALIZATION,
            "chainHead": head,
            "firstSeq": first_seq,
            "recordCount": len(records),
            "exportedAt": time.time_ns() // 1_000_000,
            "library": dict(self._library),
        }
        final_hash = records[-1][1] if records else head
        return {
            "header": header,
            "records": [sealed(_read(body), own_hash) for body, own_hash in records],
            "finalHash": final_hash,
            **({} if self._signer is None else {SIGNED: self._signer.signed(header, final_hash)}),
        }

    def _forget(self, bundle: Mapping[str, Any]) -> None:
        """Drop what was handed over; what came meanwhile stays."""
        count = len(bundle["records"])
        with self._lock:
            del self._records[:count]
            self._first_seq += count
            self._chain_head = bundle["finalHash"]


def _kept_meta(meta: EventMeta) -> dict[str, Any]:
    """A meta as plain JSON; its texts are nearly always short, and then nothing is cut."""
    plain: dict[str, Any] = msgspec.to_builtins(meta)
    for path in (meta.subflow_path, meta.composition_path):
        if len(path) > 1 or (path and len(path[0]) > SURELY_FITS):
            return kept_object(plain)
    for value in plain.values():
        if type(value) is str and len(value) > SURELY_FITS:
            return kept_object(plain)
    return plain


def _read(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):  # half a character, which only the standard library reads
        return json.loads(body)


def _installed_version() -> str:
    try:
        return importlib.metadata.version("agentfootprint")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
