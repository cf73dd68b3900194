"""Which model answers without a key and without a network, always as it was told?

Invariants: the only state is a cursor; what is remembered of a run lies in that run's `CallHooks` (DEC-16), so any
number of runs may share one mock. Equal seed and equal call number give equal chance. A call costs what is new in
the conversation, not its length.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import itertools
import math
import random
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, Self, TypeAlias, cast

import msgspec

from agentfootprint.errors import ConfigError
from agentfootprint.llm.errors import ProviderContractError, ScriptExhaustedError, StreamTruncatedError
from agentfootprint.llm.messages import LLMMessage, Role, ToolCall
from agentfootprint.llm.port import CURRENT_HOOKS, CallHooks
from agentfootprint.llm.request import LLMChunk, LLMRequest, LLMResponse, WireToolManifest
from agentfootprint.llm.thinking import ThinkingHandler, find_thinking_handler
from agentfootprint.llm.usage import Usage
from agentfootprint.llm.view import RequestMessages
from agentfootprint.trace import FrozenList

__all__ = ["Mock", "MockScript"]

MockReply: TypeAlias = str | LLMResponse | Exception | tuple[LLMChunk, ...]
MockScript: TypeAlias = (
    str
    | Sequence[str | LLMResponse | Exception | Sequence[LLMChunk]]
    | Callable[[LLMRequest], str | LLMResponse]
    | Callable[[LLMRequest, random.Random], str | LLMResponse]
    | None
)
Cursor: TypeAlias = Literal["instance", "run", "history"]
Span: TypeAlias = tuple[float, float]

_CHARS_PER_TOKEN: Final = 4
_AT_ONCE: Final[Span] = (0.0, 0.0)
_UNNUMBERED: Final = "mock-call"  # the id that `Mock.call` leaves for the mock to number when it plays the reply
_WORDS: Final = re.compile(r"\A\s+(?=\S)|\S+\s*")


class _Progress:
    """How far one run has come: its cursor, and sums over the messages already counted."""

    __slots__ = ("_buffer", "_chars", "_counted", "_turns", "calls")

    def __init__(self) -> None:
        self.calls = 0
        self.forget()

    def forget(self) -> None:
        """Let go of the history; it is counted anew if it comes again."""
        self._buffer: list[Any] | None = None
        self._counted = self._chars = self._turns = 0

    def measure(self, messages: Sequence[LLMMessage]) -> tuple[int, int]:
        """Characters of all messages and how many of them are assistant turns; costs what is new in the list."""
        history = cast("object", messages.history if isinstance(messages, RequestMessages) else messages)
        if not isinstance(history, FrozenList):
            return _measure(messages)
        if history.buf is not self._buffer or history.n < self._counted:
            self.forget()
            self._buffer = history.buf
        chars, turns = _measure(history.buf[self._counted : history.n])
        self._counted = history.n
        self._chars += chars
        self._turns += turns
        return self._chars, self._turns


def _measure(messages: Iterable[LLMMessage]) -> tuple[int, int]:
    chars = turns = 0
    for message in messages:
        chars += len(message.content)
        turns += message.role == "assistant"
    return chars, turns


class _Telling:
    """The chunks of one answer, taken when the first is asked for; an async generator costs three times as much."""

    __slots__ = ("_chunks", "_take")

    def __init__(self, take: Callable[[], Iterator[LLMChunk]]) -> None:
        self._take: Callable[[], Iterator[LLMChunk]] | None = take
        self._chunks: Iterator[LLMChunk] = iter(())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> LLMChunk:
        take = self._take
        if take is not None:
            self._take = None  # also when it raises: then there is nothing more
            self._chunks = take()
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Give no more."""
        self._take, self._chunks = None, iter(())


