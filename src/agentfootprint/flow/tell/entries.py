"""A run told in words: what one line of it is, how it is made, and how one asks for a part of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, overload

from msgspec import UNSET

from agentfootprint.flow.tell.short import FlowSentences, LoopStyle, told_short
from agentfootprint.flow.tell.words import LoopTold, NarrativeRenderer
from agentfootprint.trace import EntryRange, Record, SequenceStore, Value, summarize_value, thaw

__all__ = ["EntryType", "Narrative", "NarrativeEntry", "NarrativeOptions"]

EntryType: TypeAlias = Literal[
    "stage",
    "step",
    "condition",
    "fork",
    "selector",
    "subflow",
    "loop",
    "break",
    "error",
    "pause",
    "resume",
    "emit",
    "retry",
]


_OF_STAGES: Final = frozenset(("step", "emit", "retry"))
"""Lines of what a stage did, not of where the run went."""


class NarrativeEntry(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """One line of a narrative."""

    type: EntryType
    text: str
    depth: int
    """0 for what happens in the chart, 1 for what a stage did."""
    stage_name: str | None = None
    stage_id: str | None = None
    runtime_stage_id: str | None = None
    """The step it tells of."""
    step_number: int | None = None
    """Place among what its stage did, from 1."""
    subflow_id: str | None = None
    """The mount it happened in; None at the top."""
    direction: Literal["entry", "exit"] | None = None
    key: str | None = None
    raw_value: Value = UNSET
    """The value itself, as a recorder is told it; never in `to_wire`."""

    def to_wire(self) -> dict[str, Any]:
        """The line as plain JSON, without the value."""
        wire = {name: value for name, value in thaw(self).items() if name != "rawValue"}
        return {"type": self.type, "text": self.text, "depth": self.depth, **wire}

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrativeOptions:
    """How a run is told (FLOW-NAR-4)."""

    include_step_numbers: bool = True
    """Whether what a stage did begins with `Step 1: `."""
    include_values: bool = True
    """Whether reads and writes show their value."""
    max_value_length: int = 80
    """Longest text shown whole, in UTF-16 units."""
    format_value: Callable[[Value, int], str] = summarize_value
    """Makes a text of a value and the longest length."""
    renderer: NarrativeRenderer = field(default_factory=NarrativeRenderer)
    """Makes the lines; override what shall read differently."""
    selector_lines: bool = True
    """Whether selectors and for-each stages get a line of their own, with what they read (FLOW-NAR-1)."""


class Narrative(Sequence[NarrativeEntry]):
    """The lines of a run in order. Print it to read it.

    Args:
        store: The lines, each kept under its step; none by default.
        loops: Which of them tell of a way back, by their place.
    """

    __slots__ = ("_loops", "_store")

    def __init__(
        self, store: SequenceStore[NarrativeEntry] | None = None, loops: Mapping[int, LoopTold] | None = None
    ) -> None:
        self._store = SequenceStore[NarrativeEntry]() if store is None else store
        self._loops: Mapping[int, LoopTold] = {} if loops is None else loops

    @overload
    def __getitem__(self, index: int) -> NarrativeEntry: ...
    @overload
    def __getitem__(self, index: slice) -> list[NarrativeEntry]: ...
    def __getitem__(self, index: int | slice) -> NarrativeEntry | list[NarrativeEntry]:
        return self._store.entries()[index]

    def __len__(self) -> int:
        return len(self._store)

    def __iter__(self) -> Iterator[NarrativeEntry]:
        return iter(self._store)

    def entries(self) -> list[NarrativeEntry]:
        """All lines."""
        return self._store.entries()

    def texts(self) -> list[str]:
        """The words of all lines, without indentation."""
        return [entry.text for entry in self._store]

    def entries_for_step(self, runtime_stage_id: str) -> list[NarrativeEntry]:
        """The lines that tell of one step."""
        return self._store.entries_for_step(runtime_stage_id)

    def entry_ranges(self) -> dict[str, EntryRange]:
        """Where the lines of each step stand."""
        return self._store.entry_ranges()

    def entries_up_to(self, visible: Collection[str]) -> list[NarrativeEntry]:
        """The lines of the visible steps: what was told by a moment of the run."""
        return self._store.entries_up_to(visible)

    def entries_by_subflow(self) -> dict[str, list[NarrativeEntry]]:
        """The lines by the mount they happened in; those of the top under `""`."""
        found: dict[str, list[NarrativeEntry]] = {}
        for entry in self._store:
            found.setdefault(entry.subflow_id or "", []).append(entry)
        return found

    def sentences(self, loops: LoopStyle = "all") -> FlowSentences:
        """Only what the chart did, without what its stages did, and long loops told short (FLOW-NAR-23).

        Args:
            loops: Which passes are told: `all`; `windowed` the first 3 and the last 2; `adaptive` the first 5, then
                every 10th; `progressive` the 1st, 2nd, 4th, 8th; `milestone` the first and every 10th; `run-length` a
                row of passes as one sentence; `separate` none, they are kept aside; `silent` none, with their number
                at the end.
        """
        told = [
            (entry.text, self._loops.get(place))
            for place, entry in enumerate(self._store)
            if entry.type not in _OF_STAGES
        ]
        return told_short(told, loops)

    def to_wire(self) -> list[dict[str, Any]]:
        """The lines as plain JSON, without values."""
        return [entry.to_wire() for entry in self._store]

    def __str__(self) -> str:
        return "\n".join(map(str, self._store))

    def __repr__(self) -> str:
        return f"Narrative({len(self)} lines)"
