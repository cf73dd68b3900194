"""Who answers for the model and for the tools when a recording is replayed? The recording, word for word."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import UNSET

from agentfootprint.agent.batch import marks_of
from agentfootprint.agent.replaying.heard import Heard, Place, Reply, question_of
from agentfootprint.agent.scope import CALL_MARKS
from agentfootprint.errors import AgentFootprintError
from agentfootprint.events import Event, Payload, ThinkingDelta, UnknownEvent
from agentfootprint.llm import (
    CallHooks,
    LLMChunk,
    LLMProvider,
    LLMRequest,
    LLMResponse,
    Role,
    ThinkingBlock,
    ThinkingHandler,
    humanize_llm_error,
)
from agentfootprint.tools import Cassette, PersonAsked, Replayed, Teardown, ToolResult, read_result
from agentfootprint.trace import JsonObject, Value, freeze

if TYPE_CHECKING:
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.tools import ToolStatus

__all__ = ["NothingHeard", "RecordedModel", "RecordedTeardown", "RecordedThinking", "RecordedTools"]

_RAW: Final = "The model call failed: "


class NothingHeard(BaseException):
    """The loop asks for what the recording does not hold; ends the replay, and is no failure of the run."""


class _AgainError(AgentFootprintError):
    """What a recorded run failed with, from the one sentence that is kept of it."""

    code = "ERR_REPLAYED_FAILURE"

    def __init__(self, problem: str, status: int | None = None) -> None:
        super().__init__(problem, fix="Read the recording.")
        self.status = status


def failure_again(sentence: str) -> BaseException:
    """An error of which the same sentence is told."""
    raw = _AgainError(sentence.removeprefix(_RAW))
    kinds: Sequence[BaseException] = (
        raw,
        *(_AgainError("", status) for status in (None, 401, 429, 500, 400)),
        TimeoutError(),
        ConnectionRefusedError("ECONNREFUSED"),
    )
    return next((error for error in kinds if humanize_llm_error(error) == sentence), raw)


class RecordedModel:
    """Gives the recorded replies, one after the other, to the run that is replayed.

    Args:
        provider: Who answered when it was recorded; it is asked nothing.
        heard: What the run heard.
    """

    def __init__(self, provider: LLMProvider, heard: Heard) -> None:
        self._heard = heard
        self.name = provider.name
        self.asked = 0
        """How many replies were asked for."""
        self.default_model: str | None = getattr(provider, "default_model", None)
        self.is_free = getattr(provider, "is_free", False) is True
        self.carries_forced_tool_choice = getattr(provider, "carries_forced_tool_choice", False) is True
        self.carries_in_messages: Sequence[Role] = getattr(provider, "carries_in_messages", ("user", "assistant"))

    @property
    def reply(self) -> Reply:
        """The one that was asked for last."""
        return self._heard.replies[self.asked - 1]

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:  # noqa: ARG002  the port's
        """The next reply as a whole.

        Raises:
            NothingHeard: There is no further one on record.
        """
        return self._take()

    async def stream(
        self,
        request: LLMRequest,  # noqa: ARG002  the port's
        hooks: CallHooks | None = None,  # noqa: ARG002  the port's
    ) -> AsyncIterator[LLMChunk]:
        """The next reply, cut as it was.

        Raises:
            NothingHeard: There is no further one on record.
        """
        self._next()
        pieces = self.reply.pieces
        for index, piece in enumerate(pieces):
            if isinstance(piece, ThinkingDelta):
                yield LLMChunk(token_index=index, content="", thinking_delta=piece.content)
            else:
                yield LLMChunk(token_index=index, content=piece.content)
        yield LLMChunk(token_index=len(pieces), content="", done=True, response=self._response())

    def _take(self) -> LLMResponse:
        self._next()
        return self._response()

    def _next(self) -> None:
        if self.asked == len(self._heard.replies):
            raise NothingHeard
        self.asked += 1

    def _response(self) -> LLMResponse:
        response, failure = self.reply.response, self._heard.failure
        if response is not None:
            return response
        if failure is None:
            raise NothingHeard
        raise failure_again(failure)


class RecordedThinking:
    """Gives the blocks that the handler made of each reply.

    Args:
        handler: The handler that made them; it is asked nothing.
        model: Who gives the replies.
    """

    def __init__(self, handler: ThinkingHandler, model: RecordedModel) -> None:
        self.id = handler.id
        self.provider_names = handler.provider_names
        self._model = model

    def normalize(self, raw: object) -> list[ThinkingBlock]:  # noqa: ARG002  the port's
        """The blocks of the latest reply; fails as the handler did."""
        reply = self._model.reply
        if reply.unread is not None:
            name, message = reply.unread
            raise type(name, (Exception,), {})(message)
        return list(reply.blocks)


class RecordedTools(Cassette):
    """Gives the recorded results of tools, and says what they said while they ran.

    Args:
        heard: What the run heard.
        model: Who gives the replies: it knows how far the run has come.
    """

    answers_questions = False

    def __init__(self, heard: Heard, model: RecordedModel) -> None:
        super().__init__(())
        self._heard = heard
        self._model = model
        self._next = 0
        self.scope: RunScope | None = None
        """The scope of the run that is replayed, once there is one."""

    async def turn(self) -> None:
        """Let the calls beside one that asks begin first, as they did: behind a question none does."""
        if self._now() == self._heard.asker:
            for _ in range(2 * len(self._heard.performances) + 2):
                await asyncio.sleep(0)

    def _now(self) -> Place:
        scope = self.scope
        assert scope is not None  # noqa: S101  set before the run begins
        marks = scope.marks or CALL_MARKS.get()
        return self._model.asked, 0 if marks is None else marks.tool_ordinal or 0

    def answer(self, name: str, args: JsonObject) -> Replayed:  # noqa: ARG002  found by its place
        """The result of the call that runs now.

        Raises:
            PersonAsked: It asked a person.
            NothingHeard: It did not run when it was recorded.
        """
        heard, scope, now = self._heard, self.scope, self._now()
        found = heard.performances.get(now)
        if found is None or scope is None:
            raise NothingHeard
        if found.end is None and heard.asker is not None and now != heard.asker:
            return Replayed("", None, is_error=False, began=False)
        end = found.end
        self._say(scope, found.at if end is not None or heard.asked is not None else self._until_failure(now))
        if end is not None:
            if end.error:
                return Replayed(str(end.result), end.result, is_error=True, is_raw=True)
            read = read_result(
                name,
                None if end.result is UNSET else ToolResult(end.result, status=cast("ToolStatus | None", end.status)),
            )
            return Replayed(read.text, read.value, is_error=False, is_raw=True, read=read)
        if heard.asked is not None:
            raise _asked_again(heard.asked)
        if heard.failure is None:
            raise NothingHeard
        failure = failure_again(heard.failure)
        raise failure if heard.asker is None else PersonAsked(None, state=_Unaskable(failure))

    def _until_failure(self, now: Place) -> int:
        """Where what was said in the batch that failed ends, and what closes the run begins."""
        heard = self._heard
        landed = [each.at for (count, _), each in heard.performances.items() if count == now[0] and each.end]
        inside = [at for at, event in heard.said if getattr(event.payload, "outside_stage", None) is None]
        return max((*landed, *(at + 1 for at in inside[-1:])), default=0)

    def _say(self, scope: RunScope, until: int) -> None:
        """Say what tools said before a point of the recording; several that ran side by side in their own order."""
        said = self._heard.said
        while self._next < len(said) and said[self._next][0] < until:
            say_again(scope, said[self._next][1])
            self._next += 1

    def rest(self) -> list[Event[Any]]:
        """What was said after the last result, such as that something was closed."""
        return [event for _, event in self._heard.said[self._next :]]


def say_again(scope: RunScope, event: Event[Any]) -> None:
    """Say in this run what a tool said in the recorded one."""
    payload: object = event.payload
    ordinal = event.meta.tool_ordinal
    if isinstance(payload, Payload) and not isinstance(event, UnknownEvent):
        scope.emit(payload.outside_stage or scope.step, payload, None if ordinal is None else marks_of(ordinal))
    else:
        emit = scope.tool_run.on_emit
        assert emit is not None  # noqa: S101  every run has it
        emit(event.type, freeze(payload))


class _Unaskable(Mapping[str, "Value"]):
    """What a question brings that fails the run when it is looked at, with what ran beside it landed by then.

    Args:
        failure: What the run fails with.
    """

    def __init__(self, failure: BaseException) -> None:
        self._failure = failure

    def __getitem__(self, key: str) -> Value:
        raise self._failure

    def __iter__(self) -> Iterator[str]:
        raise self._failure

    def __len__(self) -> int:
        raise self._failure


def _asked_again(asked: JsonObject) -> PersonAsked:
    """The question of a tool, from what was told of it."""
    told = question_of(asked)
    request = told.pop("awaitingInput", None)
    return PersonAsked(told, state=None if request is None else {"pausedInput": request})


class RecordedTeardown(Teardown):
    """Closes nothing, and says what the recorded run said when it closed what its tools kept open.

    Args:
        tools: Who knows what was said.
        scope: The scope of the run that is replayed.
    """

    def __init__(self, tools: RecordedTools, scope: RunScope) -> None:
        super().__init__()
        self._tools = tools
        self._run = scope

    def __len__(self) -> int:
        return len(self._tools.rest())

    async def close(self) -> tuple[Exception, ...]:
        """Say it."""
        self.closed = True
        for event in self._tools.rest():
            say_again(self._run, event)
        return ()
