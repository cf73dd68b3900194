"""`agentfootprint audit`: did anybody edit the records of what happened?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agentfootprint.cli.errors import UsageError
from agentfootprint.cli.failing import SAYS_NO
from agentfootprint.cli.front import streams_of
from agentfootprint.cli.reading import pasteable
from agentfootprint.explain import counted, escaped, folded

if TYPE_CHECKING:
    from agentfootprint.observe import AuditVerification, SignatureState

__all__ = ["HELP", "audit"]

HELP: Final = """\
Usage: agentfootprint audit verify FILE... [OPTIONS]

Did anybody edit, remove, add or move a record since it was written? Reads the
files only. Several files are the segments of one chain, in order.

Verify     --anchor HASH     A hash that was kept elsewhere: exit 1 unless the
                             chain holds it. Shows a cut-off end.
           --key PUBKEY      A public key (PEM file, hex or base64): exit 1
                             unless every segment is signed with it.

Output     --json -q

Examples   agentfootprint audit verify run.audit.jsonl
           agentfootprint audit verify run.audit.jsonl --json
"""
_LABEL: Final = 8
_AT_BEGINNING: Final = ("shape", "format", "algorithm", "canonicalization", "continuity", "head")
"""Checks of a segment's beginning, which may name the record it would begin with."""
_SIGNED: Final[dict[SignatureState, str]] = {
    "none": "not signed",
    "by-key": "signed with the key given",
    "by-itself": "signed, by a key that it names itself",
    "unchecked": "signed, not checked",
    "broken": "wrongly signed",
}
_HASH: Final = re.compile(r"[0-9a-f]{64}")


def audit(
    context: typer.Context,
    action: Annotated[str, typer.Argument(metavar="verify")],
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE...")] = None,
    anchor: Annotated[list[str] | None, typer.Option("--anchor", metavar="HASH")] = None,
    key: Annotated[str | None, typer.Option("--key", metavar="PUBKEY")] = None,
) -> None:
    """Check that a chain of records is whole."""
    from agentfootprint.observe import AuditKeyError, verify_audit_files

    streams = streams_of(context)
    files = files or []
    if action != "verify":
        meant = " ".join(map(pasteable, [Path(action), *files]))
        raise UsageError(f"There is no audit {action!r}.", fix=f"Did you mean: agentfootprint audit verify {meant}?")
    if not files:
        raise UsageError("No file is named.", fix="Name one: agentfootprint audit verify run.audit.jsonl.")
    for given in anchor or ():
        if not _HASH.fullmatch(given.lower()):
            raise UsageError("--anchor is no hash.", fix="Give the 64 hex digits that the anchor was called with.")
    try:
        verdict = verify_audit_files(files, anchors=anchor or (), key=None if key is None else _key(key))
    except AuditKeyError as refused:
        raise UsageError(f"--key can't be used. {refused.args[0]}", fix=refused.fix) from refused
    streams.give(
        text=lambda: _told(verdict, streams.width),
        line=lambda: _line(verdict),
        document=lambda: _document(verdict, files),
    )
    if not verdict.valid:
        raise typer.Exit(SAYS_NO)


def _key(given: str) -> Path | str:
    """A public key as it was given: in a file, or as text."""
    path = Path(given)
    try:
        return path if path.is_file() or path.suffix or len(path.parts) > 1 else given
    except (OSError, ValueError):
        return given


def _told(verdict: AuditVerification, width: int) -> str:
    label = "VALID" if verdict.valid else "BROKEN"
    first, *more = _valid(verdict) if verdict.valid else _broken(verdict)
    lines = folded(escaped(first), width, start=label.ljust(_LABEL), rest=" " * _LABEL)
    for said in more:
        lines += folded(escaped(said), width, start=" " * _LABEL, rest=" " * _LABEL)
    return "\n".join(lines)


def _valid(verdict: AuditVerification) -> list[str]:
    counts = (counted(verdict.run_count, "run"), counted(verdict.segment_count, "segment"), _SIGNED[verdict.signature])
    lines = [f"{_held(verdict)}, {', '.join(counts)}"]
    if verdict.first_seq:
        lines.append(f"Begins at record {verdict.first_seq}: what came before was not given.")
    last = verdict.first_seq + verdict.records_checked - 1
    by_key = verdict.signature == "by-key"
    if verdict.anchored_to is None:
        who = "" if by_key else " or who wrote it (--key)"
        lines.append(f"Shows edits; not a cut-off end (--anchor){who}.")
    elif verdict.anchored_to == last:
        who = "" if by_key else " Can't show who wrote it: use --key."
        lines.append(f"As anchored, up to record {last}: nothing was cut off or made anew.{who}")
    else:
        lines.append(
            f"As anchored, up to record {verdict.anchored_to}. Can't show whether records after {last} are gone."
        )
    return lines


def _broken(verdict: AuditVerification) -> list[str]:
    lines = [f"{_place(verdict)}: {verdict.reason}"]
    if not verdict.records_checked:
        return [*lines, "Nothing is established."]
    intact = _span(verdict)
    if verdict.check == "anchor":
        return [*lines, f"{intact} follow each other, but the end was cut off, or the chain was made anew."]
    after = verdict.first_seq + verdict.records_checked
    begins = verdict.broken_at is not None and verdict.broken_at != after
    return [*lines, f"{intact} are intact. From {_place(verdict) if begins else after} on, nothing is established."]


def _place(verdict: AuditVerification) -> str:
    if verdict.check == "anchor":
        return "anchor"
    if verdict.check in _AT_BEGINNING or (verdict.check == "written" and verdict.broken_at is None):
        return f"header of segment {verdict.segment or 0}"
    if verdict.broken_at is None:
        return f"end of segment {verdict.segment or 0}"
    return f"record {verdict.broken_at}"


def _span(verdict: AuditVerification) -> str:
    return f"{verdict.first_seq}-{verdict.first_seq + verdict.records_checked - 1}"


def _held(verdict: AuditVerification) -> str:
    counted_records = counted(verdict.records_checked, "record")
    return f"{counted_records} ({_span(verdict)})" if verdict.records_checked else counted_records


def _line(verdict: AuditVerification) -> str:
    return f"VALID {_held(verdict)}" if verdict.valid else f"BROKEN {_place(verdict)}"


def _document(verdict: AuditVerification, files: list[Path]) -> dict[str, Any]:
    return {
        "format": "agentfootprint.audit-verification/1",
        "files": list(map(str, files)),
        **verdict.to_wire(),
        "signed": verdict.signature not in ("none", "broken"),
    }
