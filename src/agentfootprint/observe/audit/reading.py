"""What do files of audit records hold, and is it one whole chain? Damage is told by the record it is in.

Two forms are read, known by content: the lines that `AuditExporter.save` writes, and bundles as one JSON document. A
file of lines is checked as it is read, a line at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, cast

from agentfootprint.observe.audit.canonical import record_hash
from agentfootprint.observe.audit.checking import AuditVerification, ChainCheck, Damaged
from agentfootprint.observe.audit.files import END, HEADER, HEADER_HASH, file_refused, line_of
from agentfootprint.observe.audit.signing import SIGNED, VerifyKey, public_key_of
from agentfootprint.observe.errors import AuditFileError
from agentfootprint.trace import Value

__all__ = ["verify_audit_files"]

_LOOKED_AT: Final = 4096
"""Bytes at the beginning of a file that say what it is."""
_SIGNS: Final = (b'"chainHead"', b'"prevHash"', b'"firstSeq"', b'"finalHash"', b'"records"')
_FIX: Final = "Name a file written by AuditExporter.save, or a bundle of it as JSON."
_SEQ: Final = re.compile(rb'"seq"\s*:\s*(\d{1,15})')
_TORN: Final = "the file ends in the middle of its line"
_REWRITTEN: Final = "its line is not as it was written"


def verify_audit_files(
    paths: Sequence[Path | str], *, anchors: Iterable[str] = (), key: VerifyKey | None = None
) -> AuditVerification:
    """Check the chain that stands in one or several files, in order. Offline.

    Args:
        paths: Files written by `AuditExporter.save`, or bundles as JSON documents.
        anchors: Hashes of the chain that were kept elsewhere; each must be in it.
        key: The public key that every segment must be signed with, as `verify_audit` takes it.

    Returns:
        The verdict, as of `verify_audit`; a changed byte of a file names the record it is in.

    Raises:
        AuditFileError: A file holds no audit records.
        FileProblemError: A file can't be read.
        AuditKeyError: The key is none.
        MissingExtraError: A key is given and `cryptography` is not installed.
    """
    check = ChainCheck(anchors, key=None if key is None else public_key_of(key))
    for path in map(Path, paths):
        try:
            with path.open("rb") as file:
                if not _fed(check, file, where=str(path)):
                    break
        except AuditFileError:
            raise
        except (OSError, ValueError) as error:
            raise file_refused(error, path, "read") from error
    return check.verdict()


def _fed(check: ChainCheck, file: Any, *, where: str) -> bool:  # noqa: ANN401  a binary file
    beginning = cast("bytes", file.read(_LOOKED_AT))
    if not any(sign in beginning for sign in _SIGNS):
        held = "it holds no audit records" if beginning else "it is empty"
        raise AuditFileError(f"{where!r} can't be verified: {held}.", fix=_FIX, where=where)
    if not _is_lines(beginning):
        return _document(check, beginning + file.read(), where=where)
    file.seek(0)
    return _Lines(check).read(file)


def _is_lines(beginning: bytes) -> bool:
    """Whether it is a file of lines, whatever happened to one of the first two."""
    first, _, more = beginning.partition(b"\n")
    return more.startswith((b'{"seq":', b'{"finalHash":')) or (
        first.startswith(b'{"header":{') and b'"records":' not in first
    )


class _Lines:
    """Reads the lines of a file into a check."""

    def __init__(self, check: ChainCheck) -> None:
        self._check = check
        self._header: dict[str, Any] | None = None
        """Of the segment that is open."""

    def read(self, lines: Iterable[bytes]) -> bool:
        """Feed all lines; whether the chain is whole so far."""
        return all(map(self._line, lines)) and self._at_end()

    def _line(self, raw: bytes) -> bool:
        if self._header is None:
            return self._begin(raw)
        if self._check.in_segment < self._check.count and not raw.startswith(b'{"finalHash"'):
            return self._check.record(_read(raw))
        return self._end(_read(raw))

    def _begin(self, raw: bytes) -> bool:
        read = _read(raw)
        if isinstance(read, Damaged):
            return self._check.refuse("written", read.reason)
        if set(read) != {HEADER} or not isinstance(read[HEADER], dict):
            return self._check.refuse("written", "a header is expected, and this is none")
        self._header = cast("dict[str, Any]", read[HEADER])
        return self._check.open(self._header)

    def _end(self, read: dict[str, Any] | Damaged) -> bool:
        header, self._header = self._header or {}, None
        seq = self._check.seq
        if isinstance(read, Damaged):
            return self._check.fail("end", f"its last line can't be read: {read.reason}")
        if set(read) - {SIGNED} != {END, HEADER_HASH}:
            return self._check.fail("count", "its header does not count this record", seq)
        if read[HEADER_HASH] != record_hash(header):
            return self._check.fail("written", "its header is not the one it was closed with")
        if self._check.in_segment < self._check.count:
            return self._check.fail("count", f"it is missing: the header counts {self._check.count} records", seq)
        return self._check.close(read[END], read.get(SIGNED))

    def _at_end(self) -> bool:
        if self._header is None:
            return True
        missing = self._check.count - self._check.in_segment
        if missing:
            return self._check.fail("count", "it is missing: the file ends before it", self._check.seq)
        return self._check.fail("end", "its last line is missing: the file ends before it")


def _read(raw: bytes) -> dict[str, Any] | Damaged:
    """A line as an object, or why it is none that was written here."""
    if not raw.endswith(b"\n"):
        return Damaged(_TORN)
    line = raw[:-1]
    try:
        read = cast("dict[str, Any]", json.loads(line))
        return read if type(read) is dict and line_of(read) == line else Damaged(_REWRITTEN)
    except (ValueError, RecursionError):
        return Damaged("its line can't be read as JSON")


def _document(check: ChainCheck, data: bytes, *, where: str) -> bool:
    """One JSON document: a bundle, or a list of them."""
    try:
        whole = json.loads(data.decode(), object_pairs_hook=_each_key_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        return check.fail("written", "the file can't be read as JSON from here on", _place(error, data))
    if isinstance(whole, Damaged):
        return check.refuse("written", whole.reason)
    if isinstance(whole, list):
        return all(map(check.whole_segment, cast("list[Any]", whole)))
    if not isinstance(whole, dict) or not {HEADER, "records", END} & set(cast("dict[str, Any]", whole)):
        raise AuditFileError(f"{where!r} can't be verified: it holds no audit records.", fix=_FIX, where=where)
    return check.whole_segment(whole)


def _place(error: Exception, data: bytes) -> int | None:
    """The `seq` of the record that stands where a document stops being JSON, as far as its text tells."""
    before = data
    if isinstance(error, json.JSONDecodeError):
        before = error.doc[: error.pos].encode()
    elif isinstance(error, UnicodeDecodeError):
        before = data[: error.start]
    seen = _SEQ.findall(before)
    return int(seen[-1]) if seen else None


def _each_key_once(pairs: list[tuple[str, Value]]) -> dict[str, Value] | Damaged:
    read = dict(pairs)
    return read if len(read) == len(pairs) else Damaged("a key stands in it twice")


def _no_number(word: str) -> Damaged:
    return Damaged(f"{word} is no JSON")
