"""Is a chain of records whole, and if not, which record is the first that nothing can be said of (AUD-9)?

A check is fed header, records and end of one segment after the other, and remembers only the last link, so a chain of
any length is checked as it is read. Invariant: nothing that is fed to it makes it raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, TypeGuard, cast

from agentfootprint.observe.audit.canonical import record_hash
from agentfootprint.observe.audit.shapes import CANONICALIZATION, FORMAT, GENESIS, HASH_ALGORITHM, ZERO_HASH
from agentfootprint.observe.audit.signing import SIGNED, VerifyKey, public_key_of, signature_problem
from agentfootprint.trace import JsonObject, Value, thaw

__all__ = ["AuditVerification", "ChainCheck", "Damaged", "FailedCheck", "SignatureState", "verify_audit"]

FailedCheck: TypeAlias = Literal[
    "shape", "format", "algorithm", "canonicalization", "count", "continuity", "head", "sequence", "link", "hash",
    "written", "end", "anchor", "signature",
]  # fmt: skip
"""What did not hold, in the order it is looked at; `written` and `anchor` are of files only."""
SignatureState: TypeAlias = Literal["none", "by-key", "by-itself", "unchecked", "broken"]
"""Whether a chain is signed: not; by the key that was given; by the key that it names itself, which shows an edit and
not who wrote it; it is, and `cryptography` is not here to check it; or not by whom, or not what, it says."""

_FIELDS: Final[tuple[tuple[str, str, FailedCheck], ...]] = (
    ("format", FORMAT, "format"),
    ("hashAlgorithm", HASH_ALGORITHM, "algorithm"),
    ("canonicalization", CANONICALIZATION, "canonicalization"),
)
_LEAST_FIRST: Final[tuple[SignatureState, ...]] = ("broken", "none", "unchecked", "by-itself", "by-key")
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerification:
    """Whether a chain of audit records is whole, and which record is the first that is not established.

    It is evidence of change, not of origin (AUD-10): a chain whose end was cut off, or that was made anew from the
    first record, is whole. An anchor, a hash that is kept elsewhere, shows both, and a signature shows who wrote it.
    """

    valid: bool
    """Whether everything that was given is one whole chain."""
    records_checked: int
    """Records that were found whole, in all segments."""
    broken_at: int | None = None
    """The `seq` of the record that is wrong, or missing; `None` when none is, or when it is a header or an end."""
    reason: str | None = None
    """What is wrong, in words."""
    check: FailedCheck | None = None
    """Which check failed."""
    segment: int | None = None
    """The segment that is wrong, from 0."""
    segment_count: int = 0
    """Segments that were begun."""
    run_count: int = 0
    """Runs that begin in what was checked."""
    first_seq: int = 0
    """The `seq` the first segment begins with; not 0 when earlier segments were not given."""
    final_hash: str | None = None
    """The last hash that is established; keep it elsewhere and it is an anchor."""
    anchored_to: int | None = None
    """The `seq` of the newest record that a given anchor covers; `None` without an anchor."""
    signature: SignatureState = "none"
    """Whether it is signed, and by whom."""

    def to_wire(self) -> dict[str, Any]:
        """The verdict as JSON; a key that has nothing to say is left out."""
        return {
            "valid": self.valid,
            "recordsChecked": self.records_checked,
            **({} if self.broken_at is None else {"brokenAt": self.broken_at}),
            **({} if self.reason is None else {"reason": self.reason}),
            **({} if self.check is None else {"check": self.check}),
            **({} if self.segment is None else {"segment": self.segment}),
            "segmentCount": self.segment_count,
            "runCount": self.run_count,
            "firstSeq": self.first_seq,
            **({} if self.final_hash is None else {"finalHash": self.final_hash}),
            **({} if self.anchored_to is None else {"anchoredTo": self.anchored_to}),
            **({} if self.signature == "none" else {"signature": self.signature}),
        }


@dataclass(frozen=True, slots=True)
class Damaged:
    """Stands where a file holds something that can't be read as what was written there."""

    reason: str


