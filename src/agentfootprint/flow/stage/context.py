"""What else a stage may ask and tell: the second argument of a stage function.

Everything here works whatever keys the state has; the state itself offers keys and nothing else (FLOW-MEM-6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.flow.errors import FlowStreamError, StateValueError
from agentfootprint.flow.stage.handle import CLOSED
from agentfootprint.flow.stage.home import Run
from agentfootprint.flow.stage.traced import TracedHandle, diagnostic
from agentfootprint.flow.stage.views import unwrapped
from agentfootprint.trace import ABSENT, FrozenDict, Value, as_list, as_object

if TYPE_CHECKING:
    from agentfootprint.flow.detached.drivers import DetachDriver
    from agentfootprint.flow.detached.ending import DetachHandle
    from agentfootprint.flow.executor import Flow

__all__ = ["Inputs", "StageContext"]

_SHOWN_KEYS: Final = 6


class Inputs(Mapping[str, Any]):
    """Run input or environment, by item or by attribute; nobody can change it."""

    __slots__ = ("_values",)

    def __init__(self, values: FrozenDict) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Value:
        value = self._values[key]
        return Inputs(value) if type(value) is FrozenDict else value

    def __getattr__(self, name: str) -> Value:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._values:
            known = ", ".join(list(self._values)[:_SHOWN_KEYS]) or "no keys at all"
            raise AttributeError(f"there is no {name!r} in it; it has {known}", name=name)
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Inputs({', '.join(self._values)})"


class StageContext:
    """Input, output and diagnostics of one stage execution (FLOW-PY-13)."""

    __slots__ = ("_handle",)

    def __init__(self, handle: TracedHandle) -> None:
        self._handle = handle

    @property
    def args(self) -> Inputs:
        """The run's input, or in a mount what it was given."""
        return Inputs(self._handle.args)

    @property
    def env(self) -> Inputs:
        """The run's environment."""
        return Inputs(self._handle.env)

    @property
    def scope(self) -> Value:
        """What the run was started with as its `scope`; never recorded."""
        return self._handle.scope

    @property
    def runtime_stage_id(self) -> str:
        """Id of this execution."""
        return self._handle.runtime_stage_id

    @property
    def run_id(self) -> str:
        """Id of this run."""
        return self._handle.run.run_id

    @property
    def iteration(self) -> int:
        """How often this stage had run before, in this run."""
        return self._handle.run.visits[self._handle.info.number] - 1

    @property
    def deadline(self) -> float | None:
        """When the run must be over, in seconds on `time.monotonic()`; None when it may take its time."""
        return self._handle.run.deadline

    @property
    def cancelled(self) -> bool:
        """Whether the stage was closed while its function goes on: in a thread, which nobody can stop."""
        return self._handle.home is CLOSED

    def get(self, key: str, default: Value = None) -> Value:
        """The committed value itself, without a view; a tracked read."""
        return self._handle.get(key, default)

    def read(self, path: str, default: Value = None) -> Value:
        """A nested value by a dotted path; a tracked read of its root key."""
        root, *below = path.split(".")
        value = self._handle.read(root)
        for segment in below:
            fields = as_object(value)
            value = ABSENT if fields is None else fields.get(segment, ABSENT)
        return default if value is ABSENT else value

    def peek(self, key: str, default: Value = None) -> Value:
        """The value of a key without recording the read."""
        return self._handle.peek(key, default)

    def keys(self) -> list[str]:
        """The keys of the state; records nothing."""
        return self._handle.keys()

    def set(self, key: str, value: Value, *, redact: bool = False, description: str | None = None) -> None:
        """Stage a value.

        Args:
            key: Any key.
            value: What it shall be.
            redact: Whether the key is redacted from now on, in the whole run and its mounts, until it is deleted:
                recorders, logs, trees and evidence show a placeholder (FLOW-RED-1).
            description: Adds a log line that says so, unless it begins with `[`.
        """
        if redact:
            self._handle.set_redacted(key, unwrapped(value))
        else:
            self._handle[key] = unwrapped(value)
        if description is not None and not description.startswith("["):
            self._handle.note("logs", "messages", [f"[WRITE] {description}"])

    def update(self, key: str, value: Value) -> None:
        """Stage a deep merge: objects key by key, lists as unions (FLOW-MEM-12)."""
        self._handle.update(key, unwrapped(value))

    def delete(self, key: str) -> None:
        """Stage the removal of a key."""
        del self._handle[key]

    def batch_list(self, key: str, change: Callable[[list[Any]], object]) -> None:
        """Change a list in one read and one write.

        Args:
            key: The list; an absent one is empty.
            change: Gets a list of its own to change in place.

        Raises:
            StateValueError: The key holds something else than a list.
        """
        value = self._handle.read(key)
        items = as_list(value)
        if items is None and value is not ABSENT:
            why = f"a value of type {type(value).__name__} is no list to change."
            raise StateValueError(key, self._handle.info.id, why)
        changed = list(items or ())
        change(changed)
        self._handle[key] = changed

    def emit(self, name: str, payload: Value = None) -> None:
        """Record an event of your own, here and now."""
        self._handle.emit(name, payload)

    def token(self, text: str) -> None:
        """Send a piece of text out of a streaming stage.

        Raises:
            FlowStreamError: The stage is none.
        """
        run: Run = self._handle.run
        info = self._handle.info
        if info.kind != "streaming":
            raise FlowStreamError(
                f"Stage {info.id!r} sent a token, but is no streaming stage.",
                fix="Write it with `@chart.streaming`, or with `stream=` as a Stage.",
            )
        run.tokens.setdefault(self._handle.index, []).append(text)
        if run.stream is not None:
            run.stream.token(info.stream_id, text)

    def detach_and_join_later(
        self, driver: DetachDriver, child: Flow, input: Mapping[str, Any] | None = None
    ) -> DetachHandle:
        """Start another chart apart, and go on (see `agentfootprint.flow.detach_and_join_later`)."""
        from agentfootprint.flow.detached.starting import detach_and_join_later

        return detach_and_join_later(driver, child, input, origin=self.runtime_stage_id)

    def detach_and_forget(self, driver: DetachDriver, child: Flow, input: Mapping[str, Any] | None = None) -> None:
        """Start another chart apart, whose end is nobody's business."""
        self.detach_and_join_later(driver, child, input)

    def break_(self, reason: str | None = None) -> None:
        """End the run, or this subflow, after the commit; the function goes on (FLOW-EXE-18)."""
        self._handle.break_(reason)

    def interrupt(self, reason: Value, *, expects: Value = None) -> Value:
        """Stop the run to ask; gives the answer once there is one (see `agentfootprint.flow.interrupt`)."""
        return self._handle.interrupt(reason, expects=expects)

    def log(self, message: Value) -> None:
        """Add a message to the logs of this execution."""
        kept = diagnostic(message)
        self._handle.note("logs", "messages", [kept])
        self._handle.tell_emit("log.debug.messages", kept)

    def debug(self, key: str, value: Value) -> None:
        """Add a value to the logs of this execution."""
        self._noted("logs", key, value, f"log.debug.{key}")

    def error(self, key: str, value: Value) -> None:
        """Add a value to the errors of this execution."""
        self._noted("errors", key, value, f"log.error.{key}")

    def metric(self, name: str, value: Value) -> None:
        """Add a value to the metrics of this execution."""
        self._noted("metrics", name, value, f"metric.{name}")

    def eval(self, name: str, value: Value) -> None:
        """Add a value to the evaluations of this execution."""
        self._noted("evals", name, value, f"eval.{name}")

    def _noted(self, bag: str, key: str, value: Value, event: str) -> None:
        self._handle.tell_emit(event, self._handle.note(bag, key, value))
