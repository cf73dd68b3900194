"""What happened in one run, in order, each thing once: the rows that every reader of a run works from.

Invariants: a row is never changed after it was closed, and shares its values with the state by reference. A row names
another execution by number or holds at most that one, never the journal or the run, so rows form no cycle and are
unseen by the cyclic garbage collector; a kept row keeps one execution alive. Readers need this module and no engine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec

from agentfootprint.trace.values import Value

if TYPE_CHECKING:
    from agentfootprint.trace.rows.veil import Veil

__all__ = [
    "CHILD",
    "ENTRY",
    "NATIVE",
    "NEXT",
    "RESUME",
    "BrokeRow",
    "DecidedRow",
    "Detail",
    "Dials",
    "EmittedRow",
    "Execution",
    "FailedRow",
    "GrewRow",
    "Journal",
    "MappedRow",
    "NotedRow",
    "Op",
    "PausedRow",
    "ResumedRow",
    "RetriedRow",
    "SeededRow",
    "SelectedRow",
    "StageInfo",
    "StageKind",
]

StageKind: TypeAlias = Literal["stage", "streaming", "pausable", "decider", "selector", "foreach", "mount"]
Pairs: TypeAlias = "tuple[tuple[str, str], ...]"
"""A map as data: pairs of target key and source key."""

NEXT: Final = 0
"""`Execution.link`: control moved on to the next stage."""
CHILD: Final = -1
"""`Execution.link`: a decider, selector or fork started it."""
ENTRY: Final = -2
"""`Execution.link`: the first stage of a runtime; `parent` is the mount's execution, or -1 at the top."""
RESUME: Final = -3
"""`Execution.link`: a resume re-entered it; `parent` is the paused execution when that is on record."""


class Dials(msgspec.Struct, frozen=True, gc=False):
    """How much of what happens is kept, for a whole run (FLOW-MEM-40 to 43)."""

    reads: Literal["full", "summary", "off"] = "full"
    writes: Literal["full", "summary", "off"] = "full"
    values: Literal["full", "delta"] = "full"
    provenance: Literal["off", "reads-prefix"] = "off"


NATIVE: Final = Dials(reads="summary", writes="summary", values="delta")
"""The dials of the native form: nothing is written twice."""


