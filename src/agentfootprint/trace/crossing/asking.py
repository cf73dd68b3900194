"""What can be asked of a whole run? Each question from one index, made when the first one is asked.

`RunQuestions` answers for a finished run, for one that goes on (it looks at what was added), and for a stored
snapshot of either implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from agentfootprint.errors import ConfigError
from agentfootprint.trace.crossing.from_journal import JournalRuntimes
from agentfootprint.trace.crossing.from_snapshot import snapshot_runtimes
from agentfootprint.trace.crossing.ground import PLACE, CrossingGround
from agentfootprint.trace.crossing.runtimes import Runtime, Runtimes
from agentfootprint.trace.ids import path_of, split_path
from agentfootprint.trace.log import value_at
from agentfootprint.trace.questions.births import ArrayProvenance, ElementBirth, array_provenance
from agentfootprint.trace.questions.chain import ChainOptions, walk_ground
from agentfootprint.trace.questions.forward import ForwardNode, ForwardSlice, forward_slice_for_key
from agentfootprint.trace.questions.notes import Note
from agentfootprint.trace.questions.slice import VariableSlice
from agentfootprint.trace.questions.timeline import KeyTimeline, key_timeline
from agentfootprint.trace.rows.journal import Journal
from agentfootprint.trace.values import JsonObject, Value

__all__ = ["CROSSING", "RunQuestions"]

_SHOWN_MOUNTS: Final = 5
CROSSING = ChainOptions(anchor="writer")
"""How a slice across boundaries goes back: on at the bundle that wrote the key (24.2)."""


class RunQuestions:
    """The questions that can be put to one run.

    Args:
        runtimes: Gives the run's runtimes as they are now.

    Make one with `RunQuestions.of_journal` or `RunQuestions.of_snapshot`.
    """

    def __init__(self, runtimes: Callable[[], Runtimes]) -> None:
        self.runtimes = runtimes
        """Gives the run's runtimes as they are now."""

    @classmethod
    def of_journal(cls, journal: Journal) -> RunQuestions:
        """Ask a run by its rows; rows that come later are looked at when something is asked."""
        known: list[JournalRuntimes] = []

        def read() -> Runtimes:
            shown = journal.shown()  # what is redacted is redacted here too
            if known and known[0].journal is shown:
                known[0].refresh()
            else:  # the first question, or the first since something is redacted
                known[:] = [JournalRuntimes(shown)]
            return known[0].runtimes

        return cls(read)

    @classmethod
    def of_snapshot(cls, snapshot: JsonObject, structure: JsonObject | None = None) -> RunQuestions:
        """Ask a stored snapshot, of this implementation or the reference.

        Args:
            snapshot: The snapshot as JSON.
            structure: The chart's spec, where the declared maps of its mounts stand.
        """
        known: list[Runtimes] = []

        def read() -> Runtimes:
            if not known:
                known.append(snapshot_runtimes(snapshot, structure))
            return known[0]

        return cls(read)

    def why(
        self,
        key: str | Sequence[str],
        *,
        before: int | None = None,
        within: str = "",
        options: ChainOptions = CROSSING,
    ) -> VariableSlice:
        """Explain the value of a key by the steps it depends on, through mounts and branches (24.1).

        Args:
            key: A top-level key, or the segments of a nested place.
            before: Explain it as it was before this position of its commit log.
            within: The mount in whose state the key stands, by path (its last execution) or runtime stage id.
            options: Limits, weights and the other options of the walk.

        Returns:
            The slice. Its `notes` name the boundaries that could not be crossed.

        Raises:
            ConfigError: There is no such mount on record.
        """
        runtimes = self.runtimes()
        number, runtime = self._within(runtimes, within)
        path, reads = path_of(key), runtimes.reads
        asked = VariableSlice(path, before, None, None, None, reads.kind, reads.coverage)
        if not len(runtime.log):
            return replace(asked, missing="empty-log")
        ground = CrossingGround(runtimes)
        walk = options if options.control_deps is not None else replace(options, control_deps=runtimes.control)
        written = ground.last_write(number, path, len(runtime.log) if before is None else before)
        if not written:
            return replace(asked, missing="never-written", notes=ground.notes)
        found = max(written, key=lambda link: link.position & PLACE)
        if options.root_link_keys is None:
            walk = replace(walk, root_link_keys=[split_path(found.path)])
        also = [link for link in written if link is not found]
        root = walk_ground(ground, found.position, reads.lookup, walk, also)
        return replace(asked, writer=ground.bundle(found.position), root=root, notes=ground.notes)

    def forward(
        self,
        key: str | Sequence[str],
        *,
        before: int | None = None,
        within: str = "",
        max_depth: int = 20,
        max_nodes: int = 100,
    ) -> ForwardSlice:
        """All that the value of a key went on to influence, in the runtime it stands in (FLOW-FWD-2).

        A note names the mounts that a value of the slice went into: ask there how it went on.
        """
        runtimes = self.runtimes()
        number, runtime = self._within(runtimes, within)
        limits = {"max_depth": max_depth, "max_nodes": max_nodes}
        found = forward_slice_for_key(runtime.log, key, runtimes.reads, before=before, **limits)
        return replace(found, notes=(*found.notes, *_went_into(runtimes, number, _lives(found.root))))

    def timeline(self, key: str | Sequence[str], *, before: int | None = None, within: str = "") -> KeyTimeline:
        """Every write and read of a key, in order (FLOW-FWD-6)."""
        runtimes = self.runtimes()
        number, runtime = self._within(runtimes, within)
        found = key_timeline(runtime.log, key, runtimes.reads, before=before)
        life = (path_of(key), -1, before)
        return replace(found, notes=(*found.notes, *_went_into(runtimes, number, [life])))

    def value_at(self, key: str | Sequence[str], step: int | str, *, within: str = "") -> Value:
        """The value of a key after a step, `ABSENT` when there was none.

        Args:
            key: A top-level key, or the segments of a nested place.
            step: A position of the commit log, inclusive, or the runtime stage id of a step anywhere in the run.
            within: As for `why`; a step names its runtime itself.

        Raises:
            ConfigError: There is no such step or mount on record.
        """
        runtimes = self.runtimes()
        _, runtime = self._within(runtimes, within)
        if isinstance(step, str):
            number, place = self._place(runtimes, step)
            return value_at(runtimes.every[number].log, place, key)
        return value_at(runtime.log, step, key)

    def array_provenance(self, key: str | Sequence[str], *, at: int | None = None, within: str = "") -> ArrayProvenance:
        """Which commit brought each element of a list into it (FLOW-ELM-1)."""
        runtimes = self.runtimes()
        _, runtime = self._within(runtimes, within)
        return array_provenance(runtime.log, key, at=at)

    def element_provenance(
        self, key: str | Sequence[str], index: int, *, at: int | None = None, within: str = ""
    ) -> ElementBirth | None:
        """Which commit brought one element of a list into it; None when there is no such element."""
        births = self.array_provenance(key, at=at, within=within).births
        return births[index] if births is not None and 0 <= index < len(births) else None

    def commits(self, within: str = "") -> int:
        """How many commits a runtime has."""
        _, runtime = self._within(self.runtimes(), within)
        return len(runtime.log)

    def _within(self, runtimes: Runtimes, mount: str) -> tuple[int, Runtime]:
        number = runtimes.within(mount)
        if number is None:
            known = ", ".join(dict.fromkeys(runtime.step for runtime in runtimes.every[1:])) or "none"
            raise ConfigError("within", f"No mount {mount!r} is on record.", fix=f"Name one that ran: {known}.")
        return number, runtimes.every[number]

    def _place(self, runtimes: Runtimes, step: str) -> tuple[int, int]:
        number = runtimes.number_of.get(step)
        place = None if number is None else runtimes.every[number].log.last_position(step)
        if number is None or place is None:
            raise ConfigError("step", f"No step {step!r} has committed.", fix="Take the id from a slice or the tree.")
        return number, place


