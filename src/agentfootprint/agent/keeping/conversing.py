"""Several turns that remember each other: which turn goes on, which question is open, what was said so far?

One turn at a time (AGT-23). The question of a turn that asked a person belongs here, so no other conversation waits for
it (AGT-24). The agent knows nothing of its conversations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, cast

from msgspec import UNSET
from typing_extensions import TypeVar

from agentfootprint.agent.errors import (
    CheckpointFormatError,
    NoConversationError,
    PendingQuestionError,
    RunInFlightError,
)
from agentfootprint.agent.keeping.checkpoint import Checkpoint
from agentfootprint.agent.keeping.continuing import abandoned, continuation_of, read_checkpoint
from agentfootprint.agent.keeping.turns import turn_starts
from agentfootprint.agent.options import check_group, check_id
from agentfootprint.agent.pausing.checkpoint import PauseCheckpoint
from agentfootprint.agent.pausing.entering import accept_answer
from agentfootprint.agent.pausing.paused import Paused, paused_of
from agentfootprint.errors import ConfigError
from agentfootprint.identity import Identity
from agentfootprint.trace import FrozenList, JsonObject, Value

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from agentfootprint.agent.agent import Agent
    from agentfootprint.agent.loop import AgentRun
    from agentfootprint.agent.options import RunOptions
    from agentfootprint.agent.pausing.decisions import Decision
    from agentfootprint.agent.result import RunResult

__all__ = ["Conversation"]

Deps = TypeVar("Deps", default=object)
Out = TypeVar("Out", default=str)

_NO_RUN: Final = "(no run yet)"


class Conversation(Generic[Deps, Out]):
    """A conversation with an agent: one turn at a time, each with all that was said before.

    `agent.conversation()` makes one. What was said stands in `checkpoint`, also after a turn that failed or was
    stopped, so the next message goes on from there. It belongs to one event loop at a time.

    Example:
        >>> import asyncio
        >>> from agentfootprint import Agent, Mock
        >>> async def talk() -> str:
        ...     conversation = Agent(Mock(["Booked.", "Three it is."])).conversation()
        ...     await conversation.run("A table for two.")
        ...     return (await conversation.run("Make it three.")).text
        >>> asyncio.run(talk())
        'Three it is.'
    """

    def __init__(
        self,
        agent: Agent[Deps, Out],
        start: Checkpoint | JsonObject | None = None,
        *,
        identity: Identity | None = None,
        session_id: str | None = None,
        queue: bool = False,
    ) -> None:
        check_id("session_id", session_id)
        if identity is not None:
            check_group("identity", identity, Identity)
        self._agent = agent
        self._checkpoint = None if start is None else read_checkpoint(start)
        if self._checkpoint is not None:
            continuation_of(agent.plan, self._checkpoint, appends=True)  # refused now, not with the first message
        self._identity = identity
        self._session_id = session_id
        self._queue = queue
        self._is_answered = self._checkpoint is not None and self._checkpoint.failure_point is None
        self._pending: Paused | None = None
        self._answered: set[str] = set()
        self._running: AgentRun | None = None
        self._turn = asyncio.Lock()

    @property
    def checkpoint(self) -> Checkpoint | None:
        """What was said so far; `None` before the first turn. Store its `to_json()` to go on another day."""
        return self._checkpoint

    @property
    def pending(self) -> Paused | None:
        """The question that is open, if there is one."""
        return self._pending

    async def run(
        self, message: str | JsonObject, *, deps: Deps | None = None, options: RunOptions | None = None
    ) -> RunResult[Out]:
        """Say the next message, or the first one.

        Args:
            message: The text, or `{"message": text}`.
            deps: Your own object, given to tools and rules; never recorded.
            options: Ids and recording of this run.

        Returns:
            The turn's result; when it waits for a person, answer with `resume`.

        Raises:
            PendingQuestionError: A question is open.
            RunInFlightError: Another turn goes on, and this conversation has no queue.
            RunCheckpointError: The run failed; what it left is the conversation's `checkpoint` too.
        """
        async with self._alone():
            self._refuse_pending()
            return await self._say(message, deps, options)

    async def follow_up(
        self, message: str | JsonObject, *, deps: Deps | None = None, options: RunOptions | None = None
    ) -> RunResult[Out]:
        """Say the next message, only where the last one was answered (AGT-144).

        Raises:
            NoConversationError: There was no turn, or the last one failed, was stopped or was given up.
            PendingQuestionError: A question is open.
            RunInFlightError: Another turn goes on, and this conversation has no queue.
            RunCheckpointError: The run failed; what it left is the conversation's `checkpoint` too.
        """
        async with self._alone():
            self._refuse_pending()
            if self._checkpoint is None:
                raise NoConversationError("never-run")
            if not self._is_answered:
                raise NoConversationError("last-run-unfinished")
            return await self._say(message, deps, options)

    async def resume(
        self,
        paused: Paused | PauseCheckpoint | JsonObject,
        answer: Decision | Value = UNSET,
        *,
        deps: Deps | None = None,
        options: RunOptions | None = None,
    ) -> RunResult[Out]:
        """Answer the open question, and go on with the turn that asked it.

        The question is closed once the answer is accepted, also if the run then fails. A refused answer leaves it open.

        Args:
            paused: `result.paused`, its checkpoint, or that as it was stored.
            answer: As `Agent.resume` takes it.
            deps: Your own object, given to tools and rules again.
            options: Ids and recording of this run.

        Raises:
            CheckpointFormatError: It is no question, not the open one, or was answered before.
            RunInFlightError: Another turn goes on, and this conversation has no queue.
        """
        async with self._alone():
            accepted = accept_answer(self._agent.plan, paused, answer, identity=self._identity)
            run_id = accepted.facts.run_id
            pending = self._pending
            if run_id in self._answered or (pending is not None and pending.checkpoint.run_id != run_id):
                why = "was answered before" if run_id in self._answered else "is not the one that is open"
                raise CheckpointFormatError(
                    "runId",
                    f"The question of the run {run_id} {why} in this conversation.",
                    fix="Answer conversation.pending, or take the old question up apart with agent.resume.",
                )
            settings, limits, gates = accepted.live.groups
            run = self._agent.accept(
                accepted.message,
                deps=deps,
                identity=accepted.identity,
                session_id=accepted.facts.session_id or self._session_id,
                settings=settings,
                limits=limits,
                gates=gates,
                options=options,
                resumed=accepted,
            )
            if accepted.is_partial:
                return self._came_to(run.still_waits())
            self._answered.add(run_id)
            self._pending = None
            return await self._through(run)

    async def abandon_pause(self) -> dict[str, Any] | None:
        """Give the open question up, so that a next message can be said.

        The call that asked, and those behind it, count as never run. What its turn has open is cleaned up. The question
        itself can still be answered apart, with `agent.resume`.

        Returns:
            What was given up: `toolName`, `toolCallId` and `question`; `None` when no question was open.

        Raises:
            RunInFlightError: A turn goes on.
        """
        async with self._alone():
            pending, self._pending = self._pending, None
            if pending is None:
                return None
            if self._checkpoint is not None:
                self._checkpoint = abandoned(self._checkpoint, pending)
            live = pending.checkpoint.live.take()
            for teardown in (live.call, live.teardown):
                if teardown is not None and not teardown.closed:
                    await teardown.close()
            dropped = {"toolName": pending.tool_name, "toolCallId": pending.tool_call_id, "question": pending.question}
            return {key: value for key, value in dropped.items() if value}

    def fork(self, *, at: int) -> Conversation[Deps, Out]:
        """A conversation of its own that shares the first turns of this one.

        Args:
            at: How many of them, from the first: 0 for none.

        Raises:
            ConfigError: There are not so many.
        """
        window = FrozenList([], 0) if self._checkpoint is None else self._checkpoint.window
        starts = turn_starts(window)
        if type(at) is not int or not 0 <= at <= len(starts):
            raise ConfigError(
                "at", f"at is {at!r}, and the conversation has {len(starts)} turns.", fix="Give a number of turns."
            )
        start = None
        if self._checkpoint is not None and at:
            end = starts[at] if at < len(starts) else len(window)
            point = self._checkpoint.failure_point if at == len(starts) else None
            start = self._checkpoint.with_history(
                window[:end],
                message=window[starts[at - 1]].content,
                failure_point=point,
                in_flight=None,
                facts=self._checkpoint.facts if at == len(starts) else replace(self._checkpoint.facts, approvals=()),
            )
        return Conversation(self._agent, start, identity=self._who(), session_id=self._session_id, queue=self._queue)

    def to_wire(self) -> dict[str, Any]:
        """The conversation as plain JSON: `{"checkpoint"?, "pending"?, "answered"?, "identity"?, "sessionId"?}`."""
        wire: dict[str, Any] = {}
        if self._checkpoint is not None:
            wire["checkpoint"] = self._checkpoint.to_wire()
        if self._pending is not None:
            wire["pending"] = self._pending.checkpoint.to_wire()
        if self._answered:
            wire["answered"] = sorted(self._answered)
        if self._identity is not None:
            wire["identity"] = {
                key: value
                for key, value in (
                    ("conversationId", self._identity.conversation_id),
                    ("principal", self._identity.principal),
                    ("tenant", self._identity.tenant),
                )
                if value is not None
            }
        if self._session_id is not None:
            wire["sessionId"] = self._session_id
        return wire

    @classmethod
    def from_wire(cls, wire: JsonObject, *, agent: Agent[Deps, Out], queue: bool = False) -> Conversation[Deps, Out]:
        """Read what `to_wire` gave, for an agent; its open question is open again.

        Raises:
            CheckpointFormatError: It is no conversation; names what is at fault.
            ConversationMismatchError: It is one with another agent.
        """
        if not isinstance(wire, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  it comes from a store
            raise _malformed("conversation", "an object")
        start, pending, who = wire.get("checkpoint"), wire.get("pending"), wire.get("identity")
        session, answered = wire.get("sessionId"), wire.get("answered", ())
        if session is not None and not isinstance(session, str):
            raise _malformed("sessionId", "a text")
        if not isinstance(answered, (list, tuple)) or not all(isinstance(each, str) for each in cast("Any", answered)):
            raise _malformed("answered", "a list of texts")
        identity = None
        if who is not None:  # read as a checkpoint reads it, so that both are refused alike
            empty: dict[str, Any] = {"version": 1, "runId": "", "history": [], "lastCompletedIteration": 0}
            read = Checkpoint.from_wire({**empty, "originalInput": {"message": ""}, "identity": who})
            identity = read.identity
        made = cls(
            agent,
            None if start is None else cast("JsonObject", start),
            identity=identity,
            session_id=session,
            queue=queue,
        )
        made._answered = set(cast("list[str]", answered))
        if pending is not None:
            if not isinstance(pending, Mapping):
                raise _malformed("pending", "an object")
            made._pending = paused_of(PauseCheckpoint.from_wire(cast("JsonObject", pending)))
            made._is_answered = False
        return made

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[None]:
        """Nothing else of the conversation goes on meanwhile."""
        if self._turn.locked() and not self._queue:
            running = self._running
            raise RunInFlightError(self._agent.id, _NO_RUN if running is None else running.facts.run_id)
        async with self._turn:
            try:
                yield
            finally:
                self._running = None

    def _refuse_pending(self) -> None:
        pending = self._pending
        if pending is not None:
            raise PendingQuestionError(pending.tool_name or None, pending.tool_call_id or None, pending.question)

    def _who(self) -> Identity | None:
        if self._identity is not None or self._checkpoint is None:
            return self._identity
        return self._checkpoint.identity

    async def _say(self, message: str | JsonObject, deps: Deps | None, options: RunOptions | None) -> RunResult[Out]:
        run = self._agent.accept(
            message,
            deps=deps,
            identity=self._identity,
            session_id=self._session_id,
            options=options,
            continue_from=self._checkpoint,
        )
        return await self._through(run)

    async def _through(self, run: AgentRun) -> RunResult[Out]:
        """Run a turn to its end, and keep what it leaves, however it ends."""
        self._running = run
        try:
            result: RunResult[Out] = await run.execute()
        except BaseException as error:
            if getattr(error, "code", None) == "ERR_MESSAGE_DENIED" and getattr(error, "phase", None) == "input":
                raise  # what was refused is no part of the conversation (NEW-107)
            self._is_answered = False
            self._checkpoint = run.checkpoint or self._checkpoint
            self._pending = run.paused  # of one that was cancelled behind its question
            raise
        return self._came_to(result)

    def _came_to(self, result: RunResult[Out]) -> RunResult[Out]:
        self._checkpoint = result.checkpoint
        self._pending = result.paused
        self._is_answered = result.paused is None
        return result

    def __repr__(self) -> str:
        turns = 0 if self._checkpoint is None else len(turn_starts(self._checkpoint.window))
        return f"Conversation(agent={self._agent.id!r}, turns={turns}, waits={self._pending is not None})"


def _malformed(field: str, wanted: str) -> CheckpointFormatError:
    return CheckpointFormatError(
        field, f"The conversation's {field!r} is not {wanted}.", fix="Give it as Conversation.to_wire() made it."
    )