class StageInfo(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What is fixed about one node of a chart; other nodes are named by their `number`."""

    number: int
    """Position in `Journal.stages`."""
    id: str
    """Full id: the ids of the mounts it stands in, and its own, joined by `/`."""
    local_id: str
    name: str
    """Display name, with the full id of the mount in front."""
    path: tuple[str, ...] = ()
    """Ids of the mounts it stands in, outermost first."""
    kind: StageKind = "stage"
    description: str | None = None
    mount: int = -1
    """Number of the mount it stands in."""
    branch_of: int = -1
    """Number of the decider, selector or fork that starts it."""
    branch_id: str = ""
    children: tuple[int, ...] = ()
    """Branches of a decider or selector, children of a fork, in declaration order."""
    next: int = -1
    loop_to: int = -1
    entry: int = -1
    """First stage inside, for a mount."""
    namespace: str = ""
    """Where its writes land below `runs` (FLOW-MEM-9): the branch id inside a fork or selector."""
    subflow_id: str = ""
    subflow_name: str = ""
    stream_id: str = ""
    in_map: Pairs | None = None
    """Declared input map of a mount: what the seed holds follows from it."""
    out_map: Pairs | None = None
    has_output: bool = False
    array_merge: Literal["concat", "replace", "replace-all"] = "concat"


class Op(msgspec.Struct, frozen=True, gc=False):
    """One entry of a commit's trace, where it does not follow from the values (2.2)."""

    path: str
    """Segments joined by U+001F."""
    verb: str
    value: Value
    """Value of a `set`, tail of an `append`, accumulated delta of a `merge`; `ABSENT` when gone."""
    read_keys: tuple[str, ...] | None = None
    hidden: tuple[str, ...] = ()
    """Paths whose value is redacted, joined by U+001F: its own, or places inside its value."""


class Detail(msgspec.Struct, frozen=True, gc=False, eq=False):
    """What an execution kept beyond what the native form needs, because a dial or an observer asked for it."""

    read_values: dict[str, Value]
    """Value last read of each key; `ABSENT` for a key that was not there."""
    tracked: dict[str, tuple[Value, str]]
    """Last write of each user-level path (dotted): value and operation, whether it changed anything or not."""
    said: tuple[tuple[str, str, Value], ...] | None = None
    """All it did, in order, each as verb (`read`, `set`, `update`, `delete`, `emit`, `retry`), key or name, and the
    value as a recorder is told it; None when no narrative is wanted."""
    hidden: tuple[str, ...] | None = None
    """Keys it wrote that are redacted as a whole; None when nothing in the run was redacted yet."""
    shown_reads: dict[str, Value] | None = None
    """What is shown instead of values it read, by key (FLOW-RED-2)."""
    shown_writes: dict[str, Value] | None = None
    """What is shown instead of values it wrote, by dotted path."""


class Execution(msgspec.Struct, gc=False, eq=False):
    """One execution of one stage: the step others point at, and its commit.

    In a journal it stands where it began, again where it committed, and once more for each empty bundle it
    committed after that. A mount has no commit of its own: its second appearance is its empty exit bundle.
    """

    info: StageInfo
    index: int
    """Position among the executions of the run, over all mounts (FLOW-ID-3)."""
    parent: int
    """Index of the step before it in its runtime; for the first of a mount the mount's; -1 for the very first."""
    link: int
    """How control came: `NEXT`, `CHILD`, `ENTRY`, `RESUME`, or n > 0 for the n-th loop edge into this stage."""
    mount: int
    """Index of the mount execution in whose runtime it ran; -1 at the top."""
    dt: int
    """Nanoseconds from the journal's start to its beginning."""
    reads: Any
    """Keys read under tracking, in order of first read; a tuple once it has committed."""
    writes: Any
    """Changed top-level keys and their values after the commit, `ABSENT` for a deleted one."""
    ops: tuple[Op, ...] | None = None
    """The trace, where the values before and after do not imply it."""
    untracked: tuple[str, ...] = ()
    """What it consumed unseen: `args`, `env`, `silent`, in order of first use."""
    detail: Detail | None = None

    def __repr__(self) -> str:
        return f"<execution {self.runtime_stage_id}>"

    @property
    def runtime_stage_id(self) -> str:
        """`[path/]stage#index` (FLOW-ID-1)."""
        return f"{self.info.id}#{self.index}"

    @property
    def stage_id(self) -> str:
        """The full id of its stage."""
        return self.info.id

    @property
    def subflow_path(self) -> tuple[str, ...]:
        """Ids of the mounts it ran in, outermost first; empty at the top."""
        return self.info.path

    @property
    def loop(self) -> int:
        """How many loop edges had led to this stage when one led to this execution; 0 when none did."""
        return max(0, self.link)

    @property
    def context_name(self) -> str:
        """The display name, from the second loop edge on with its suffix (FLOW-EXE-33)."""
        return self.info.name if self.link < 2 else f"{self.info.name}.{self.link - 1}"  # noqa: PLR2004  the second edge


class _Row(msgspec.Struct, frozen=True, gc=False, eq=False):
    """Base of the rows that say what no commit implies."""


class MappedRow(_Row, frozen=True, gc=False, eq=False):
    """The output of a mount was written to `execution`: the mount, or what dispatched it as a branch (FLOW-EXE-25)."""

    execution: Execution
    mount: Execution
    writes: dict[str, Value]
    ops: tuple[Op, ...] | None = None
    reads: tuple[str, ...] | None = None
    """Keys of the mount's state that a map written as a function looked at; None when it was given none."""
    outer_reads: tuple[str, ...] = ()
    """Keys of the parent's state that it looked at."""


class SeededRow(_Row, frozen=True, gc=False, eq=False):
    """The state a mount began with, where no declared map implies it (FLOW-MEM-31)."""

    execution: Execution
    writes: dict[str, Value]
    reads: tuple[str, ...] | None = None
    """Keys of the parent's state that the map looked at; None when that is not on record."""
    ops: tuple[Op, ...] | None = None
    """The trace, where the values do not imply it."""


class DecidedRow(_Row, frozen=True, gc=False, eq=False):
    """A decider chose a branch."""

    execution: Execution
    chosen: int
    """Number of the branch's stage."""
    returned: str
    matched: bool
    """False when the default ran because nothing matched."""
    evidence: Value = None


class SelectedRow(_Row, frozen=True, gc=False, eq=False):
    """A selector chose its branches, in declaration order."""

    execution: Execution
    chosen: tuple[int, ...]
    evidence: Value = None


class BrokeRow(_Row, frozen=True, gc=False, eq=False):
    """The runtime of `execution` was ended by it."""

    execution: Execution
    reason: str | None
    from_subflow: str | None = None


class GrewRow(_Row, frozen=True, gc=False, eq=False):
    """Stages that only this run has: charts made for the items of a for-each, lazy mounts, continuations.

    They stand in `Journal.stages` too. A stage whose number was there before is in its place: a lazy mount, which
    knows its first stage now.
    """

    execution: Execution | None
    """On whose account; None for a mount that is about to begin."""
    stages: tuple[StageInfo, ...]


class PausedRow(_Row, frozen=True, gc=False, eq=False):
    """The run stopped at `execution` to ask."""

    execution: Execution
    dt: int
    data: Value


class ResumedRow(_Row, frozen=True, gc=False, eq=False):
    """A resume is about to begin the execution that follows."""

    execution: Execution | None
    """The paused execution, when it is on record."""
    dt: int
    stage: int
    """Number of the resumed stage."""
    has_input: bool


class RetriedRow(_Row, frozen=True, gc=False, eq=False):
    """An attempt of a stage failed and was undone; another one follows (FLOW-EXE-60)."""

    execution: Execution
    dt: int
    attempt: int
    """The one that failed, counted from 1."""
    attempts: int
    """How many there may be."""
    delay_ms: float
    name: str
    message: str


class FailedRow(_Row, frozen=True, gc=False, eq=False):
    """Something raised; `execution` is None for the run as a whole."""

    execution: Execution | None
    dt: int
    where: str
    """`stage`, `decider`, `selector`, `subflow`, `inputMapper`, `outputMapper` or `run`."""
    name: str
    message: str
    issues: tuple[tuple[str, str], ...] = ()
    """Path and message of each thing that a validation found wrong; not kept in files."""


class NotedRow(_Row, frozen=True, gc=False, eq=False):
    """A diagnostic of a stage: `bag` is `logs`, `errors`, `metrics` or `evals`."""

    execution: Execution
    bag: str
    key: str
    value: Value


class EmittedRow(_Row, frozen=True, gc=False, eq=False):
    """A stage emitted something of its own."""

    execution: Execution
    dt: int
    name: str
    payload: Value


class Journal:
    """The rows of one run, and of the resumes that went on in the same executor.

    Appending costs the size of what is appended. One journal belongs to one run at a time; reading while it grows is
    safe. Rows of other kinds (the events of upper rooms) stand among the engine's, each with `execution` and `dt`.

    Args:
        stages: The chart's stages, by number.
        dials: How much the run keeps.
        run_id: Id of the run (FLOW-ID-6).
        first_index: Index of the first execution: what the checkpoint counted, after a resume.
        base_state: State before the first row, which no commit explains.
    """

    __slots__ = (
        "__weakref__",
        "_executions",
        "_scanned",
        "append",
        "base_state",
        "base_states",
        "dials",
        "first_index",
        "rows",
        "run_ids",
        "seeds",
        "shadow",
        "stages",
        "started_at",
        "t0",
        "told",
        "veil",
        "words",
    )

    def __init__(
        self,
        stages: tuple[StageInfo, ...],
        *,
        dials: Dials = NATIVE,
        run_id: str = "",
        first_index: int = 0,
        base_state: dict[str, Value] | None = None,
    ) -> None:
        self.rows: list[Any] = []
        self.append = self.rows.append
        """Adds a row; the list's own method, so it costs no Python call."""
        self.stages = stages
        self.dials = dials
        self.run_ids = [run_id]
        self.first_index = first_index
        self.base_state: dict[str, Value] = {} if base_state is None else base_state
        self.base_states: dict[int, dict[str, Value]] = {}
        """State restored into a mount that a resume re-entered, by the index of the mount's new execution."""
        self.seeds: dict[int, SeededRow] = {}
        """What a mount began with, by its index, where its declared map doesn't imply it: in a shown journal."""
        self.veil: Veil | None = None
        """What of the run may not be seen; None when nothing is redacted."""
        self.shadow: Callable[[], Journal] | None = None
        """Gives the journal that may be shown, when there is a veil; ask `shown`."""
        self.words: tuple[str, ...] = ()
        """Words that stand for what is kept out of these rows; a text is one of them only where this says so."""
        self.told: Callable[[Any], Any] | None = None
        """What a row of an upper room that commits imply may say to others, where something is kept out."""
        self.started_at = time.time_ns() // 1_000_000
        self.t0 = time.perf_counter_ns()
        self._executions: dict[int, Execution] = {}
        self._scanned = 0

    @property
    def run_id(self) -> str:
        """Id of the latest run or resume on record."""
        return self.run_ids[-1]

    def grow(self, execution: Execution | None, stages: Iterable[StageInfo]) -> None:
        """Add stages that only this run has, or put one in the place of the stage with its number.

        Costs as many pointers as there are stages in all, so give those that come together at once.

        Args:
            execution: On whose account.
            stages: New ones numbered from `len(stages)` on.
        """
        added = tuple(stages)
        known = list(self.stages)
        for info in added:
            known[info.number : info.number + 1] = [info]
        self.stages = tuple(known)
        self.append(GrewRow(execution, added))

    def begun_again(self, step: Execution, again: Execution) -> None:
        """Put the record of another attempt where an open execution began: one execution is one record."""
        rows = self.rows
        place = next((place for place in range(len(rows) - 1, -1, -1) if rows[place] is step), -1)
        if place < 0:  # it began in a file that early rows went to
            return
        rows[place] = again
        if place < self._scanned:
            self._executions[again.index] = again

    def now(self) -> int:
        """Nanoseconds since the journal's start: the `dt` of a row."""
        return time.perf_counter_ns() - self.t0

    def shown(self) -> Journal:
        """The journal that may leave: itself, or its rows with placeholders where something is redacted.

        Costs what was added since it was last asked for. Everything that shows a run to somebody reads this one.
        """
        return self if self.shadow is None else self.shadow()

    def until(self, end: int) -> Journal:
        """The journal as it was when it had `end` rows; itself while it has no more."""
        if end >= len(self.rows):
            return self
        past = Journal(self.stages, dials=self.dials, first_index=self.first_index, base_state=self.base_state)
        past.rows.extend(self.rows[:end])
        past.run_ids = list(self.run_ids)
        past.base_states, past.seeds = self.base_states, self.seeds
        past.started_at, past.t0 = self.started_at, self.t0
        if self.shadow is not None:
            past.veil = self.veil
            past.shadow = lambda: self.shown().until(end)
        return past

    def executions(self) -> dict[int, Execution]:
        """Every execution that has begun, by index; O(rows added since the last call)."""
        rows, known = self.rows, self._executions
        for position in range(self._scanned, len(rows)):
            row = rows[position]
            if isinstance(row, Execution):
                known[row.index] = row
        self._scanned = len(rows)
        return known

    def execution(self, index: int) -> Execution | None:
        """The execution with this index, or None when it is not in this journal."""
        return self.executions().get(index)
