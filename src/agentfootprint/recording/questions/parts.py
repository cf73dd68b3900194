"""Which agents ran inside a run, and whose answer did each get to read?

A composition runs agents as mounts: each has a log of its own within the one journal, and what it was asked stands in
the state around its mount. So every question that can be asked of an agent's run can be asked of such a part.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from agentfootprint.recording.native.toplog import Mark
from agentfootprint.recording.questions.calls import call_marks
from agentfootprint.recording.questions.trail import JournalTrail, Trail
from agentfootprint.trace import Execution, Journal, JsonObject, MappedRow, SeededRow, as_list, as_object

__all__ = ["Layout", "Part", "layout_of"]

_FORWARDED: Final = ("current", "userMessage", "branchResults", "branchErrors", "merged", "result")
"""Keys of compositions that hold what somebody said."""
_SAID_BY_CHILDREN: Final = frozenset(("current", "result", "branchResults", "branchErrors"))
"""Those that every child of its composition writes."""
_ANSWERS: Final[Mapping[str, str]] = {
    "Sequence": "current",
    "Loop": "current",
    "Parallel": "merged",
    "Conditional": "result",
    "Function": "result",
}
"""The key of each kind that holds its answer."""


class Part(msgspec.Struct, frozen=True, eq=False):
    """One run of an agent inside a run."""

    step: Execution
    """The mount's execution."""
    agent: JsonObject
    """What the header says about the agent."""

    @property
    def id(self) -> str:
        """The mount's runtime stage id: `step-ask#4`."""
        return self.step.runtime_stage_id


class _Held(NamedTuple):
    """The value of a key, at some time."""

    home: int
    """Index of the mount whose state it is in; -1 at the top."""
    key: str
    position: int
    """How many commits of that runtime there were."""