class Mock:
    """A scripted model: no key, no network, the same answers every time.

    Args:
        script: What it says. A text: always that. A list: one reply after the other, each a text, an `LLMResponse`
            (`Mock.call` makes one), an exception to raise, or a list of chunks to stream as given. A function of the
            request: called each time; if it needs a second positional parameter, that is a `random.Random` made from
            `seed` and the number of the call. Nothing: `"echo: "` and the last thing the user said.
        name: Stands in events and before error messages.
        delay: Seconds before an answer, or a span to draw from, shorter end first.
        chunk_delay: Seconds after each streamed word, or a span to draw from.
        stop_reason: Of answers that state none and call no tool.
        usage: Replaces, count by count, the default of a token for every four characters;
            `Usage(known=False)` plays a provider that reports nothing.
        cursor: Where the script's place is kept: `instance` counts the calls of this object, `run` those of each run,
            `history` the assistant turns of the request, which works across processes (a window that drops turns
            moves it back).
        seed: Fixes the chance that a scripted function and the spans draw from; without it chance is free.

    Raises:
        ConfigError: The script holds something else, or an option has no such value.

    Example:
        >>> import asyncio
        >>> model = Mock([Mock.call("lookup", order_id="A-1"), "It has shipped."])
        >>> request = LLMRequest(model="mock-model", messages=[LLMMessage("user", "Where is A-1?")])
        >>> asyncio.run(model.complete(request)).tool_calls[0].name
        'lookup'
        >>> asyncio.run(model.complete(request)).content
        'It has shipped.'
    """

    is_free: Final = True
    """Asking it is known to cost nothing (DEC-69)."""
    default_model: Final = "mock-model"
    """The model's id where the user names none."""
    carries_in_messages: Final[tuple[Role, ...]] = ("system", "user", "assistant")
    carries_forced_tool_choice: Final = True
    thinking_handler: Final[ThinkingHandler | None] = find_thinking_handler("mock")

    def __init__(
        self,
        script: MockScript = None,
        *,
        name: str = "mock",
        delay: float | Span = 0.0,
        chunk_delay: float | Span = 0.0,
        stop_reason: str = "stop",
        usage: Usage | None = None,
        cursor: Cursor = "instance",
        seed: int | None = None,
    ) -> None:
        if cursor not in ("instance", "run", "history"):
            raise ConfigError(
                "Mock.cursor", f"Mock has no cursor {cursor!r}.", fix="Use 'instance', 'run' or 'history'."
            )
        self.name = name
        self._replies: tuple[MockReply, ...] | None = None
        self._respond: Callable[..., object] | None = None
        self._takes_chance = False
        if callable(script):
            self._respond = script
            self._takes_chance = _takes_chance(script)
        elif script is not None and not isinstance(script, str):
            self._replies = _replies(script)
        self._text = script if isinstance(script, str) else None
        self._delay = _span("Mock.delay", delay)
        self._chunk_delay = _span("Mock.chunk_delay", chunk_delay)
        self._stop_reason = stop_reason
        self._usage = usage
        self._cursor = cursor
        self._seed = seed
        self._numbers = itertools.count()
        self._progress = _Progress()  # of calls made outside any run

    @staticmethod
    def call(name: str, /, **args: object) -> LLMResponse:
        """A reply that asks for a tool.

        The call's id is `mock-call-<n>`, n being the number of the request that it answers.

        Args:
            name: Name of the tool.
            args: Its arguments. What JSON can't hold makes them arguments that could not be read, as a model's own
                would be (DEC-40).
        """
        return LLMResponse(tool_calls=(ToolCall(_UNNUMBERED, name, args),), stop_reason="tool_use")

    @property
    def deterministic(self) -> bool:
        """Whether equal calls give equal answers by construction: true unless a function of yours answers."""
        return self._respond is None

    def reset(self) -> None:
        """Begin the script of this object again; cursors of runs and histories are not its own."""
        self._numbers = itertools.count()
        self._progress = _Progress()

    def with_seed(self, seed: int) -> Mock:
        """The same mock from the beginning of its script, with chance fixed by `seed`."""
        twin = copy.copy(self)
        twin._seed = seed  # noqa: SLF001  a Mock as this one
        twin.reset()
        return twin

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        """Answer as scripted.

        Raises:
            ScriptExhaustedError: The list of replies is at its end.
            StreamTruncatedError: The scripted chunks have no terminal one.
            ProviderContractError: The scripted function gave neither a text nor a response.
        """
        number, chars, reply = self._take(request, hooks)
        await self._wait(self._delay, number, "delay")
        if isinstance(reply, Exception):
            raise reply.with_traceback(None)
        if not isinstance(reply, tuple):
            return self._finish(request, number, chars, reply)
        done = next((chunk for chunk in reply if chunk.done), None)
        text = "".join(chunk.content for chunk in reply if not chunk.done)
        if done is None:
            raise StreamTruncatedError(self.name, text=text)
        return done.response or self._finish(request, number, chars, text)

    def stream(self, request: LLMRequest, hooks: CallHooks | None = None) -> AsyncIterator[LLMChunk]:
        """Answer as scripted, one chunk a word with the space after it, then the terminal chunk.

        Raises:
            ScriptExhaustedError: The list of replies is at its end.
            StreamTruncatedError: The scripted chunks have no terminal one; raised after they were given.
            ProviderContractError: The scripted function gave neither a text nor a response.
        """
        if self._delay == self._chunk_delay == _AT_ONCE:
            return _Telling(lambda: self._told(request, hooks))
        return self._streamed(request, hooks)

    def _told(self, request: LLMRequest, hooks: CallHooks | None) -> Iterator[LLMChunk]:
        """The chunks of an answer that nothing delays."""
        number, chars, reply = self._take(request, hooks)
        if isinstance(reply, Exception):
            raise reply.with_traceback(None)
        if isinstance(reply, tuple):
            return self._scripted_chunks(reply)
        response = self._finish(request, number, chars, reply)
        words = _words(response.content) if response.content else ()
        chunks = [LLMChunk(token_index=index, content=word) for index, word in enumerate(words)]
        chunks.append(LLMChunk(token_index=len(words), content="", done=True, response=response))
        return iter(chunks)

    def _scripted_chunks(self, chunks: tuple[LLMChunk, ...]) -> Iterator[LLMChunk]:
        for chunk in chunks:
            yield chunk
            if chunk.done:
                return
        raise StreamTruncatedError(self.name, text="".join(chunk.content for chunk in chunks))

    async def _streamed(self, request: LLMRequest, hooks: CallHooks | None) -> AsyncIterator[LLMChunk]:
        number, chars, reply = self._take(request, hooks)
        await self._wait(self._delay, number, "delay")
        if isinstance(reply, Exception):
            raise reply.with_traceback(None)
        if isinstance(reply, tuple):
            for chunk in reply:
                yield chunk
                if chunk.done:
                    return
                await self._wait(self._chunk_delay, number, f"chunk {chunk.token_index}")
            raise StreamTruncatedError(self.name, text="".join(chunk.content for chunk in reply))
        response = self._finish(request, number, chars, reply)
        words = _words(response.content)
        for index, word in enumerate(words):
            yield LLMChunk(token_index=index, content=word)
            await self._wait(self._chunk_delay, number, f"chunk {index}")
        yield LLMChunk(token_index=len(words), content="", done=True, response=response)

    def _take(self, request: LLMRequest, hooks: CallHooks | None) -> tuple[int, int, MockReply]:
        """The number of this call from 0, the characters of the messages, and what to say."""
        hooks = hooks or CURRENT_HOOKS.get()
        progress = self._progress if hooks is None else hooks.memory.get(self)
        if progress is None:
            progress = cast("CallHooks", hooks).memory[self] = _Progress()
        chars, turns = progress.measure(request.messages)
        if self._cursor == "history":
            number = turns
        elif self._cursor == "run" and hooks is not None:
            number = progress.calls
        else:
            number = next(self._numbers)
        progress.calls += 1
        reply = self._reply(request, number)
        if hooks is None and not (isinstance(reply, LLMResponse) and reply.tool_calls):
            progress.forget()  # an answer ends a conversation: don't hold its history
        return number, chars, reply

    def _reply(self, request: LLMRequest, number: int) -> MockReply:
        if self._text is not None:
            return self._text
        if self._replies is not None:
            if number < len(self._replies):
                return self._replies[number]
            raise ScriptExhaustedError(self.name, scripted=len(self._replies), number=number + 1)
        if self._respond is None:
            return _echo(request.messages)
        said = self._respond(request, self._chance(number, "reply")) if self._takes_chance else self._respond(request)
        if isinstance(said, (str, LLMResponse)):
            return said
        raise ProviderContractError(
            f"The scripted function gave a value of type {type(said).__name__}.",
            provider=self.name,
            fix="Return a text or an LLMResponse; Mock.call makes one that asks for a tool.",
        )

    def _finish(self, request: LLMRequest, number: int, chars: int, reply: str | LLMResponse) -> LLMResponse:
        """Fill in what the reply leaves open (MOK-4, MOK-5, MOK-7)."""
        response = LLMResponse(reply) if isinstance(reply, str) else reply
        calls = tuple(
            [
                msgspec.structs.replace(call, id=f"{_UNNUMBERED}-{number + 1}{f'-{index + 1}' if index else ''}")
                if call.id == _UNNUMBERED
                else call
                for index, call in enumerate(response.tool_calls)
            ]
        )
        stop_reason = response.stop_reason
        if stop_reason == "stop":
            stop_reason = "tool_use" if calls else self._stop_reason
        return LLMResponse(
            response.content,
            tool_calls=calls,
            usage=_usage(response.usage or self._usage, chars + len(request.system_prompt or ""), response.content),
            stop_reason=stop_reason,
            provider_ref=response.provider_ref,
            raw_thinking=response.raw_thinking,
            wire_manifest=response.wire_manifest
            or WireToolManifest(tuple([schema.name for schema in request.tools or ()])),
        )

    def _chance(self, number: int, purpose: str) -> random.Random:
        if self._seed is None:
            return random.Random()  # noqa: S311  variety, not secrecy
        return random.Random(f"{self._seed}/{number}/{purpose}")  # noqa: S311  variety, not secrecy

    async def _wait(self, span: Span, number: int, purpose: str) -> None:
        low, high = span
        if high > low:
            await asyncio.sleep(self._chance(number, purpose).uniform(low, high))
        elif low > 0:
            await asyncio.sleep(low)


