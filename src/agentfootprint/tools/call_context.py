"""What does a tool know about the call it serves and the run it stands in?

A context belongs to one call, a `ToolRun` to one run; nothing is kept on the tool. A fact that nobody supplied is
`None`, never invented. A context may be used from the worker thread that a plain `def` tool runs in.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, cast

from typing_extensions import TypeVar

from agentfootprint.tools.errors import TeardownScopeError
from agentfootprint.tools.idempotency import DispatchedCalls, idempotency_key
from agentfootprint.tools.teardown import Cleanup, SessionHook, Teardown, TeardownScope
from agentfootprint.trace import FrozenDict, JsonObject, Value, ValueRefusedError, freeze

if TYPE_CHECKING:
    from agentfootprint.events import Payload
    from agentfootprint.identity import Identity
    from agentfootprint.tools.sessions import ToolSessions

__all__ = ["CallContext", "EmitHook", "ProgressHook", "ToolContext", "ToolRun"]

Deps = TypeVar("Deps", default=object)

ProgressHook: TypeAlias = Callable[[str, str, int, Value], None]
"""Files `stream.tool_progress`: tool name, call id, iteration, payload."""
EmitHook: TypeAlias = Callable[[str, FrozenDict], None]
"""Sends an event of the app: name, payload."""

_log = logging.getLogger(__name__)
_NO_ARGS: Final = FrozenDict({})


class ToolRun:
    """What a run hands to every call it makes; made once a run by the loop.

    Args:
        deps: The caller's own object; never recorded.
        run_id: This run's id; `None` where there is no run.
        origin_run_id: The id of the turn's first run, when this one goes on with it; else `run_id`.
        session_id: As the host delivered it.
        identity: What the caller passed; never one that the run made up.
        deadline: When the run must be over, in seconds on `time.monotonic()`.
        teardown: Cleanups at the run's end; the loop closes it. `None`: there is no run end here.
        calls: What was dispatched in this turn before, from a checkpoint.
        sessions: Gives what the agent's tools keep open beyond a run; `None`: there is no agent here.
    """

    __slots__ = (
        "calls", "cancelled", "deadline", "deps", "identity", "on_emit", "on_late", "on_progress", "on_session",
        "origin_run_id", "run_id", "scopes", "session_id", "sessions", "teardown", "warned",
    )  # fmt: skip

    def __init__(
        self,
        *,
        deps: Any = None,  # noqa: ANN401  any object of the caller's
        run_id: str | None = None,
        origin_run_id: str | None = None,
        session_id: str | None = None,
        identity: Identity | None = None,
        deadline: float | None = None,
        teardown: Teardown | None = None,
        calls: DispatchedCalls | None = None,
        sessions: Callable[[], ToolSessions] | None = None,
    ) -> None:
        self.deps = deps
        self.run_id = run_id
        self.origin_run_id = origin_run_id or run_id
        self.session_id = session_id
        self.identity = identity
        self.deadline = deadline
        self.teardown = teardown
        self.calls = DispatchedCalls() if calls is None else calls
        self.cancelled = False
        """Set by the loop when the run is being stopped."""
        self.on_progress: ProgressHook | None = None
        """Set by the loop, and called on its thread only; `None`: progress goes nowhere."""
        self.on_emit: EmitHook | None = None
        self.on_session: SessionHook | None = None
        """Files what happens to what a tool keeps open, while the run goes on."""
        self.on_late: SessionHook | None = None
        """The same, also when it is over."""
        self.sessions = sessions
        scopes: tuple[TeardownScope, ...] = ("call",) if teardown is None else ("call", "run")
        self.scopes = scopes if sessions is None else (*scopes, "session", "shutdown")
        self.warned: set[str] = set()
        """Tools whose progress could not be filed; each is told once a run."""


class ToolContext(Generic[Deps]):
    """What a tool may know and do beside its arguments; a parameter annotated so is injected, the model never sees it.

    The loop makes it. In a test of your own, `ToolContext(deps)` is enough to call a tool that wants one; what it
    reports then goes nowhere.

    Args:
        deps: Your own object, as `run(deps=...)` takes it.
    """

    __slots__ = (
        "_args", "_deadline", "_loop", "_over", "_place", "_run", "_teardown", "_thread", "_tool_name", "deps",
        "iteration", "tool_call_id",
    )  # fmt: skip

    deps: Deps
    """The caller's own object (DEC-36); never recorded, never in a checkpoint."""
    tool_call_id: str
    """As the provider gave it; not unique."""
    iteration: int
    """From 1."""

    def __init__(self, deps: Deps | None = None) -> None:
        self.deps = cast("Deps", deps)
        self.tool_call_id = ""
        self.iteration = 1
        self._tool_name = ""
        self._args = _NO_ARGS
        self._run: ToolRun | None = None
        self._place = 0
        self._deadline: float | None = None
        self._teardown: Teardown | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._over = False

    @property
    def run_id(self) -> str | None:
        """The run's id; `None` where a tool is served without a run."""
        return None if self._run is None else self._run.run_id

    @property
    def session_id(self) -> str | None:
        """The hosting session as it was delivered: the caller's data, never a proof of identity."""
        return None if self._run is None else self._run.session_id

    @property
    def identity(self) -> Identity | None:
        """Whom the caller named for this run; `None` when nobody was."""
        return None if self._run is None else self._run.identity

    @property
    def deadline(self) -> float | None:
        """When the call must be over, in seconds on `time.monotonic()`; the earliest of run and tool (AGT-116)."""
        return self._deadline

    @property
    def idempotency_key(self) -> str | None:
        """The same for this call after a pause, a crash or a resume, another one in every other turn (DEC-37)."""
        run = self._run
        if run is None or run.origin_run_id is None:
            return None
        return idempotency_key(run.origin_run_id, self._tool_name, self._args, run.calls.occurrence(self._place))

    @property
    def cancelled(self) -> bool:
        """Whether the result is no longer wanted: the run is being stopped, or the call's time is up (AGT-115).

        A plain `def` tool can't be stopped from outside: one that works for long looks here and returns.
        """
        return self._over or (self._run is not None and self._run.cancelled)

    @property
    def teardown_scopes(self) -> tuple[str, ...]:
        """The scopes that `on_teardown` takes here."""
        return () if self._run is None else self._run.scopes

    def progress(self, payload: Value) -> None:
        """Tell whoever watches how far the call is; never raises, never reaches the model (CTX-2).

        Args:
            payload: Any JSON value; of an object the text under `message` is what status lines show. Dropped when
                the call is over, and, with one warning for each tool, when it can't be recorded.
        """
        run = self._run
        if run is None or run.on_progress is None:
            return
        try:
            frozen = freeze(payload)
        except Exception as refused:  # noqa: BLE001  the tool's own object, which may raise anything when read
            self._warn(run, refused)
            return
        self._on_the_loop(lambda: self._file_progress(run, frozen))

    def emit(self, name: str, payload: JsonObject) -> None:
        """Send an event of your own through the run's bus (EVT-6).

        Args:
            name: The event's type; any text.
            payload: JSON.

        Raises:
            ValueRefusedError: The payload holds what can't be recorded (DEC-29), or is no object.
        """
        frozen = _frozen_object(payload)
        run = self._run
        if run is not None and run.on_emit is not None:
            hook = run.on_emit
            self._on_the_loop(lambda: None if self._over else hook(name, frozen))

    def on_teardown(
        self,
        cleanup: Cleanup,
        *,
        scope: TeardownScope = "run",
        key: str | None = None,
        runner_id: str | None = None,
        label: str | None = None,
    ) -> None:
        """Have something cleaned up later, also when the call fails or the run is stopped (CTX-4).

        Args:
            cleanup: A function without parameters, plain or async.
            scope: `"call"`: when this call is over (not when it pauses). `"run"`: when the run is. `"session"`: when
                `agent.close_tool_sessions` is called for the session. `"shutdown"`: when the agent is closed. What
                of the last two was not used for 15 minutes, or is more than 64 things, is cleaned up before.
            key: What is cleaned up. A tool that registers under a key again keeps the first cleanup; without one
                there is one key for each tool and scope. It never leaves the process.
            runner_id: The id of the code runner that it is, for the events.
            label: Your own words for it, for the events.

        Raises:
            TeardownScopeError: The scope does not exist here, or is over already.
        """
        run = self._run
        if run is None or scope not in run.scopes:
            raise TeardownScopeError(scope, self.teardown_scopes)
        key = f"{scope}:{self._tool_name}" if key is None else key
        if scope in ("session", "shutdown"):
            self._on_the_loop(lambda: self._keep(run, cleanup, scope, key, runner_id, label))
            return
        if scope == "call" and self._teardown is None and not self._over:
            timeout = () if run.teardown is None else (run.teardown.timeout,)
            self._teardown = Teardown(*timeout, scope="call", tell=run.on_session)
        teardown = self._teardown if scope == "call" else run.teardown
        if teardown is None or teardown.closed:
            raise TeardownScopeError(scope, ())
        payload = teardown.register(self._tool_name, key, cleanup, runner_id=runner_id, label=label)
        if run.on_session is not None:
            tell = run.on_session
            self._on_the_loop(lambda: tell(payload))

    def _keep(
        self,
        run: ToolRun,
        cleanup: Cleanup,
        scope: Literal["session", "shutdown"],
        key: str,
        runner_id: str | None,
        label: str | None,
    ) -> None:
        """Have the agent keep it, for the session of this run, or for all runs."""
        if run.sessions is None:
            return
        from agentfootprint.tools.sessions import tool_session_key  # for tools that keep something

        owner = tool_session_key(self, scope) or (tool_session_key(self, "run") if scope == "session" else None)
        payload = run.sessions().keep(
            self._tool_name,
            key,
            cleanup,
            scope=scope,
            owner=owner or "",
            session_id=run.session_id,
            tell=run.on_late or _unheard,
            runner_id=runner_id,
            label=label,
        )
        if run.on_session is not None:
            run.on_session(payload)

    def _on_the_loop(self, act: Callable[[], None]) -> None:
        """Do it now on the loop's own thread, else hand it over, in order and before the call's end is seen."""
        if self._loop is None or threading.get_ident() == self._thread:
            act()
            return
        try:
            self._loop.call_soon_threadsafe(act)
        except RuntimeError:  # the loop is closed: a thread that was left behind is still talking
            return

    def _file_progress(self, run: ToolRun, payload: Value) -> None:
        if self._over or run.on_progress is None:
            return
        try:
            run.on_progress(self._tool_name, self.tool_call_id, self.iteration, payload)
        except Exception as failure:  # noqa: BLE001  whoever watches; watching can't break the call
            self._warn(run, failure)

    def _warn(self, run: ToolRun, failure: Exception) -> None:
        if self._tool_name not in run.warned:
            run.warned.add(self._tool_name)
            what = failure.problem if isinstance(failure, ValueRefusedError) else type(failure).__name__
            _log.warning("Progress of the tool %r was dropped: %s", self._tool_name, what)


