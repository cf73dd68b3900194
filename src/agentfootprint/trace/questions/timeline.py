"""When a key was written and read, in the order of the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from agentfootprint.trace.bundle import AnyBundle
from agentfootprint.trace.ids import path_of
from agentfootprint.trace.log import index_of
from agentfootprint.trace.questions.forward import READS_NOT_RECORDED, ReadsIndex, asked_json, pre_run_origin
from agentfootprint.trace.questions.notes import Note
from agentfootprint.trace.questions.slice import MissingSlice, source_of
from agentfootprint.trace.questions.sources import ReadsCoverage, ReadsLookup
from agentfootprint.trace.values import Record, thaw

__all__ = ["KeyTimeline", "Moment", "format_timeline", "key_timeline", "timeline_to_json"]

_SHOWN_MOMENTS: Final = 60


class Moment(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One write or read of the key."""

    kind: Literal["write", "read"]
    commit_idx: int
    runtime_stage_id: str
    stage_id: str
    stage_name: str
    verb: str | None = None
    """Of a write."""
    from_write_idx: int | None = None
    """Of a read: where the value it saw was written; `None` for the value before the run."""


@dataclass(frozen=True, slots=True)
class KeyTimeline:
    """The writes and reads of one key. Print it; `timeline_to_json` makes what files hold."""

    key: str
    before: int | None
    keys_read_kind: str
    notes: tuple[Note, ...] = ()
    moments: tuple[Moment, ...] = ()
    missing: MissingSlice | None = None
    reads_coverage: ReadsCoverage | None = None
    """How much of the reads is on record, where the source can tell."""

    def __str__(self) -> str:
        return format_timeline(self)


def key_timeline(
    log: Sequence[AnyBundle], key: str | Sequence[str], reads: ReadsLookup, *, before: int | None = None
) -> KeyTimeline:
    """Every write and read of a key before a log position, in order (FLOW-FWD-6).

    A step that reads the key and overwrites it is listed as a read first. Arguments and refusals are those of
    `forward_slice_for_key`.
    """
    index, path, source = index_of(log), path_of(key), source_of(reads)
    covered = source.coverage
    if not len(index):
        return KeyTimeline(path, before, source.kind, missing="empty-log", reads_coverage=covered)
    known = ReadsIndex(index, source)
    notes = [] if known.knows(path) else [known.unknown_key(path)]
    if notes and not known.is_blind:
        return KeyTimeline(path, before, source.kind, tuple(notes), missing="never-written", reads_coverage=covered)
    if known.is_blind:
        notes.append(READS_NOT_RECORDED)
    until = len(index) if before is None else before
    moments = tuple(_moments(known, path, until))
    if any(moment.kind == "read" and moment.from_write_idx is None for moment in moments):
        notes.append(pre_run_origin(path))
    return KeyTimeline(path, before, source.kind, tuple(notes), moments, None, covered)


def _moments(known: ReadsIndex, path: str, until: int) -> Iterator[Moment]:
    readers, writers = set(known.readers(path)), set(known.index.writes(path))
    for position in sorted(readers | writers):
        if position >= until:
            return
        bundle = known.index[position]
        step = (position, bundle.runtime_stage_id, bundle.stage_id, bundle.stage)
        if position in readers:
            yield Moment("read", *step, None, known.index.last_write_before(path, position))
        if position in writers:
            yield Moment("write", *step, next(entry.verb for entry in reversed(bundle.trace) if entry.path == path))


def timeline_to_json(timeline: KeyTimeline) -> dict[str, Any]:
    """A timeline as files hold it."""
    wire = asked_json(timeline)
    if timeline.missing is None:
        wire["moments"] = [thaw(moment) for moment in timeline.moments]
    return wire


def format_timeline(timeline: KeyTimeline) -> str:
    """A timeline as text, at most 60 moments (FLOW-FWD-7)."""
    asked = "" if timeline.before is None else f" (before commit {timeline.before})"
    lines = [f"TIMELINE for '{timeline.key}'{asked} — reads via: {timeline.keys_read_kind}"]
    if timeline.missing == "empty-log":
        lines.append("no timeline: the commit log is empty (nothing has executed).")
    elif timeline.missing is not None:
        lines.append(f"no timeline: '{timeline.key}' was never written and never read in this log.")
    elif not timeline.moments:
        lines.append("(no recorded moment for this key)")
    lines.extend(map(_moment_text, timeline.moments[:_SHOWN_MOMENTS]))
    if len(timeline.moments) > _SHOWN_MOMENTS:
        lines.append(f"… (+{len(timeline.moments) - _SHOWN_MOMENTS} more moments)")
    lines.extend(f"⚠ {note.detail}" for note in timeline.notes)
    return "\n".join(lines)


def _moment_text(moment: Moment) -> str:
    step = f"{moment.stage_name} ({moment.runtime_stage_id})"
    if moment.kind == "write":
        return f"@{moment.commit_idx} write {moment.verb} — {step}"
    seen = "BEFORE the run" if moment.from_write_idx is None else f"commit {moment.from_write_idx}"
    return f"@{moment.commit_idx} read  — {step} (value from {seen})"