def _takes_chance(function: Callable[..., object]) -> bool:
    if inspect.iscoroutinefunction(function):
        raise ConfigError(
            "Mock.script", "A scripted function is asynchronous.", fix="Script a plain function of the request."
        )
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a built-in that tells nothing of itself
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in parameters if one.kind in positional and one.default is inspect.Parameter.empty]
    return len(needed) > 1


def _replies(script: object) -> tuple[MockReply, ...]:
    if isinstance(script, (bytes, LLMResponse)) or not isinstance(script, Sequence):
        raise ConfigError(
            "Mock.script",
            f"A script can't be a value of type {type(script).__name__}.",
            fix="Give a text, a list of replies, or a function of the request.",
        )
    return tuple(_scripted(index, item) for index, item in enumerate(cast("Sequence[object]", script)))


def _scripted(index: int, item: object) -> MockReply:
    if isinstance(item, (str, LLMResponse, Exception)):
        return item
    kind = type(item).__name__
    if isinstance(item, Sequence):
        chunks = tuple(cast("Sequence[object]", item))
        if all(isinstance(chunk, LLMChunk) for chunk in chunks):
            return cast("tuple[LLMChunk, ...]", chunks)
    raise ConfigError(
        "Mock.script",
        f"Reply {index} of a script has the type {kind}.",
        fix="Give a text, an LLMResponse, Mock.call(...), an exception, or a list of LLMChunk.",
    )