def verify_audit(bundle: JsonObject | Sequence[JsonObject], *, key: VerifyKey | None = None) -> AuditVerification:
    """Check that nobody changed, removed, added or moved a record (AUD-9). Offline; never raises on what it is given.

    Costs one hash of each record.

    Args:
        bundle: What `AuditExporter.bundle` or `drain` gave, or the segments of one chain in order.
        key: The public key that every segment must be signed with: the path of a PEM file or its bytes, or the 32
            bytes as hex or base64. Needs the extra `audit`.

    Returns:
        The verdict; `broken_at` names the first record that is not established.

    Raises:
        AuditKeyError: The key is none.
        MissingExtraError: A key is given and `cryptography` is not installed.

    Example:
        >>> from agentfootprint.observe import AuditExporter
        >>> verify_audit(AuditExporter().bundle()).valid
        True
    """
    if isinstance(bundle, Mapping):
        segments: list[Value] = [bundle]
    else:
        given: Value = bundle
        is_list = isinstance(given, Iterable) and not isinstance(given, (str, bytes))
        segments = list(cast("Iterable[Any]", given)) if is_list else [given]
    chain = ChainCheck(key=None if key is None else public_key_of(key))
    for segment in segments:
        if not chain.whole_segment(segment):
            break
    return chain.verdict()


