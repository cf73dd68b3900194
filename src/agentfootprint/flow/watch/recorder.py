"""Who is watching a run: recorders, and how they are told without harming it.

Which hooks a recorder overrides is found out once, when it is attached. A hook that raises is the observer's bug: it
is counted, the run and the other recorders go on (FLOW-REC-6).
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

from msgspec import UNSET

from agentfootprint.flow.dev import FlowDevWarning, dev_warning
from agentfootprint.flow.errors import AsyncHookError
from agentfootprint.flow.watch.failure import name_of
from agentfootprint.flow.watch.sightings import (
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
)
from agentfootprint.trace import ENTRY, Execution

__all__ = ["HOOKS", "Hook", "Recorder", "Watch", "attach", "channel_of", "hooks_of", "id_of", "now_ms", "placed"]

Hook: TypeAlias = Callable[[Any], object]

_ids: Final[dict[str, itertools.count[int]]] = {}
"""The next number of the recorders of each label."""


class Recorder:
    """Base of observers: override the hooks you want, the others are never called.

    Args:
        id: Attaching another recorder with the same id replaces this one; unique by default (`metrics-1`).
    """

    label: ClassVar[str] = ""
    """What default ids begin with; the class's name when empty."""

    def __init__(self, id: str | None = None) -> None:
        label = self.label or type(self).__name__
        self.id = id or f"{label}-{next(_ids.setdefault(label, itertools.count(1)))}"

    def clear(self) -> None:
        """Called before each run, not before a resume (FLOW-REC-9)."""

    def on_run_start(self, event: RunStarted) -> None:
        """A run began."""

    def on_run_end(self, event: RunEnded) -> None:
        """A run ended well."""

    def on_run_failed(self, event: RunFailed) -> None:
        """A run ended with an error."""

    def on_stage_start(self, event: StageStarted) -> None:
        """A stage function is about to run."""

    def on_read(self, event: ReadSeen) -> None:
        """A tracked read."""

    def on_write(self, event: WriteSeen) -> None:
        """A staged write."""

    def on_emit(self, event: EmitSeen) -> None:
        """A stage emitted something."""

    def on_stage_end(self, event: StageEnded) -> None:
        """A stage function returned."""

    def on_commit(self, event: CommitSeen) -> None:
        """A stage committed."""

    def on_stage_executed(self, event: StageExecuted) -> None:
        """A node was done."""

    def on_next(self, event: NextSeen) -> None:
        """Control moves on."""

    def on_decision(self, event: DecisionSeen) -> None:
        """A decider chose."""

    def on_selected(self, event: SelectionSeen) -> None:
        """A selector chose."""

    def on_fork(self, event: ForkSeen) -> None:
        """Branches start side by side."""

    def on_subflow_entry(self, event: SubflowEntered) -> None:
        """A mount is entered."""

    def on_subflow_exit(self, event: SubflowExited) -> None:
        """A mount was left."""

    def on_subflow_registered(self, event: SubflowRegistered) -> None:
        """A chart became known on the way."""

    def on_loop(self, event: LoopSeen) -> None:
        """Control goes back."""

    def on_break(self, event: BreakSeen) -> None:
        """A stage ended its runtime."""

    def on_error(self, event: ErrorSeen) -> None:
        """A stage raised, or a recorder did; `event.channel` tells."""

    def on_stage_retry(self, event: StageRetried) -> None:
        """An attempt of a stage failed; it runs again."""

    def on_pause(self, event: PauseSeen) -> None:
        """The run stops to ask; told on both channels."""

    def on_resume(self, event: ResumeSeen) -> None:
        """The run goes on; told on both channels."""


HOOKS: Final = tuple(name for name in vars(Recorder) if name.startswith("on_"))
_SCOPE_HOOKS: Final = frozenset(("on_stage_start", "on_read", "on_write", "on_stage_end", "on_pause", "on_resume"))
"""Hooks whose failure is told to the `on_error` of all recorders; of `on_commit` it never is."""
_STEPLESS: Final = frozenset(
    ("on_stage_start", "on_read", "on_write", "on_emit", "on_stage_end", "on_commit", "on_run_start", "on_run_end")
)
"""Hooks whose events have no traversal context, or only that of the run itself."""
_OPERATIONS: Final = {"on_read": "read", "on_write": "write"}


def hooks_of(recorder: object) -> Iterable[tuple[str, Hook]]:
    """The hooks an observer has, by name; those of the base class do not count."""
    for name in HOOKS:
        hook = getattr(recorder, name, None)
        is_own = name in getattr(recorder, "__dict__", ())
        if hook is not None and (is_own or getattr(type(recorder), name, None) is not getattr(Recorder, name)):
            yield name, hook


def attach(recorders: Sequence[object], recorder: object) -> tuple[object, ...]:
    """The recorders with one more, in the place of one with the same id (FLOW-REC-8).

    Raises:
        AsyncHookError: A hook is a coroutine function.
    """
    name, hooks = id_of(recorder), list(hooks_of(recorder))
    for hook_name, hook in hooks:
        if inspect.iscoroutinefunction(hook):
            raise AsyncHookError(name, hook_name)
    if not hooks:
        dev_warning(f"The recorder {name!r} has no hook: it will be told nothing.")
    return placed(recorders, recorder)