def _unheard(_payload: Payload) -> None:
    return None


def _frozen_object(payload: JsonObject) -> FrozenDict:
    frozen = freeze(payload)
    if not isinstance(frozen, FrozenDict):
        raise ValueRefusedError((), f"A payload of type {type(payload).__name__}")
    return frozen


class CallContext(ToolContext[Any]):
    """A context as the loop makes it: bound to a run, and closed when its call is over.

    Making one counts as the dispatch of the call (DEC-37).

    Args:
        run: The run around the call.
        tool_name: The name of the tool that is called.
        tool_call_id: The provider's id of the call.
        iteration: The iteration of the loop, from 1.
        args: What the tool is called with, after every rule that may change it.
    """

    __slots__ = ()

    def __init__(self, run: ToolRun, *, tool_name: str, tool_call_id: str, iteration: int, args: FrozenDict) -> None:
        self.deps = run.deps
        self.tool_call_id = tool_call_id
        self.iteration = iteration
        self._tool_name = tool_name
        self._args = args
        self._run = run
        self._place = run.calls.add(tool_name, args)
        self._deadline = run.deadline
        self._teardown = None
        self._loop = None
        self._thread = 0
        self._over = False

    def enter(self, timeout: float | None) -> None:
        """Bind the context to the running loop, and narrow its deadline to the tool's own `timeout`, in seconds."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        if timeout is not None:
            end = time.monotonic() + timeout
            self._deadline = end if self._deadline is None else min(self._deadline, end)

    def leave(self) -> Teardown | None:
        """End the call: what the tool still says is dropped. Returns the call's cleanups, if there are any."""
        self._over = True
        return self._teardown