class ChainCheck:
    """One chain as it is read. Every method says whether the chain is whole so far; after a no, nothing more is fed."""

    def __init__(self, anchors: Iterable[str] = (), *, key: bytes | None = None) -> None:
        self._key = key
        self._header: JsonObject = {}
        self._signatures: set[SignatureState] = set()
        self._anchors = {anchor.lower() for anchor in anchors}
        self._unmet = set(self._anchors)
        self._anchored_to: int | None = None
        self._failure: dict[str, Any] = {}
        self._segments = 0
        self._runs = 0
        self._checked = 0
        self._first_seq = 0
        self._start = 0
        self._expected = 0
        self._last = ZERO_HASH
        self.count: int = 0
        """Records that the header of this segment announces."""

    @property
    def seq(self) -> int:
        """The number the next record must have."""
        return self._expected

    @property
    def in_segment(self) -> int:
        """Records of this segment that were found whole."""
        return self._expected - self._start

    def whole_segment(self, bundle: Value) -> bool:
        """Check one bundle, all of it, in the order of AUD-9."""
        parts: Mapping[str, Any] = cast("Mapping[str, Any]", bundle) if isinstance(bundle, Mapping) else {}
        header, records, final = parts.get("header"), parts.get("records"), parts.get("finalHash")
        is_list = isinstance(records, Iterable) and not isinstance(records, (str, bytes, Mapping))
        if isinstance(header, Damaged):
            return self.refuse("written", header.reason)
        if not (isinstance(header, Mapping) and is_list and isinstance(final, str)):
            return self.refuse("shape", "header, records and finalHash are not all there")
        listed = list(cast("Iterable[Any]", records))
        if not (self.open(header, given=len(listed)) and all(map(self.record, listed))):
            return False
        return self.close(final, parts.get(SIGNED))

    def open(self, header: Value, *, given: int | None = None) -> bool:  # noqa: PLR0911  a check each, in order
        """Begin a segment.

        Args:
            header: Its header.
            given: How many records it holds, if that is known already.
        """
        if not isinstance(header, Mapping):
            return self.refuse("shape", "the header is no object")
        stated = cast("Mapping[str, Any]", header)
        for key, known, check in _FIELDS:
            if stated.get(key) != known:
                return self.refuse(check, f"its {key} is {_shown(stated.get(key))}, and only {known} is known here")
        head, first, count = stated.get("chainHead"), stated.get("firstSeq"), stated.get("recordCount")
        if not (_is_count(count) and (given is None or count == given)):
            there = "" if given is None else f", and {given} records are there"
            return self.refuse("count", f"its recordCount is {_shown(count)}{there}")
        if not (_is_count(first) and isinstance(head, str)):
            return self.refuse("shape", "firstSeq or chainHead of the header can't be read")
        if self._segments and head != self._last:
            return self.refuse(
                "continuity", "it does not follow the segment before: another chain, or one left out", first
            )
        if self._segments and first != self._expected:
            return self.refuse("continuity", f"its firstSeq is {first}, after {self._expected - 1}", first)
        if (first == 0) is not (head == ZERO_HASH):
            return self.refuse("head", f"its firstSeq is {first}, and its chainHead does not fit that", first)
        if not self._segments:
            self._first_seq = first
        self._segments += 1
        self._header = stated
        self._start = self._expected = first
        self._last = head
        self.count = count
        self._meet_anchor()
        return True

    def record(self, record: Value) -> bool:
        """Check the next record."""
        expected = self._expected
        if not isinstance(record, Mapping):
            if isinstance(record, Damaged):
                return self.fail("written", record.reason, expected)
            return self.fail("shape", "it is no object", expected)
        body = dict(cast("Mapping[str, Any]", record))
        own_hash = body.pop("hash", None)
        if body.get("seq") != expected:
            return self.fail("sequence", f"its seq is {_shown(body.get('seq'))}, not {expected}", expected)
        if body.get("prevHash") != self._last:
            return self.fail("link", "its prevHash is not the hash of the record before", expected)
        if not isinstance(own_hash, str) or not _is_hash_of(own_hash, body):
            return self.fail("hash", "its content does not match its hash", expected)
        self._last = own_hash
        self._expected = expected + 1
        self._checked += 1
        if body.get("eventType") == GENESIS:
            self._runs += 1
        if self._unmet:
            self._meet_anchor()
        return True

    def close(self, final_hash: Value, signed: Value = None) -> bool:
        """End the segment.

        Args:
            final_hash: The last hash that it states.
            signed: Its signature.
        """
        if final_hash != self._last:
            return self.fail("end", "its finalHash is not the hash of its last record")
        found, problem = signature_problem(signed, self._header, self._last, self._key)
        if problem is not None:
            self._signatures.add("none" if found == "unsigned" else found if found == "unchecked" else "broken")
            return self.fail("signature", problem)
        told: SignatureState = "by-itself" if self._key is None else "by-key"
        self._signatures.add("none" if found == "unsigned" else "unchecked" if found == "unchecked" else told)
        return True

    def fail(
        self, check: FailedCheck, reason: str, broken_at: int | None = None, *, segment: int | None = None
    ) -> Literal[False]:
        """Say what is wrong.

        Args:
            check: The check that failed.
            reason: The same in words.
            broken_at: The record's `seq`; `None` when it is no record.
            segment: The segment; the one that was begun last when not given.
        """
        where = max(self._segments - 1, 0) if segment is None else segment
        self._failure = {"check": check, "reason": reason, "broken_at": broken_at, "segment": where}
        return False

    def refuse(self, check: FailedCheck, reason: str, broken_at: int | None = None) -> Literal[False]:
        """Say what is wrong with the header of the segment that would begin now."""
        return self.fail(check, reason, broken_at, segment=self._segments)

    def verdict(self) -> AuditVerification:
        """What was found."""
        if not self._failure and not self._segments:
            self.fail("shape", "no bundle is there")
        if not self._failure and self._unmet:
            self.fail("anchor", f"the hash {min(self._unmet)[:12]}... is not in it")
        return AuditVerification(
            valid=not self._failure,
            records_checked=self._checked,
            segment_count=self._segments,
            run_count=self._runs,
            first_seq=self._first_seq,
            final_hash=self._last if self._segments else None,
            anchored_to=self._anchored_to,
            signature=self._signed(),
            **self._failure,
        )

    def _signed(self) -> SignatureState:
        """What holds for all segments: the least that holds for one."""
        for state in _LEAST_FIRST:
            if state in self._signatures:
                return state
        return "none"

    def _meet_anchor(self) -> None:
        if self._last in self._unmet:
            self._unmet.discard(self._last)
            self._anchored_to = self._expected - 1


def _is_hash_of(own_hash: str, body: dict[str, Any]) -> bool:
    """Whether a record has this hash; frozen values in it are made plain first."""
    try:
        return own_hash == record_hash(body) or own_hash == record_hash(thaw(body))
    except Exception:  # noqa: BLE001  whatever stands in a record that somebody changed, the answer is no
        return False


def _is_count(value: Value) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _shown(value: Value) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
