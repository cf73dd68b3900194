"""Whether the events of a chart's runs come in the order that is promised: a recorder for tests (FLOW-REC-2 to 4).

Attach it to whatever runs charts, then ask it. It looks at events only, so it also judges an executor of your own, or
events replayed from elsewhere. Nothing depends on timing or on how parallel branches interleave.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from agentfootprint.errors import AgentFootprintError
from agentfootprint.flow import (
    BreakSeen,
    CommitSeen,
    DecisionSeen,
    EmitSeen,
    ErrorSeen,
    ForkSeen,
    LoopSeen,
    NextSeen,
    PauseSeen,
    ReadSeen,
    Recorder,
    ResumeSeen,
    RunEnded,
    RunFailed,
    RunStarted,
    SelectionSeen,
    Sighting,
    StageEnded,
    StageExecuted,
    StageRetried,
    StageStarted,
    Step,
    SubflowEntered,
    SubflowExited,
    SubflowRegistered,
    WriteSeen,
    channel_of,
)

__all__ = ["EventOrderChecker", "EventOrderError", "OrderViolation"]

_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class OrderViolation:
    """One event that came when it must not."""

    name: str
    """Which promise was broken, such as `read-outside-step`."""
    hook: str
    step: str
    """Runtime stage id of the step it is about; `""` for the run."""
    number: int
    """Place of the event among those seen, from 0."""

    def __str__(self) -> str:
        about = f" of {self.step}" if self.step else ""
        return f"{self.name}: event {self.number}, {self.hook}{about}"


class EventOrderError(AgentFootprintError, AssertionError):
    """Events came in an order that is not the promised one; `violations` says which."""

    code = "ERR_EVENT_ORDER"

    def __init__(self, violations: tuple[OrderViolation, ...]) -> None:
        shown = "; ".join(map(str, violations[:_SHOWN]))
        more = f"; and {len(violations) - _SHOWN} more" if len(violations) > _SHOWN else ""
        super().__init__(
            f"{len(violations)} events broke the promised order: {shown}{more}.",
            fix="If the engine of this library told them, that is a bug of it: report it with the chart.",
        )
        self.violations = violations


@dataclass(slots=True)
class _State:
    """Where one step is on its way."""

    open: bool = False
    ended: bool = False
    committed: bool = False
    executed: bool = False
    over: str = ""
    """How it stopped without being executed: `error`, `pause` or `break`."""
    asked: bool = False
    retried: bool = False
    chose: bool = False
    moved: bool = False


@dataclass(slots=True)
class _Seen:
    """What is known of the runs so far."""

    running: bool = False
    resuming: bool = False
    asked: bool = False
    """Whether a step of the running run paused: the run may end without another word."""
    partial: bool = False
    """Whether it began with a resume of what was not seen: then steps may name parents that nobody knows."""
    steps: dict[str, _State] = field(default_factory=dict[str, _State])
    mounts: dict[str, str] = field(default_factory=dict[str, str])
    """Open mounts: subflow id to runtime stage id."""
    parents: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    """The step before each step, as events told it."""


class EventOrderChecker(Recorder):
    """Watches runs and notes every event that comes when it must not.

    Violations are collected, as what a recorder raises never reaches the run: ask for them, call `check`, or use it
    as a context manager, which checks at its end.

    Args:
        id: Unique by default.

    Example:
        >>> from agentfootprint.flow import Chart, Stage, State
        >>> def greet(s: State) -> None:
        ...     s["text"] = "hello"
        >>> with EventOrderChecker() as checker:
        ...     result = Chart.of("Greeting", Stage(greet)).build().run_sync(recorders=[checker])
        >>> checker.violations
        ()
    """

    label = "event-order"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id)
        self._violations: list[OrderViolation] = []
        self._count = 0
        self._seen = _Seen()

    @property
    def violations(self) -> tuple[OrderViolation, ...]:
        """What was out of order so far, over all runs."""
        return tuple(self._violations)

    @property
    def event_count(self) -> int:
        """How many events it was told, over all runs."""
        return self._count

    def chain(self, runtime_stage_id: str) -> tuple[str, ...]:
        """The steps that led to a step of the last run, itself first, back to the first stage."""
        chain: list[str] = []
        step: str | None = runtime_stage_id
        while step is not None and step not in chain:
            chain.append(step)
            step = self._seen.parents.get(step)
        return tuple(chain)

    def check(self) -> None:
        """Raise if anything was out of order, or if a run was begun and neither ended, failed nor paused.

        Raises:
            EventOrderError: It was.
        """
        found = self.violations
        if self._seen.running and not self._seen.asked:
            found = (*found, OrderViolation("run-left-open", "", "", self._count))
        if found:
            raise EventOrderError(found)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.check()

    def clear(self) -> None:
        """Another run begins."""
        seen = self._seen
        if seen.running and not seen.asked:
            self._violations.append(OrderViolation("run-left-open", "", "", self._count))
        self._seen = _Seen()

    # the run

    def on_run_start(self, event: RunStarted) -> None:
        """A run or resume begins where none is under way."""
        self._take(event)
        seen = self._seen
        self._must(not seen.running or seen.resuming or seen.asked, "run-started-twice", event)
        seen.running, seen.resuming, seen.asked = True, False, False

    def on_run_end(self, event: RunEnded) -> None:
        """A run ends once, with nothing left open."""
        self._take(event)
        self._run_close(event)

    def on_run_failed(self, event: RunFailed) -> None:
        """A run fails once, with nothing left open."""
        self._take(event)
        self._run_close(event)

    def _run_close(self, event: RunEnded | RunFailed) -> None:
        seen = self._seen
        self._must(seen.running, "run-not-open", event)
        for name, step in seen.steps.items():
            self._must(not step.open, "step-left-open", event, name)
        for name in seen.mounts.values():
            self._must(False, "subflow-left-open", event, name)
        seen.running = False
        seen.mounts.clear()

    def on_resume(self, event: ResumeSeen) -> None:
        """A resume follows a pause, and a run begins right after it."""
        self._take(event)
        seen = self._seen
        if channel_of(event) == "flow":
            self._must(not seen.running or seen.asked, "resumed-without-a-pause", event)
            seen.partial = seen.partial or not seen.asked
            seen.resuming = True
            seen.mounts.clear()
        else:
            self._must(seen.resuming, "resume-told-out-of-order", event)

    # a step

    def on_stage_start(self, event: StageStarted) -> None:
        """A step begins once, inside its mount; again only after a failed attempt."""
        self._take(event)
        name = str(event.runtime_stage_id)
        known = self._seen.steps.get(name)
        self._must(known is None or known.retried, "step-started-twice", event)
        path = str(event.stage_id).rpartition("/")[0]
        self._must(not path or path in self._seen.mounts, "stage-outside-its-subflow", event)
        self._seen.steps[name] = _State(open=True)

    def on_read(self, event: ReadSeen) -> None:
        """A read happens while its step is open."""
        self._take(event)
        self._inside(event)

    def on_write(self, event: WriteSeen) -> None:
        """A write happens while its step is open."""
        self._take(event)
        self._inside(event)

    def on_emit(self, event: EmitSeen) -> None:
        """An emit happens while its step is open."""
        self._take(event)
        self._inside(event)

    def _inside(self, event: ReadSeen | WriteSeen | EmitSeen) -> None:
        step = self._step(event)
        name = f"{event.hook.removeprefix('on_')}-outside-step"
        self._must(step.open and not step.ended and not step.retried, name, event)

    def on_stage_retry(self, event: StageRetried) -> None:
        """An attempt fails while its step is open."""
        self._take(event)
        step = self._step(event)
        self._must(step.open and not step.ended, "retry-outside-step", event)
        step.retried = True

    def on_stage_end(self, event: StageEnded) -> None:
        """A function returns once, and not after it was interrupted."""
        self._take(event)
        step = self._step(event)
        self._must(step.open and not step.ended and not step.asked, "end-outside-step", event)
        step.ended = True

    def on_commit(self, event: CommitSeen) -> None:
        """A step commits when it is open; further, empty bundles follow."""
        self._take(event)
        step = self._step(event)
        self._must(step.open or step.committed, "commit-outside-step", event)
        step.open, step.committed = False, True

    def on_stage_executed(self, event: StageExecuted) -> None:
        """A node is done after its commit, once."""
        self._take(event)
        step, kind = self._step(event), event.stage_type
        if kind == "subflow-mount":
            self._must(self._name(event) in self._seen.mounts.values(), "mount-executed-before-its-entry", event)
        elif kind == "fork":
            self._must(step.open or step.executed, "forked-before-it-was-executed", event)
        else:
            self._must(step.ended and step.committed, "executed-before-its-commit", event)
            self._must(not step.executed, "executed-twice", event)
            self._must(not step.over, "executed-after-it-was-over", event)
            self._must(kind == "linear" or step.chose, "executed-before-its-choice", event)
            step.executed = True

    def on_decision(self, event: DecisionSeen) -> None:
        """A choice follows its decider's commit."""
        self._take(event)
        self._chose(event)

    def on_selected(self, event: SelectionSeen) -> None:
        """A choice follows its selector's commit."""
        self._take(event)
        self._chose(event)

    def _chose(self, event: DecisionSeen | SelectionSeen) -> None:
        step = self._step(event)
        self._must(step.ended and step.committed and not step.executed, "choice-before-its-commit", event)
        self._must(not step.chose, "chose-twice", event)
        step.chose = True

    def on_error(self, event: ErrorSeen) -> None:
        """A step fails after its commit, without having ended."""
        self._take(event)
        if channel_of(event) == "scope":  # another recorder's
            return
        step = self._step(event)
        self._must(step.committed and not step.open, "error-before-its-commit", event)
        self._must(not step.ended and not step.executed, "error-after-its-end", event)
        step.over = "error"

    def on_pause(self, event: PauseSeen) -> None:
        """A pause is told before the commit on one channel, after it on the other."""
        self._take(event)
        step = self._step(event)
        if channel_of(event) == "scope":
            self._must(step.open and not step.asked, "pause-outside-step", event)
            step.asked = self._seen.asked = True
        else:
            self._must(step.asked and step.committed, "pause-before-its-commit", event)
            self._must(not step.executed, "pause-after-it-was-executed", event)
            step.over = "pause"

    # the ways on

    def on_next(self, event: NextSeen) -> None:
        """Control moves on from a step that is done, once."""
        self._take(event)
        step = self._step(event)
        self._must(step.executed, "next-before-it-was-executed", event)
        self._must(not step.moved and not step.over, "next-after-it-was-over", event)
        step.moved = True

    def on_loop(self, event: LoopSeen) -> None:
        """Control goes back from a step that committed."""
        self._take(event)
        step = self._step(event)
        is_mount = self._name(event) not in self._seen.steps
        self._must(is_mount or (step.committed and not step.over), "loop-before-its-commit", event)

    def on_break(self, event: BreakSeen) -> None:
        """A runtime ends at a step that committed, or at a mount."""
        self._take(event)
        step = self._step(event)
        is_mount = self._name(event) not in self._seen.steps
        self._must(is_mount or (step.ended and step.committed), "break-before-its-commit", event)
        step.over = "break"

    def on_subflow_entry(self, event: SubflowEntered) -> None:
        """A mount is entered once at a time, inside the one around it."""
        self._take(event)
        mounts = self._seen.mounts
        self._must(event.subflow_id not in mounts, "subflow-entered-twice", event)
        path = str(event.subflow_id).rpartition("/")[0]
        self._must(not path or path in mounts, "subflow-outside-its-parent", event)
        mounts[event.subflow_id] = self._name(event)

    def on_subflow_exit(self, event: SubflowExited) -> None:
        """A mount is left when nothing inside it is open."""
        self._take(event)
        mounts = self._seen.mounts
        self._must(mounts.get(event.subflow_id) == self._name(event), "subflow-left-before-its-entry", event)
        inside = f"{event.subflow_id}/"
        for name, step in self._seen.steps.items():
            self._must(not (step.open and name.startswith(inside)), "subflow-left-with-an-open-step", event, name)
        mounts.pop(event.subflow_id, None)

    def on_fork(self, event: ForkSeen) -> None:
        """Branches start from a step that is known."""
        self._take(event)

    def on_subflow_registered(self, event: SubflowRegistered) -> None:
        """A chart becomes known while a run is on its way."""
        self._take(event)

    # bookkeeping

    def _take(self, event: Sighting) -> None:
        """What holds for every event."""
        seen, hook = self._seen, event.hook
        self._count += 1
        if hook not in ("on_run_start", "on_resume"):
            self._must(seen.running, "event-outside-a-run", event)
        if hook != "on_resume":
            self._must(not seen.resuming or hook == "on_run_start", "resume-told-out-of-order", event)
        self._linked(event)

    def _linked(self, event: Sighting) -> None:
        """Every step but the first names the step before it, and that one is known."""
        seen, name = self._seen, self._name(event)
        context = getattr(event, "traversal_context", None)
        if not name or name in seen.parents or not isinstance(context, Step) or event.hook == "on_resume":
            return
        parent = context.parent_runtime_stage_id
        known = parent in seen.parents or parent in seen.steps or not isinstance(parent, str)
        self._must(known or seen.partial, "parent-not-known", event)
        is_first = not any(above is None for above in seen.parents.values())
        self._must(isinstance(parent, str) or is_first or seen.partial, "parent-not-named", event)
        seen.parents[name] = parent if isinstance(parent, str) else None

    def _name(self, event: Sighting) -> str:
        """The step an event is about; `""` for the run as a whole."""
        context = getattr(event, "traversal_context", None)
        name = context.runtime_stage_id if isinstance(context, Step) else getattr(event, "runtime_stage_id", "")
        return name if isinstance(name, str) and not name.startswith("__root__") else ""

    def _step(self, event: Sighting) -> _State:
        return self._seen.steps.get(self._name(event)) or _State()

    def _must(self, holds: bool, name: str, event: Sighting, step: str | None = None) -> None:
        if not holds:
            about = self._name(event) if step is None else step
            self._violations.append(OrderViolation(name, event.hook, about, self._count - 1))
