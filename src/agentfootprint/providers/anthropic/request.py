"""How does a request read in the words of Anthropic's Messages API?

Invariants: pure; what is absent is not sent (ADP-6); a call and its result carry the same id, and no two calls of a
body share one; a cache mark stands on the message it was meant for or nowhere (ANT-9). A history that grows is
translated once: a body costs what is new in it, and no dictionary that was sent is ever changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from agentfootprint.llm import CacheMarker, LLMMessage, LLMRequest, RequestMessages, ThinkingBlock
from agentfootprint.providers.anthropic.models import ThinkingMode
from agentfootprint.providers.anthropic.models import thinking_mode as known_thinking_mode
from agentfootprint.providers.errors import UnsupportedThinkingError
from agentfootprint.trace import FrozenList, thaw

__all__ = ["PROVIDER", "BodyOptions", "Turns", "request_body"]

PROVIDER: Final = "anthropic"
_ROOM_TO_ANSWER: Final = 1024  # tokens beside the thinking, when the request leaves none (ANT-11)
_LEAST_BUDGET: Final = 1024
_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NO_ID_CHAR: Final = re.compile(r"[^a-zA-Z0-9_-]")

_Json = dict[str, Any]
_Place = tuple[int, int] | None
"""Turn and block of a message; the block is -1 when the turn is a plain text. `None` when it is not sent."""


class BodyOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What an adapter adds to every request."""

    default_model: str
    max_tokens: int = 4096
    """Most tokens of a reply, where the request says nothing; this wire must be told."""
    parallel_tool_calls: bool | None = None
    """False asks for one call at a time."""
    thinking_mode: Callable[[str], ThinkingMode] = known_thinking_mode
    """How a model thinks, for names that say nothing."""


class Turns:
    """The turns of a history that grows: remembers what it translated.

    Not for several runs at once.
    """

    __slots__ = ("_buffer", "_done", "_ids", "_places", "_turns")

    def __init__(self) -> None:
        self._forget(None)

    def _forget(self, buffer: list[Any] | None) -> None:
        self._buffer = buffer
        self._done = 0
        self._turns: list[_Json] = []
        self._places: list[_Place] = []
        self._ids = _Ids()

    def of(self, messages: Sequence[LLMMessage]) -> tuple[list[_Json], list[_Place]]:
        """The turns, and where each message went; the lists are the caller's, what is in them is not."""
        history = cast("object", messages.history if isinstance(messages, RequestMessages) else messages)
        buffer = history.buf if isinstance(history, FrozenList) else None
        if buffer is None or buffer is not self._buffer or len(messages) < self._done:
            self._forget(buffer)
        for index in range(self._done, len(messages)):
            self._add(messages[index])
        self._done = len(messages)
        return self._turns.copy(), self._places.copy()

    def _add(self, message: LLMMessage) -> None:
        turns = self._turns
        if message.role == "tool":
            block = {
                "type": "tool_result",
                "tool_use_id": self._ids.answered(message.tool_call_id or ""),
                "content": message.content,
            }
            last = turns[-1] if turns else None
            if last is not None and last["role"] == "user" and isinstance(last["content"], list):
                blocks: list[_Json] = [*cast("list[_Json]", last["content"]), block]
                turns[-1] = {"role": "user", "content": blocks}
                self._places.append((len(turns) - 1, len(blocks) - 1))
                return
            turns.append({"role": "user", "content": [block]})
            self._places.append((len(turns) - 1, 0))
        elif message.role == "user":
            turns.append({"role": "user", "content": message.content})
            self._places.append((len(turns) - 1, -1))
        elif message.role == "assistant" and (spoken := _assistant(message, self._ids)):
            turns.append({"role": "assistant", "content": spoken})
            self._places.append((len(turns) - 1, len(spoken) - 1))
        else:  # a role this wire has no place for, or a turn that said nothing (ANT-5)
            self._places.append(None)


class _Ids:
    """Which id stands on the wire for a call of the history.

    The vendor refuses an id twice in one body, and characters that other vendors use; the history may hold both
    (IDS-2). A result goes with the latest turn that proposed its id.
    """

    __slots__ = ("_open", "_used")

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._used: set[str] = set()

    def proposed(self, ids: Sequence[str]) -> list[str]:
        """The ids of one turn's calls, in order."""
        fresh: dict[str, list[str]] = {}
        written: list[str] = []
        for given in ids:
            plain = given if _ID.fullmatch(given) else _NO_ID_CHAR.sub("_", given)[:48] or "call"
            mine, number = plain, 1
            while mine in self._used:
                mine = f"{plain}-dup{number}"
                number += 1
            self._used.add(mine)
            fresh.setdefault(given, []).append(mine)
            written.append(mine)
        self._open.update(fresh)
        return written

    def answered(self, given: str) -> str:
        """The id of the call that a result with this id answers; the given one when it answers none."""
        waiting = self._open.get(given)
        return waiting.pop(0) if waiting else given