def _span(option: str, given: float | Span) -> Span:
    low, high = given if isinstance(given, tuple) else (given, given)
    if not all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in (low, high)):  # pyright: ignore[reportUnnecessaryIsInstance]  users give anything
        raise ConfigError(option, f"{option} is neither seconds nor a span.", fix="Give 0.5, or (0.1, 0.5).")
    if not (0 <= low <= high < math.inf):
        raise ConfigError(
            option,
            f"{option} is {given!r}.",
            fix="Give seconds of at least 0, or a span whose shorter end comes first: (0.1, 0.5).",
        )
    return float(low), float(high)


def _words(text: str) -> list[str]:
    """The pieces of a streamed text: a leading space alone, then each word with the space after it (MOK-6)."""
    return _WORDS.findall(text)


def _echo(messages: Sequence[LLMMessage]) -> str:
    for message in reversed(messages):
        if message.role == "user" and not message.ephemeral and message.injected_by is None:  # the person's words
            return f"echo: {message.content}"
    return ""


def _usage(stated: Usage | None, prompt_chars: int, content: str) -> Usage:
    if stated is not None and stated == _UNREPORTED:
        return stated
    defaults = Usage(input=_tokens(prompt_chars), output=_tokens(len(content)))
    if stated is None:
        return defaults
    return msgspec.structs.replace(
        stated,
        known=True,
        input=defaults.input if stated.input is None else stated.input,
        output=defaults.output if stated.output is None else stated.output,
    )


_UNREPORTED: Final = Usage(known=False)


def _tokens(chars: int) -> int:
    return -(-chars // _CHARS_PER_TOKEN)
