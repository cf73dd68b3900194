"""The narrative of a run, read off its journal: nothing is kept for it beyond the order in which a stage did things.

Works on any journal. Where that order was not kept (native stages, stored recordings), what a stage read is told
before what it wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Final

from agentfootprint.flow.tell.entries import Narrative, NarrativeOptions
from agentfootprint.flow.tell.narrator import Narrator, Place, Said
from agentfootprint.trace import (
    ABSENT,
    CHILD,
    REDACTED,
    BrokeRow,
    DecidedRow,
    EmittedRow,
    Execution,
    FailedRow,
    Fold,
    GrewRow,
    Journal,
    NotedRow,
    PausedRow,
    ResumedRow,
    SeededRow,
    SelectedRow,
    Value,
    as_object,
)

__all__ = ["project_narrative"]

_STAGE_ERRORS: Final = frozenset(("stage", "decider", "selector"))
_LOOKING: Final = frozenset(("read", "emit"))
_NO_ERRORS: Final = frozenset(("CancelledError", "KeyboardInterrupt", "SystemExit", "GeneratorExit"))
"""What ends a stage without being a failure of it."""


def project_narrative(journal: Journal | None, options: NarrativeOptions | None = None) -> Narrative:
    """A run in words (12): O(rows), made when asked for. What the run's redaction hides is hidden.

    Args:
        journal: The rows of a run, or of a stored one; None when there is nothing to tell.
        options: How it is told.
    """
    if journal is None:
        return Narrative()
    narrator = _Reader(journal, NarrativeOptions() if options is None else options).read()
    return Narrative(narrator.store, narrator.loops)


class _Reader:
    """One pass over the rows of a journal."""

    def __init__(self, journal: Journal, options: NarrativeOptions) -> None:
        self.veil = journal.veil
        self.journal = journal.shown()
        self.narrator = Narrator(options)
        self.fold = Fold(self.journal)
        self.seen: dict[int, int] = {}
        self.forked: set[int] = set()
        self.children: dict[int, list[str]] = {}
        """Names of the branches that started under each execution."""
        self.found: Mapping[str, Value] = {}
        """What the native stage that commits now had read."""
        self.begun: set[int] = set()
        """Steps of which something was told before their commit."""
        self.emits: dict[int, list[Said]] = {}
        self.rationale: dict[int, str] = {}

    def read(self) -> Narrator:
        rows, known = self.journal.rows, set[int]()
        for row in rows:
            if isinstance(row, Execution) and row.index not in known:
                known.add(row.index)
                if row.link == CHILD:
                    self.children.setdefault(row.parent, []).append(row.info.subflow_name or row.info.name)
        for position, row in enumerate(rows):
            seed: Mapping[str, Value] | None = None
            for commit in self.fold.commits(position):
                seed = dict(commit.writes) if commit.kind == "seed" else seed
                if commit.kind == "stage" and commit.execution.detail is None:  # what it read is what was there
                    before = commit.before
                    self.found = {key: before.get(key, ABSENT) for key in commit.execution.reads}
            after = self._after(position)
            if isinstance(row, Execution):
                self._appeared(row, after, seed)
            else:
                self._row(row, after)
        return self.narrator

    def _after(self, position: int) -> object:
        """The row that follows; what a run learns of its chart on the way tells nothing."""
        rows = self.journal.rows
        for row in rows[position + 1 : position + 4]:
            if not isinstance(row, GrewRow):
                return row
        return None

    def _appeared(self, step: Execution, after: object, seed: Mapping[str, Value] | None) -> None:
        times = self.seen[step.index] = self.seen.get(step.index, 0) + 1
        if times == 1:
            self._came(step)
        if step.info.kind == "mount":
            if times == 1:
                self._entered(step, after, seed)
            elif times == 2:  # noqa: PLR2004  the first is its entry, a third the end of a branch
                self.narrator.left(_mount(step), step.info.subflow_name)
        elif times == 2:  # noqa: PLR2004  its commit
            self._committed(step, after)

    def _came(self, step: Execution) -> None:
        """How control came to a step, where that has a line of its own."""
        parent = self.journal.execution(step.parent)
        if parent is None:
            return
        if step.link > 0:
            name, text = step.info.name, step.info.description
            self.narrator.looped(_place(parent), name, step.link, text)
        elif step.link == CHILD and parent.info.kind not in ("decider", "selector"):
            self._forked(parent)

    def _forked(self, parent: Execution) -> None:
        if parent.index in self.forked:
            return
        self.forked.add(parent.index)
        declared = [self.journal.stages[number].name for number in parent.info.children]
        at = _place(parent)
        if parent.info.kind == "foreach":  # it goes on when its branches are done
            self.narrator.did(at, self._begun(parent))
        self.narrator.forked(at, declared or self.children[parent.index], parent.info.description)

    def _entered(self, mount: Execution, after: object, seed: Mapping[str, Value] | None) -> None:
        if isinstance(after, FailedRow) and after.execution is mount and after.where == "inputMapper":
            return
        info = mount.info
        given = self.journal.base_states.get(mount.index, seed if seed is not None else {})
        if isinstance(after, SeededRow):  # the map is a function
            given = after.writes
        entry = self.journal.stages[info.number].entry
        first = self.journal.stages[entry].description if entry >= 0 else None
        self.narrator.entered(_mount(mount), info.subflow_name, first, self._given(given))

    def _given(self, given: Mapping[str, Value]) -> Mapping[str, Value]:
        """What a mount began with, as recorders are told it: they have another word for what a log redacts."""
        if self.veil is None:
            return given
        word = self.veil.placeholder
        return {key: word if value == REDACTED else value for key, value in given.items()}

    def _committed(self, step: Execution, after: object) -> None:
        at = _place(step)
        if isinstance(after, (FailedRow, PausedRow)) and after.execution is step:
            return
        said = list(self._said(step))
        self.narrator.did(at, said[len(self._begun(step)) :] if step.index in self.begun else said)
        if step.info.kind in ("stage", "streaming", "pausable"):
            self.narrator.executed(at, step.info.description)
            if step.info.children and not isinstance(
                after, BrokeRow
            ):  # told before they begin: siblings may come first
                self._forked(step)
        elif step.info.kind not in ("decider", "selector"):
            self.narrator.spread(at, step.info.description)

    def _row(self, row: object, after: object) -> None:
        narrator = self.narrator
        match row:
            case DecidedRow():
                self._decided(row)
            case SelectedRow():
                self._selected(row)
            case BrokeRow():
                narrator.broke(_own(row.execution), row.reason, row.from_subflow)
            case PausedRow():
                narrator.paused(_own(row.execution))
            case ResumedRow():
                self._resumed(row, after)
            case FailedRow(execution=Execution() as step) if row.where in _STAGE_ERRORS and row.name not in _NO_ERRORS:
                narrator.failed(_place(step), f"{row.name}: {row.message}", row.issues)
            case NotedRow(bag="logs", key="deciderRationale", value=str() as rationale):
                self.rationale[row.execution.index] = rationale
            case EmittedRow():
                self.emits.setdefault(row.execution.index, []).append(("emit", row.name, row.payload))
            case _:
                pass

    def _decided(self, row: DecidedRow) -> None:
        step = row.execution
        chosen = self.journal.stages[row.chosen].name
        rationale = self.rationale.get(step.index)
        self.narrator.decided(_place(step), chosen, step.info.description, rationale, as_object(row.evidence))

    def _selected(self, row: SelectedRow) -> None:
        info, at = row.execution.info, _place(row.execution)
        names = [self.journal.stages[number].name for number in row.chosen]
        self.narrator.selected(at, names, len(info.children), info.description, as_object(row.evidence))
        if names:
            self.narrator.forked(at, names)

    def _resumed(self, row: ResumedRow, after: object) -> None:
        info = self.journal.stages[row.stage]
        index = after.index if isinstance(after, Execution) else 0
        at = Place(info.name, info.id, f"{info.id}#{index}", "/".join(info.path))
        self.narrator.resumed(at, has_input=row.has_input)

    def _begun(self, step: Execution) -> list[Said]:
        """What a stage that fans out did before its branches began: all up to its first write."""
        self.begun.add(step.index)
        return list(takewhile(lambda said: said[0] in _LOOKING, self._said(step)))

    def _said(self, step: Execution) -> Iterator[Said]:
        """What a stage did, in the order it did it where that was kept."""
        told = self.emits.get(step.index, [])
        detail = step.detail
        if detail is not None and detail.said is not None:
            yield from detail.said
            return
        if detail is None:
            yield from (("read", key, self.found.get(key, ABSENT)) for key in step.reads)
            yield from (("delete" if value is ABSENT else "set", key, value) for key, value in step.writes.items())
        else:
            yield from (("read", key, value) for key, value in detail.read_values.items())
            yield from ((operation, key, value) for key, (value, operation) in detail.tracked.items())
        yield from told


def _place(step: Execution) -> Place:
    return Place(step.info.name, step.info.id, step.runtime_stage_id, "/".join(step.info.path))


def _mount(step: Execution) -> Place:
    """The place of a mount's own lines: its inside."""
    return Place(step.info.name, step.info.id, step.runtime_stage_id, step.info.subflow_id)


def _own(step: Execution) -> Place:
    return _mount(step) if step.info.kind == "mount" else _place(step)