def _assistant(message: LLMMessage, ids: _Ids) -> list[_Json]:
    """The blocks of an assistant turn: thinking, text, calls (ANT-1)."""
    blocks = [_thought(block) for block in message.thinking_blocks if _is_ours(block)]
    if message.content.strip():  # a blank text is refused
        blocks.append({"type": "text", "text": message.content})
    calls = message.tool_calls
    if calls:
        written = ids.proposed([call.id for call in calls])
        blocks += [
            {"type": "tool_use", "id": call_id, "name": call.name, "input": thaw(call.args)}
            for call, call_id in zip(calls, written, strict=True)
        ]
    elif not message.content.strip():
        return []  # thinking alone is no turn
    return blocks


def _is_ours(block: ThinkingBlock) -> bool:
    """Whether the vendor would know it: a summary, or another vendor's thinking, it would refuse (RES-12)."""
    return block.provider in (None, PROVIDER) and not block.summary


def _thought(block: ThinkingBlock) -> _Json:
    if block.type == "redacted_thinking":
        return {"type": "redacted_thinking", "data": block.signature or ""}
    thought: _Json = {"type": "thinking", "thinking": block.content}
    if block.signature is not None:
        thought["signature"] = block.signature  # byte for byte (ANT-2)
    return thought


def request_body(request: LLMRequest, options: BodyOptions, turns: Turns | None = None) -> _Json:
    """The body of `POST /v1/messages`.

    Args:
        request: What is asked.
        options: What the adapter adds.
        turns: What was translated of this conversation before.

    Raises:
        UnsupportedThinkingError: The model would refuse to think under these settings (ANT-13).
    """
    messages, places = (turns or Turns()).of(request.messages)
    model = options.default_model if request.model == PROVIDER else request.model
    body: _Json = {
        "model": model,
        "max_tokens": options.max_tokens if request.max_tokens is None else request.max_tokens,
        "messages": messages,
    }
    if request.system_prompt is not None:
        body["system"] = request.system_prompt
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop is not None:
        body["stop_sequences"] = list(request.stop)
    if request.tools is not None:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": thaw(tool.input_schema)}
            for tool in request.tools
        ]
        _choose(body, request.tool_choice, options)
    if request.thinking is not None:
        _think(body, request, request.thinking, options.thinking_mode(model))
    for marker in request.cache_markers or ():
        _mark(body, marker, places)
    return body


def _choose(body: _Json, name: str | None, options: BodyOptions) -> None:
    """Which tools the model may or must call, for a request that has tools (ADP-7, ANT-6, ANT-7)."""
    choice: _Json = {"type": "auto"} if name is None else {"type": "tool", "name": name}
    if options.parallel_tool_calls is False:
        choice["disable_parallel_tool_use"] = True
    if len(choice) > 1:
        body["tool_choice"] = choice


def _think(body: _Json, request: LLMRequest, budget: int, mode: ThinkingMode) -> None:
    model: str = body["model"]
    if mode == "none":
        raise UnsupportedThinkingError(PROVIDER, model, "no-thinking")
    if request.temperature is not None and request.temperature != 1:
        raise UnsupportedThinkingError(PROVIDER, model, "temperature")
    if mode == "budget":
        if budget < _LEAST_BUDGET:
            raise UnsupportedThinkingError(PROVIDER, model, "budget")
        if request.tool_choice is not None and request.tools is not None:
            raise UnsupportedThinkingError(PROVIDER, model, "forced-tool-choice")
        body["thinking"] = {"type": "enabled", "budget_tokens": budget}
    else:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    if body["max_tokens"] <= budget:
        body["max_tokens"] = budget + _ROOM_TO_ANSWER


def _mark(body: _Json, marker: CacheMarker, places: Sequence[_Place]) -> None:
    """Set one cache mark (ANT-8), on copies of what other bodies share."""
    control = {"type": "ephemeral", "ttl": "1h"} if marker.ttl == "long" else {"type": "ephemeral"}
    if marker.field == "system":
        system: str | list[_Json] | None = body.get("system")
        if isinstance(system, str):
            body["system"] = [{"type": "text", "text": system, "cache_control": control}]
    elif marker.field == "tools":
        tools: list[_Json] = body.get("tools", [])
        if tools:
            at = max(0, min(marker.boundary_index, len(tools) - 1))
            tools[at] = {**tools[at], "cache_control": control}
    elif 0 <= marker.boundary_index < len(places) and (place := places[marker.boundary_index]) is not None:
        turn, block = place
        messages: list[_Json] = body["messages"]
        messages[turn] = _marked(messages[turn], block, control)


def _marked(turn: Mapping[str, Any], block: int, control: _Json) -> _Json:
    content: str | list[_Json] = turn["content"]
    if isinstance(content, str):
        blocks = [{"type": "text", "text": content, "cache_control": control}] if content else content
        return {**turn, "content": blocks}
    blocks = list(content)
    blocks[block] = {**blocks[block], "cache_control": control}
    return {**turn, "content": blocks}
