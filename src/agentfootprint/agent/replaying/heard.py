"""What did a recorded run hear from outside: which replies of the model, which results of tools?

Everything is found by its place: the how-manieth model call it is, or follows, and its place in the batch. Names, ids
and arguments are not looked at; where the loop comes to others, the comparison says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agentfootprint.events import (
    ErrorFatal,
    Event,
    IntegrityDisposition,
    LLMEnd,
    LLMStart,
    PauseRequest,
    ThinkingDelta,
    ThinkingParseFailed,
    Token,
    ToolEnd,
    ToolProgress,
    ToolsAbsent,
    ToolsCoverageDeclared,
    ToolsSessionClosed,
    ToolsSessionCloseFailed,
    ToolsSessionReused,
    ToolsSessionStarted,
    ToolStart,
    UnknownEvent,
)
from agentfootprint.llm import LLMResponse, ThinkingBlock, ToolCall, Usage, WireToolManifest, message_from_wire
from agentfootprint.recording import Recording
from agentfootprint.trace import ABSENT, JsonObject, Value, as_list, as_object, thaw

__all__ = ["Heard", "Performance", "Place", "Reply", "heard_in", "question_of"]

Place = tuple[int, int]
"""How many model calls had begun, and the place in the batch."""

_SESSIONS: Final = (ToolsSessionStarted, ToolsSessionReused, ToolsSessionClosed, ToolsSessionCloseFailed)
_REACH: Final = (ToolsAbsent, ToolsCoverageDeclared)
_IDS: Final = ("toolCallId", "toolName")


@dataclass(slots=True)
class Reply:
    """What one model call came to."""

    start: LLMStart
    end: LLMEnd | None = None
    """`None`: it never came."""
    pieces: list[Token | ThinkingDelta] = field(default_factory=list["Token | ThinkingDelta"])
    """What was streamed, as it was cut."""
    response: LLMResponse | None = None
    blocks: tuple[ThinkingBlock, ...] = ()
    unread: tuple[str, str] | None = None
    """The class and the message of what the thinking handler failed with."""


@dataclass(slots=True)
class Performance:
    """What one tool call came to, had it run."""

    call_id: str
    end: ToolEnd | None = None
    """`None`: it never settled in this run."""
    at: int = 0
    """Where its end stands among the events, or those of the whole run when it has none."""


@dataclass(slots=True)
class Heard:
    """All of it."""

    replies: list[Reply]
    performances: dict[Place, Performance]
    said: list[tuple[int, Event[Any]]]
    """What tools said while they ran, each with its place among the events."""
    asked: JsonObject | None
    """The question that the run ended with."""
    asker: Place | None
    """The call that asked it, or that the run failed at in a batch."""
    failure: str | None
    """What the run failed with, in the words of its last event."""


def _is_of_tool(event: Event[Any]) -> bool:
    """Whether a tool says it, and not the loop: progress, an event of the application's, something it keeps open."""
    payload: object = event.payload
    if isinstance(event, UnknownEvent) and event.type.startswith("agentfootprint."):
        return False
    return isinstance(event, UnknownEvent) or isinstance(payload, (ToolProgress, *_SESSIONS))


def heard_in(recording: Recording, events: Sequence[Event[Any]]) -> Heard:
    """Take apart what a recording holds.

    Args:
        recording: The run.
        events: Its events, in its own form.
    """
    heard = Heard([], {}, [], None, None, None)
    ordinals: dict[int, int] = {}
    asks = recording.ended == "paused"
    for at, event in enumerate(events):
        payload: object = event.payload
        if isinstance(payload, (LLMStart, LLMEnd, Token, ThinkingDelta, ThinkingParseFailed)):
            _hear_model(heard.replies, payload)
        elif isinstance(payload, ToolStart):
            place = _place(heard, event, ordinals)
            heard.performances[place] = Performance(payload.tool_call_id, at=len(events))
        elif isinstance(payload, ToolEnd):
            _settle(heard, event, payload, at)
        elif isinstance(payload, PauseRequest):
            heard.asked = as_object(payload.question_payload)
        elif isinstance(payload, ErrorFatal):
            heard.failure = payload.error
        elif _is_of_tool(event) or (asks and isinstance(payload, _REACH) and _is_open(payload, events[at + 1 :])):
            heard.said.append((at, event))
    if heard.asked is not None or heard.failure is not None:
        heard.asker = _asker(recording, heard)
    _fill_replies(recording, heard, _manifests(events))
    return heard


