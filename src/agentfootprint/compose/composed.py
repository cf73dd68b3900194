"""What all compositions are, and a function that became a runner: a description with a chart, run as an agent is.

Nothing here changes after construction; whatever belongs to a run is in the run's scopes, so one composition serves
any number of runs at once (CMP-1, CMP-11).
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, cast

from msgspec import UNSET
from typing_extensions import TypeVar

from agentfootprint._blocking import blocking
from agentfootprint.agent import Closing, Limits, within_deadline
from agentfootprint.compose.errors import CompositionError, bare_reason
from agentfootprint.compose.plan import ComposedPlan, refuse_foreign_limits
from agentfootprint.compose.scope import Kind, Scope
from agentfootprint.flow import PauseSignal, SubflowMappingError

if TYPE_CHECKING:
    from agentfootprint.agent import (
        Decision,
        OuterRun,
        PauseCheckpoint,
        Paused,
        RunHandle,
        RunOptions,
        RunResult,
    )
    from agentfootprint.compose.children import AnyRunner
    from agentfootprint.compose.running import ComposedRun
    from agentfootprint.flow import Mounted
    from agentfootprint.identity import Identity
    from agentfootprint.tools import CloseReason
    from agentfootprint.trace import JsonObject, Value

__all__ = ["Composed", "as_message"]

Out = TypeVar("Out", default=str)

_log = logging.getLogger(__name__)


class Composed(Closing, Generic[Out]):
    """A runner that is made of others, or of a function; see `Sequence`, `Parallel`, `Conditional`, `Loop`, `runner`.

    Listeners that are attached to a child do not hear of runs that were started here: listen here. What an agent's
    `record` says of what is kept holds for its part, a redaction policy and `record=False` for all of it; when
    observers are told, and where the record is kept, is the run's to say: `RunOptions(record=)`.
    """

    kind: ClassVar[Kind | None] = None
    """What its events call it; `None` for what has no events of its own."""
    plan: ComposedPlan

    def __init__(self, plan: ComposedPlan) -> None:
        super().__init__()
        self.plan = plan  # pyright: ignore[reportIncompatibleVariableOverride]  as above
        self._inflight: set[RunHandle[Any]] = set()
        self._has_told = False

    @property
    def id(self) -> str:
        """For the trace."""
        return self.plan.id

    @property
    def name(self) -> str:
        """For people."""
        return self.plan.name

    @property
    def spec(self) -> JsonObject:
        """What it is made of, by names and ids."""
        return self.plan.header

    @property
    def inflight(self) -> tuple[RunHandle[Out], ...]:
        """The runs that were started and have not ended."""
        return tuple(self._inflight)

    async def run(
        self,
        message: str | JsonObject,
        *,
        deps: object = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        limits: Limits | None = None,
        options: RunOptions | None = None,
    ) -> RunResult[Out]:
        """Run it to its end: one run, with one id and one record, whatever is nested in it (CMP-2).

        Args:
            message: The text, or `{"message": text}`.
            deps: Your own object, given to the tools and rules of every child; never recorded.
            identity: Whose run this is.
            session_id: The hosting session's id.
            limits: Its own, for this run: `deadline` and `teardown`. What else there is to limit, an agent has.
            options: Ids and recording of this run.

        Returns:
            The last value with everything that explains it; or the question that a child waits with.

        Raises:
            InvalidRunInputError: The message is no text, or empty; nobody was asked anything.
            CompositionError: A branch, a hand-off or a pipe failed.
            DeadlineExceededError: It took longer than `limits.deadline`.
            Exception: Whatever a child raised, as it was raised.
        """
        return await self._accept(message, deps, identity, session_id, limits, options).execute()

    run_sync = blocking(run)

    def stream(
        self,
        message: str | JsonObject,
        *,
        deps: object = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        limits: Limits | None = None,
        options: RunOptions | None = None,
        form: Literal["native", "wire"] = "native",
    ) -> AbstractAsyncContextManager[RunHandle[Out]]:
        """Run it, and read what happens in every child while it does; the arguments are those of `run`.

        Use it as `async with composition.stream(...) as run: async for event in run: ...`; leaving the block stops
        what still runs (DEC-14, DEC-27).
        """
        from agentfootprint.agent import RunStream

        run = self._accept(message, deps, identity, session_id, limits, options)
        return RunStream(lambda: self._begin(run, form))

    def start(
        self,
        message: str | JsonObject,
        *,
        deps: object = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        options: RunOptions | None = None,
    ) -> RunHandle[Out]:
        """Start a run in the running event loop and go on; the handle waits, reads and cancels."""
        return self._begin(self._accept(message, deps, identity, session_id, None, options), "native")

    async def resume(
        self,
        paused: Paused | PauseCheckpoint | JsonObject,
        answer: Decision | Value = UNSET,
        *,
        deps: object = None,
        identity: Identity | None = None,
        options: RunOptions | None = None,
    ) -> RunResult[Out]:
        """Answer the question that a child waits with, and go on with all that was still to run (CMP-46, CMP-47).

        In this process, or with an equally built composition in any other. What ran before does not run again, and the
        run goes on under an id and with a recording of its own.

        Args:
            paused: `result.paused`, its checkpoint, or that as it was stored.
            answer: As for `Agent.resume`.
            deps: Your own object, given to the tools again; it was not stored.
            identity: Whose run this is; a run that was paused for somebody stays theirs.
            options: Ids and recording of this run.

        Returns:
            The rest of the run; it may wait again.

        Raises:
            CheckpointFormatError: It is no checkpoint, or one of another composition.
            DecisionRequiredError: The question needs a decision.
            PauseAnswerRequiredError: No answer was given.
        """
        run, is_partial = self._taken_up(paused, answer, deps, identity, options)
        return run.still_waits() if is_partial else await run.execute()

    resume_sync = blocking(resume)

    def resume_stream(
        self,
        paused: Paused | PauseCheckpoint | JsonObject,
        answer: Decision | Value = UNSET,
        *,
        deps: object = None,
        identity: Identity | None = None,
        options: RunOptions | None = None,
    ) -> AbstractAsyncContextManager[RunHandle[Out]] | RunResult[Out]:
        """As `resume`, with the rest of the run as a stream to enter: what a server needs of it.

        Returns:
            The stream; or the result at once, where values were given in part and no step is taken.
        """
        from agentfootprint.agent import RunStream

        run, is_partial = self._taken_up(paused, answer, deps, identity, options)
        return run.still_waits() if is_partial else RunStream(lambda: self._begin(run, "native"))

    def _taken_up(
        self, paused: object, answer: object, deps: object, identity: Identity | None, options: RunOptions | None
    ) -> tuple[ComposedRun, bool]:
        """The run that goes on with an answer; all refusals come here. And whether it only waits for more values."""
        from agentfootprint.compose.resuming import accept_for
        from agentfootprint.compose.running import ComposedRun

        accepted = accept_for(self, paused, answer, identity=identity)
        run = ComposedRun(
            self,
            accepted.message,
            deps=deps,
            identity=accepted.identity,
            session_id=accepted.session_id,
            options=options,
            resumed=accepted,
        )
        return run, accepted.is_partial

    async def aclose(self, *, stop: bool = True) -> None:
        """Have everything handed on that was heard, and close what the tools of the children keep open.

        Runs are not stopped; the composition and its children can be used again.

        Args:
            stop: Whether what is attached here is stopped as well, and not only flushed.
        """
        for child in self.plan.children:
            if isinstance(child.runner, Closing):
                await child.runner.aclose(stop=False)
        await super().aclose(stop=stop)

    async def close_tool_sessions(self, session_id: str | None = None, *, reason: CloseReason = "session-end") -> int:
        """Clean up what the tools of the children keep open for a session; as `Agent.close_tool_sessions`."""
        closed = 0
        for child in self.plan.children:
            if isinstance(child.runner, Closing):
                closed += await child.runner.close_tool_sessions(session_id, reason=reason)
        return closed

    def _accept(
        self,
        message: object,
        deps: object,
        identity: Identity | None,
        session_id: str | None,
        limits: Limits | None,
        options: RunOptions | None,
    ) -> ComposedRun:
        from agentfootprint.compose.running import ComposedRun  # with the first run

        if limits is not None:
            refuse_foreign_limits(limits)
        return ComposedRun(
            self, message, deps=deps, identity=identity, session_id=session_id, limits=limits, options=options
        )

    def _begin(self, run: ComposedRun, form: Literal["native", "wire"]) -> RunHandle[Out]:
        from agentfootprint.agent import RunHandle

        handle: RunHandle[Out] = RunHandle(cast("Any", run), form, self._inflight.discard)
        self._inflight.add(handle)
        return handle

    def note_deaf_listeners(self) -> None:
        """Say in the log, once, what was asked of a child that does not hold for runs of the whole."""
        if self._has_told:
            return
        deaf = [key for key, child in _all_children(self.plan) if _is_watched(child)]
        if deaf:
            self._has_told = True
            _log.warning(
                "Somebody listens to %s, and hears nothing of the runs of %r that it is a part of; listen to %r.",
                ", ".join(map(repr, deaf)),
                self.id,
                self.id,
            )
        unwritten = [child.key for child in self.plan.children if child.runner.plan.record.spill is not None]
        if unwritten:
            self._has_told = True
            _log.warning(
                "The record of %s alone is to be written while it runs, and that of %r, which it is a part of, has a "
                "place of its own: options=RunOptions(record=RecordOptions(spill=...)).",
                ", ".join(map(repr, unwritten)),
                self.id,
            )

    # what a run of it does

    @property
    @abstractmethod
    def door(self) -> str:
        """What errors about what it was given call it."""

    async def run_within(self, outer: OuterRun, mounted: Mounted, go: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401  its value
        """Run as a part of something else."""
        scope = Scope(self, outer)
        scope.here = mounted.step
        around: Scope = mounted.scope
        scope.bound(self.plan.limits.deadline, around.deadline)
        if mounted.is_resumed:
            scope.go_on(mounted.state.get("startMs"))
        else:
            scope.given = self.checked(mounted.state.get("message"))
        mounted.use(scope)
        return await within_deadline(outer.facts.run_id, self.plan.limits.deadline, lambda: self.bracketed(scope, go))

    async def bracketed(self, scope: Scope, go: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401  its value
        """Run to the end; whatever is raised, the composition's bracket is closed (CMP-8)."""
        try:
            return await go()
        except PauseSignal:
            raise
        except SubflowMappingError as error:
            scope.leave(scope.here, "err")
            attributed = self._attributed(scope, error)
            if attributed is error:
                raise
            raise attributed from error.__cause__
        except BaseException:
            scope.leave(scope.here, "err")
            raise

    def _attributed(self, scope: Scope, error: SubflowMappingError) -> Exception:
        """What a hand-off failed with, by the child it was for (CMP-14, CMP-22)."""
        above = () if isinstance(scope.here, str) else scope.here.info.path
        child = next((each for each in self.plan.children if "/".join((*above, each.mount)) == error.mount), None)
        if child is None or self.kind is None or error.__cause__ is None:
            return error
        reason = bare_reason(error.__cause__)
        return CompositionError(
            self.kind,
            self.id,
            (child.key,),
            f"the message for {child.key!r} could not be made: {reason}",
            fix="Look at what the pipe of that step gets, and what it gives.",
        )

    @abstractmethod
    def checked(self, message: object) -> Any:  # noqa: ANN401  what it takes
        """What it was given, if it can take that.

        Raises:
            InvalidRunInputError: It can't.
        """

    async def around(
        self,
        scope: Scope,
        key: str,
        mounted: Mounted,
        run: Callable[[], Awaitable[Any]],
    ) -> Any:  # noqa: ANN401  what the composition keeps
        """Run one child; gives what the composition keeps of it."""
        try:
            value = await run()
        except BaseException:
            scope.here = mounted.step
            raise
        return self.text_of(key, value)

    def text_of(self, key: str, value: object) -> str:
        """The text that a child gave.

        Raises:
            CompositionError: It gave something else (CMP-13).
        """
        if isinstance(value, str):
            return value
        assert self.kind is not None  # noqa: S101  a function has no children
        raise CompositionError(
            self.kind,
            self.id,
            (key,),
            f"{key!r} gave a {type(value).__name__}, and texts are handed on here.",
            fix="Let it give a text, such as JSON of the value.",
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r})"


def _all_children(plan: ComposedPlan) -> Iterator[tuple[str, AnyRunner]]:
    """The children at any depth, with the keys that lead to them."""
    for child in plan.children:
        yield child.key, child.runner
        inner = child.runner.plan
        if isinstance(inner, ComposedPlan):
            for key, each in _all_children(inner):
                yield f"{child.key}/{key}", each


def _is_watched(runner: AnyRunner) -> bool:
    return bool(runner.bus.heard or runner.wire_bus.heard or runner.recorders)


def as_message(given: object) -> Mapping[str, Any]:
    """What a pipe gave, as the input of a child: a text, or `{"message": text}`.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(given, str):
        return {"message": given}
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
        if isinstance(fields.get("message"), str):
            return {"message": fields["message"]}
    kind: type[object] = type(cast("object", given))
    raise TypeError(f"it gave a {kind.__name__}, which is no text and has none under 'message'")