class Layout:
    """How the parts of a run hang together.

    Args:
        composition: What the header says about it.
        journal: The rows, of a run that has ended or as they are now.
    """

    def __init__(self, composition: JsonObject, journal: Journal) -> None:
        self._journal = journal
        self._kinds: dict[str, str] = {}
        self._agents: dict[str, JsonObject] = {}
        self._kind = str(composition.get("kind", ""))
        self._read(composition, "")
        self.parts: tuple[Part, ...] = tuple(
            Part(step, self._agents[step.info.id])
            for step in journal.executions().values()
            if step.info.kind == "mount" and step.info.id in self._agents
        )
        """In the order they began."""
        self._by_index = {part.step.index: part for part in self.parts}
        self._trails: dict[int, JournalTrail] = {}
        self._seeds = dict(journal.seeds)
        self._begun_at: dict[int, int] = {}
        self._ended_at: dict[int, int] = {}
        self._given_out: set[int] = set()
        for number, row in enumerate(journal.rows):
            if isinstance(row, SeededRow):
                self._seeds[row.execution.index] = row
            elif isinstance(row, MappedRow):
                self._given_out.add(row.mount.index)
            elif isinstance(row, Execution) and row.info.kind == "mount":
                (self._ended_at if row.index in self._begun_at else self._begun_at)[row.index] = number

    def _read(self, composition: JsonObject, above: str) -> None:
        for child in as_list(composition.get("children")) or ():
            found: JsonObject = as_object(child) or {}
            mount = f"{above}{found.get('mount')}"
            inner = as_object(found.get("composition"))
            if inner is not None:
                self._kinds[mount] = str(inner.get("kind", ""))
                self._read(inner, f"{mount}/")
            else:
                self._agents[mount] = as_object(found.get("agent")) or {}

    def part_at(self, index: int) -> Part | None:
        """The part that an execution ran in."""
        step = self._journal.execution(index)
        while step is not None:
            if step.index in self._by_index:
                return self._by_index[step.index]
            step = self._journal.execution(step.mount)
        return None

    def is_over(self, part: Part) -> bool:
        """Whether a part ended well: what it came to was handed on."""
        return part.step.index in self._given_out

    def trail(self, home: int) -> JournalTrail:
        """The trail of what ran in a mount, or of the top."""
        known = self._trails.get(home)
        if known is None:
            among = range(self._begun_at.get(home, 0), self._ended_at.get(home, sys.maxsize))
            known = self._trails[home] = JournalTrail(self._journal, self._journal.execution(home), among=among)
        known.refresh()
        return known

    def calls(self) -> list[tuple[Trail, Mark, Mark | None]]:
        """The model calls of all parts, and those that belong to none, in the order they began."""
        found: list[tuple[Trail, Mark, Mark | None]] = []
        for part in self.parts:
            trail = self.trail(part.step.index)
            found += [(trail, *pair) for pair in call_marks(trail.marks)]
        top = self.trail(-1)
        known = {start.row for _, start, _ in found}
        found += [(top, *pair) for pair in call_marks(top.marks) if pair[0].row not in known]
        return sorted(found, key=lambda each: each[1].row)

    @property
    def answer_key(self) -> str | None:
        """The key of the top that holds the answer."""
        return _ANSWERS.get(self._kind)

    def answering(self) -> tuple[Part, ...]:
        """The parts whose answers the answer of the run was made from, in the order they began."""
        key = self.answer_key
        return () if key is None else self._behind(_Held(-1, key, len(self.trail(-1).log)))

    def asked_by(self, part: Part) -> tuple[Part, ...]:
        """The parts whose answers a part was given, in the order they began."""
        return self._behind(*self._given(part.step))

    def _behind(self, *held: _Held) -> tuple[Part, ...]:
        """The parts behind values; a loop of many passes makes a long way of it, and no deep one."""
        found: set[Part] = set()
        waiting, seen = list(held), set(held)
        while waiting:
            for each in self._made_of(waiting.pop()):
                if isinstance(each, Part):
                    found.add(each)
                elif each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return tuple(sorted(found, key=lambda part: part.step.index))

    def _given(self, mount: Execution | None) -> Iterator[_Held]:
        """What a mount began with."""
        if mount is None:
            return
        seeded = self._seeds.get(mount.index)
        keys = [source for _, source in mount.info.in_map or ()] if seeded is None else list(seeded.reads or ())
        position = self._begun(mount)
        for key in keys:
            yield _Held(mount.mount, key, position)

    def _begun(self, mount: Execution) -> int:
        """How many commits of the runtime around it stood when a mount began."""
        trail = self.trail(mount.mount)
        return sum(1 for index in trail.top.executions if index < mount.index)

    def _made_of(self, held: _Held) -> Iterator[Part | _Held]:
        """What the value of a key was made of: answers of parts, and values of other keys."""
        home, key, position = held
        top = self.trail(home).top
        around = self._journal.execution(home)
        places = self._places(home, key, position)
        if not places:
            yield from self._given(around)
            return
        for place in places if key in ("branchResults", "branchErrors") else places[-1:]:
            row: Any = self._journal.rows[top.rows[place]]
            if isinstance(row, MappedRow):
                yield from self._from_mount(row.mount)
                continue
            read = [name for name in row.reads if name in _FORWARDED]
            for name in read:
                yield _Held(home, name, place)
            if not read:  # the first step of a composition takes what that was asked
                yield from self._given(around)

    def _places(self, home: int, key: str, position: int) -> list[int]:
        """The commits that gave a key its value: what a child said counts, also where it was the same as before."""
        top = self.trail(home).top
        written = set(top.keys.get(key, ()))
        if key in _SAID_BY_CHILDREN:
            rows = self._journal.rows
            written |= {place for place, row in enumerate(top.rows) if row >= 0 and isinstance(rows[row], MappedRow)}
        return sorted(place for place in written if place < position)

    def _from_mount(self, mount: Execution) -> Iterator[Part | _Held]:
        part = self._by_index.get(mount.index)
        kind = self._kinds.get(mount.info.id, "Function")
        if part is not None:
            yield part
        elif kind == "Function":  # what it makes of what it was asked, is made of that
            yield from self._given(mount)
        else:
            yield _Held(mount.index, _ANSWERS[kind], len(self.trail(mount.index).log))


def layout_of(header: JsonObject, journal: Journal) -> Layout | None:
    """How the parts of a run hang together; `None` for a run of one agent."""
    composition = as_object(header.get("composition"))
    return None if composition is None else Layout(composition, journal)