_Life: TypeAlias = "tuple[str, int, int | None]"
"""A key, the position of the write of a value, and of the next one."""


def _lives(root: ForwardNode | None) -> list[_Life]:
    """The values of a forward slice."""
    nodes = [] if root is None else [root]
    known = set(map(id, nodes))
    for node in nodes:
        for edge in node.fed_edges:
            if id(edge.child) not in known:
                known.add(id(edge.child))
                nodes.append(edge.child)
    return [(node.key, node.position, node.next_write_idx) for node in nodes]


def _went_into(runtimes: Runtimes, number: int, lives: Sequence[_Life]) -> Iterator[Note]:
    """Says that values went into mounts, where the answer does not follow them."""
    by_key: dict[str, list[_Life]] = {}
    for life in lives:
        by_key.setdefault(life[0], []).append(life)
    told: dict[str, list[str]] = {}
    for source, mount, key in runtimes.mapped_in(number):
        for _, start, end in by_key.get(source, ()):
            if start < mount.began and (end is None or mount.began <= end):
                told.setdefault(source, []).append(f"'{key}' of {mount.step}")
                break
    for source, places in told.items():
        more = f" (+{len(places) - _SHOWN_MOUNTS} more)" if len(places) > _SHOWN_MOUNTS else ""
        yield Note(
            "boundary-not-followed",
            f"'{source}' also became {', '.join(places[:_SHOWN_MOUNTS])}{more} — ask within the mount how it went on.",
        )
