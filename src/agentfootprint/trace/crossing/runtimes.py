"""Which runtimes does a run have, and what crosses the boundaries between them?

The top of a run and each execution of a mount is a runtime with a state and a commit log of its own. What leads from
one to another is a seed (the parent's keys, going in) or a mapping (the mount's keys, coming out). How a crossing is
known is on record with it: declared as data, noticed while a map written as a function ran, or only inferred from
equal values. Nothing here depends on where the runtimes were read from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from agentfootprint.trace.ids import PATH_DELIMITER
from agentfootprint.trace.log import LogIndex
from agentfootprint.trace.questions.sources import ControlLookup, KeysReadSource

__all__ = ["UNKNOWN", "Basis", "MappedOut", "Runtime", "Runtimes", "Sources", "returned"]

Basis: TypeAlias = Literal["declared", "noticed", "inferred", "returned", "unknown"]
"""How it is known which keys went into a crossing; `returned`: they came from what the last stage returned."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Keys on the other side of a boundary that a key was made from."""

    keys: tuple[str, ...]
    basis: Basis


UNKNOWN: Final = Sources((), "unknown")


def returned(_: str) -> Sources:
    """What any key came from of which only this is known: the last stage returned it."""
    return Sources((), "returned")


@dataclass(slots=True)
class Runtime:
    """The top of a run, or one execution of a mount."""

    log: LogIndex
    step: str = ""
    """Runtime stage id of the mount; `""` for the top."""
    above: int = -1
    """Number of the runtime that the mount stands in."""
    began: int = 0
    """How many commits that one had when the mount began."""
    namespace: str = ""
    """Where the mount looks keys up first, when it stands in a branch (FLOW-MEM-9)."""
    seeded: Callable[[str], Sources] = field(default=lambda _: UNKNOWN)
    """A key of its first state -> the parent's keys that it was made from."""
    continues: int = -1
    """Number of the runtime of the same mount that a resume goes on with."""
    restored: frozenset[str] = frozenset()
    """Keys that a resume brought back from a checkpoint, whose writers are not on record here."""


@dataclass(frozen=True, slots=True)
class MappedOut:
    """A bundle that holds what a mount gave back."""

    inner: int
    """Number of the mount's runtime."""
    sources: Callable[[str], Sources]
    """A root key that was written -> keys of the mount's state that it was made from."""
    outer_reads: tuple[str, ...] = ()
    """Keys of the parent's state that the map looked at."""
    adds: bool = True
    """Whether a list that it writes is added to the one that was there (FLOW-EXE-24)."""


@dataclass(slots=True)
class Runtimes:
    """All runtimes of a run: number 0 is the top, a mount comes after the runtime it stands in."""

    every: list[Runtime]
    reads: KeysReadSource
    control: ControlLookup
    number_of: dict[str, int]
    """Runtime stage id of a step -> number of the runtime it ran in."""
    mapped: dict[tuple[int, int], tuple[MappedOut, ...]] = field(
        default_factory=dict[tuple[int, int], "tuple[MappedOut, ...]"]
    )
    """By runtime and position in its log; several for a for-each, which gathers what its branches gave back."""
    began: dict[str, int] = field(default_factory=dict[str, int])
    """Runtime stage id -> how many commits its runtime had when it began, where that is on record."""
    own: dict[str, int] = field(default_factory=dict[str, int])
    """Runtime stage id -> position of the bundle of its own commit."""
    namespaces: Mapping[str, str] = field(default_factory=dict[str, str])
    """Runtime stage id -> the namespace it looks keys up in first; steps without one are left out."""
    last_step: Callable[[int], str | None] = field(default=lambda _: None)
    """Number of a runtime -> the step that ended it."""

    def mapped_in(self, number: int) -> Iterator[tuple[str, Runtime, str]]:
        """What went into the mounts of a runtime: the key there, the mount's runtime, and the key in it."""
        for runtime in self.every[1:]:
            if runtime.above != number or not len(runtime.log) or runtime.log[0].runtime_stage_id:
                continue
            for key in dict.fromkeys(entry.path.partition(PATH_DELIMITER)[0] for entry in runtime.log[0].trace):
                for source in runtime.seeded(key).keys:
                    yield source, runtime, key

    def within(self, mount: str) -> int | None:
        """The number of a runtime, by its mount's runtime stage id or by its path (then the last one of it)."""
        if not mount:
            return 0
        path = mount.strip("/")
        for number in range(len(self.every) - 1, 0, -1):
            step = self.every[number].step
            if step == path or step.rpartition("#")[0] == path:
                return number
        return None