def _asker(recording: Recording, heard: Heard) -> Place | None:
    """The call that asked: as the pause noted it, else the first that never settled."""
    open_ = sorted(place for place, each in heard.performances.items() if each.end is None)
    if heard.asked is None:  # of a run that failed; what a person had approved was announced before
        return next((place for place in open_ if place[0]), None)
    noted = recording.value_at("pausedToolIndex")
    return next((place for place in open_ if place[1] == noted), open_[0] if open_ else None)


def _hear_model(replies: list[Reply], payload: LLMStart | LLMEnd | Token | ThinkingDelta | ThinkingParseFailed) -> None:
    if isinstance(payload, LLMStart):
        replies.append(Reply(payload))
    elif not replies:  # of a recording that begins in the middle
        return
    elif isinstance(payload, (Token, ThinkingDelta)):
        replies[-1].pieces.append(payload)
    elif isinstance(payload, LLMEnd):
        replies[-1].end = payload
    else:
        replies[-1].unread = (payload.error_name, payload.error)


def _place(heard: Heard, event: Event[Any], ordinals: dict[int, int]) -> Place:
    """Where a call stands; without its mark, behind the one that was announced last."""
    count = len(heard.replies)
    ordinal = event.meta.tool_ordinal
    ordinals[count] = following = ordinals.get(count, -1) + 1
    return count, following if ordinal is None else ordinal


def _settle(heard: Heard, event: Event[Any], end: ToolEnd, at: int) -> None:
    count, ordinal = len(heard.replies), event.meta.tool_ordinal
    if ordinal is None:
        waiting = (
            place
            for place, each in heard.performances.items()
            if place[0] == count and each.end is None and each.call_id == end.tool_call_id
        )
        place = next(waiting, (count, 0))
    else:
        place = count, ordinal
    known = heard.performances.setdefault(place, Performance(end.tool_call_id))  # answered here, announced before
    known.end, known.at = end, at


def _is_open(payload: ToolsAbsent | ToolsCoverageDeclared, behind: Sequence[Event[Any]]) -> bool:
    """Whether what a call says of its reach is said by its question: it has no end behind it."""
    ends = (event.payload for event in behind if isinstance(event.payload, ToolEnd))
    return not any(end.tool_call_id == payload.tool_call_id for end in ends)


def _manifests(events: Sequence[Event[Any]]) -> tuple[int, int]:
    """How many replies came without the tools that were sent, and how many with others than were offered (INT-5)."""
    for event in reversed(events):
        if isinstance(event.payload, IntegrityDisposition):
            for row in thaw(event.payload.rows):
                if row.get("seam") == "wire" and row.get("check") == "invariant-violation":
                    return row.get("unreachable", 0), row.get("findings", 0)
    return 0, 0


def _fill_replies(recording: Recording, heard: Heard, manifests: tuple[int, int]) -> None:
    without, other = manifests
    calls = recording.calls
    for number, reply in enumerate(heard.replies):
        end = reply.end
        if end is None:
            continue
        behind = calls[number + 1].begun_at if number + 1 < len(calls) else None
        reply.blocks = _blocks(recording.value_at("thinkingBlocks", behind))
        manifest: WireToolManifest | None = None
        if number >= without:
            offered = tuple(str(tool["name"]) for tool in thaw(as_list(reply.start.tools) or ()))
            manifest = WireToolManifest((*offered, "") if number < without + other else offered)
        reply.response = LLMResponse(
            end.content,
            tool_calls=_proposed(recording.value_at("llmLatestToolCalls", behind), end),
            usage=Usage.from_wire(thaw(end.usage)),
            stop_reason=end.stop_reason,
            provider_ref=end.provider_response_ref,
            raw_thinking=True if reply.blocks or reply.unread else None,
            wire_manifest=manifest,
        )


def _proposed(found: Value, end: LLMEnd) -> tuple[ToolCall, ...]:
    """The calls of a reply; of one that was never committed, only how many there were."""
    count = int(end.tool_call_count)
    calls = () if found is ABSENT or not count else as_list(found) or ()
    if len(calls) != count:
        return tuple(ToolCall("", "unknown", {}) for _ in range(count))
    return tuple(message_from_wire({"role": "assistant", "content": "", "toolCalls": thaw(found)}).tool_calls)


def _blocks(found: Value) -> tuple[ThinkingBlock, ...]:
    if found is ABSENT or not as_list(found):
        return ()
    return tuple(message_from_wire({"role": "assistant", "content": "", "thinkingBlocks": thaw(found)}).thinking_blocks)


def question_of(asked: JsonObject) -> dict[str, Any]:
    """What a tool asked, without what the loop wrote beside it."""
    return {key: asked[key] for key in asked if key not in _IDS}
