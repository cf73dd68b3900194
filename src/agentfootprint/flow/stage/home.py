"""The state of one runtime while something runs in it, and what its stages may know of their run.

A state dict is changed in place only while nobody else can hold it; whoever wants to keep it asks for `share`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from agentfootprint.flow.stage.asking import Answers
from agentfootprint.flow.watch.recorder import Watch
from agentfootprint.trace import ABSENT, Dials, FrozenDict, Journal, Value

if TYPE_CHECKING:
    from agentfootprint.trace import Veil

__all__ = ["Home", "Run", "RunPart", "StreamHandlers"]

_VEILING: Final = threading.Lock()


class StreamHandlers:
    """Who gets the tokens of streaming stages; a handler that raises is the caller's bug and ends the stage.

    Args:
        on_start: Called with the stream's id.
        on_token: Called with the id and each text.
        on_end: Called with the id and the joined text, when the stage has ended well (FLOW-SNP-7).
    """

    def __init__(
        self,
        on_start: Callable[[str], object] | None = None,
        on_token: Callable[[str, str], object] | None = None,
        on_end: Callable[[str, str], object] | None = None,
    ) -> None:
        self._on_start = on_start
        self._on_token = on_token
        self._on_end = on_end

    def start(self, stream: str) -> None:
        """A streaming stage begins."""
        if self._on_start is not None:
            self._on_start(stream)

    def token(self, stream: str, text: str) -> None:
        """It sent a text."""
        if self._on_token is not None:
            self._on_token(stream, text)

    def end(self, stream: str, text: str) -> None:
        """It ended; `text` is all of it."""
        if self._on_end is not None:
            self._on_end(stream, text)


class Run:
    """A run as its stages see it: `h.run`.

    Args:
        journal: Where everything that happens is appended.
        scope: The caller's own object for this run; never recorded.
        env: The run's environment, read through `env`.
        watch: The recorders; None when nobody has a hook.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        scope: Value = None,
        env: FrozenDict,
        watch: Watch | None = None,
    ) -> None:
        self.journal = journal
        self.scope = scope
        self.env = env
        self.watch = watch
        self.deadline: float | None = None
        """When it must be over, in seconds on `time.monotonic()`."""
        self.stream: StreamHandlers | None = None
        """Who gets the tokens of streaming stages."""
        self.narrated = False
        """Whether stages keep in which order they did what, for a narrative."""
        self.tokens: dict[int, list[str]] = {}
        """Texts sent by the streaming stages that are open, by the index of the execution."""
        self.answers: dict[int, Answers] = {}
        """What stages that ask have been answered, by the index of the execution."""
        self.visits: list[int] = [0] * len(journal.stages)
        """How often each stage has begun, by number."""
        self.interned: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Read sets seen so far: a stage reads the same keys each time, so records share them."""

    @property
    def run_id(self) -> str:
        """Id of this run (FLOW-ID-6)."""
        return self.journal.run_id

    @property
    def dials(self) -> Dials:
        """How much of this run is kept."""
        return self.journal.dials

    def veiled(self) -> Veil:
        """The veil over this run, made when the first write asks for one."""
        if self.journal.veil is None:
            from agentfootprint.trace import cover

            with _VEILING:  # stages in threads may ask at the same time
                if self.journal.veil is None:
                    cover(self.journal, None)
        return cast("Veil", self.journal.veil)


class RunPart(Run):
    """A run as the stages of a mount see it that has a scope of its own: all else is the run's."""

    def __init__(self, run: Run, scope: Value) -> None:
        self.whole: Run = run.whole if isinstance(run, RunPart) else run
        """The run itself."""
        self.journal = run.journal
        self.scope = scope
        self.env = run.env
        self.watch = run.watch
        self.deadline = run.deadline
        self.stream = run.stream
        self.narrated = run.narrated
        self.tokens = run.tokens
        self.answers = run.answers
        self.visits = run.visits
        self.interned = run.interned

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the run has beside
        return getattr(self.whole, name)


class Home(msgspec.Struct, eq=False):
    """The state of the top of a run, or of one execution of a mount."""

    run: Run
    mount: int
    """Index of the mount's execution, -1 at the top."""
    state: dict[str, Value]
    args: FrozenDict
    locked: Mapping[str, Any]
    """Keys that no stage here may write."""
    shared: bool = False
    """Whether somebody else may hold `state`: then the next change is made in a copy."""
    deleting: bool = False
    """Whether the open stage has staged a delete."""
    depth: int = 0
    """How deep control is nested in this runtime."""
    loops: dict[int, int] = {}
    """How often each stage was looped back to."""
    stops: dict[int, str | None] = {}
    """Executions that asked to end this runtime, with their first reason."""

    def share(self) -> dict[str, Value]:
        """The state as it is now, which will not change any more."""
        self.shared = True
        return self.state

    def apply(self, writes: Mapping[str, Value]) -> None:
        """Make the changes of a commit visible; `ABSENT` deletes."""
        if self.shared:
            self.state = dict(self.state)
            self.shared = False
        state = self.state
        state.update(writes)
        for key, value in writes.items():
            if value is ABSENT:
                del state[key]

    def stop(self, index: int, reason: str | None) -> None:
        """Remember that an execution asked to end this runtime; its first reason that is not empty stays."""
        self.stops[index] = self.stops.get(index) or reason or None