def placed(recorders: Sequence[object], recorder: object) -> tuple[object, ...]:
    """The recorders with one more, in the place of one with the same id."""
    name = id_of(recorder)
    if any(id_of(known) == name for known in recorders):
        return tuple(recorder if id_of(known) == name else known for known in recorders)
    return (*recorders, recorder)


def id_of(recorder: object) -> str:
    """What an observer is known by."""
    return str(getattr(recorder, "id", None) or f"{type(recorder).__name__}-{id(recorder)}")


class Watch:
    """The hooks of all recorders of one executor, by name, in the order they were attached.

    Args:
        recorders: The observers.
        before: The watch of the run that this one goes on with, after a pause in the same executor.
    """

    def __init__(self, recorders: Sequence[object], before: Watch | None = None) -> None:
        self.recorders = tuple(recorders)
        self.failures: dict[tuple[str, str], int] = {} if before is None else before.failures
        """How often a hook raised, by recorder id and hook."""
        self.steps: dict[int, Step] = {} if before is None else before.steps
        """The step of each execution begun, by index."""
        self._hooks: dict[str, tuple[tuple[str, Hook], ...]] = {}
        for recorder in self.recorders:
            for name, hook in hooks_of(recorder):
                self._hooks[name] = (*self._hooks.get(name, ()), (id_of(recorder), hook))
        self.any = bool(self._hooks)
        self.flows = not self._hooks.keys() <= _STEPLESS
        """Whether anybody has a hook whose events say which step they belong to: steps are made only then."""

    def wants(self, hook: str) -> bool:
        """Whether anybody has this hook: an event is made only then."""
        return hook in self._hooks

    def tell(self, event: Sighting) -> None:
        """Hand an event to everybody who has its hook."""
        for owner, hook in self._hooks.get(event.hook, ()):
            try:
                hook(event)
            except Exception as raised:  # noqa: BLE001  the observer's bug, not the run's
                self._failed(owner, event, raised)

    def clear(self) -> None:
        """Tell the recorders that a new run begins."""
        self.steps.clear()
        for recorder in self.recorders:
            clear = getattr(recorder, "clear", None)
            if callable(clear):
                try:
                    clear()
                except Exception:  # noqa: BLE001  the observer's bug, not the run's
                    self._count(id_of(recorder), "clear")

    def begun(self, execution: Execution, visits: int, run_id: str) -> Step:
        """Make the step of an execution (FLOW-EXE-7); `visits` counts earlier executions of its stage."""
        info = execution.info
        parent = self.steps.get(execution.parent)
        inside = parent is not None and execution.link != ENTRY
        step = Step(
            run_id=run_id,
            stage_id=info.id,
            runtime_stage_id=execution.runtime_stage_id,
            stage_name=info.name,
            depth=parent.depth + 1 if parent is not None and inside else 0,
            parent_stage_id=parent.stage_id if parent is not None and inside else UNSET,
            parent_runtime_stage_id=UNSET if parent is None else parent.runtime_stage_id,
            loop_iteration=visits or UNSET,
            subflow_id=info.subflow_id or "/".join(info.path) or UNSET,
            subflow_path=info.namespace or UNSET,
        )
        self.steps[execution.index] = step
        return step

    def _failed(self, owner: str, event: Sighting, raised: Exception) -> None:
        self._count(owner, event.hook)
        if event.hook not in _SCOPE_HOOKS or channel_of(event) != "scope":
            if event.hook != "on_commit" and self.failures[owner, event.hook] == 1:
                with contextlib.suppress(FlowDevWarning):  # a warning made an error must not end the run
                    dev_warning(f"The recorder {owner!r} raised {name_of(raised)} in {event.hook}.")
            return
        told = ErrorSeen(
            timestamp=event.timestamp,
            stage_name=getattr(event, "stage_name", ""),
            stage_id=getattr(event, "stage_id", UNSET),
            runtime_stage_id=getattr(event, "runtime_stage_id", UNSET),
            pipeline_id=getattr(event, "pipeline_id", UNSET),
            channel="scope",
            error=name_of(raised),
            operation=_OPERATIONS.get(event.hook, UNSET),
        )
        for name, hook in self._hooks.get("on_error", ()):
            try:
                hook(told)
            except Exception:  # noqa: BLE001  the observer's bug; a failing on_error is told to nobody
                self._count(name, "on_error")

    def _count(self, owner: str, hook: str) -> None:
        self.failures[owner, hook] = self.failures.get((owner, hook), 0) + 1


def channel_of(event: Sighting | Mapping[str, Any]) -> str:
    """Which channel an event of a shared hook came on: `scope` or `flow` (FLOW-REC-1).

    Args:
        event: An event, or one in wire form; without a `channel`, one that names no pipeline is of the flow.
    """
    if isinstance(event, Mapping):
        return str(event.get("channel") or ("scope" if "pipelineId" in event else "flow"))
    channel = getattr(event, "channel", None)
    if channel is None:
        return "flow" if getattr(event, "pipeline_id", UNSET) is UNSET else "scope"
    return str(channel)


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
