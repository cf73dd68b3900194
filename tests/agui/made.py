"""Events made by hand, as a recording has them, and what the mapping makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentfootprint.agui import AgUiOptions, verify_events
from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.agui.mapping.outcomes import Outcome
from agentfootprint.events import Event, event_from_wire
from tests.agui.client import Wire, wire_of

__all__ = ["BARE", "called", "event", "iteration", "mapped", "names", "of", "said", "settled", "token", "turn_end"]

BARE = AgUiOptions(timestamps=False, messages_snapshot="never")
CALL, TOOLS, FINAL = "call-llm#1", "tool-calls#2", "final/prepare-final#3"


def event(kind: str, payload: Any, at: str = "seed#0", *, ordinal: int | None = None, **meta: Any) -> Event[Any]:
    """An event of `agentfootprint.<kind>` at an address."""
    where: dict[str, Any] = {
        "wallClockMs": 1_700_000_000_000,
        "runOffsetMs": 0,
        "runtimeStageId": at,
        "subflowPath": [],
        "compositionPath": ["Agent:desk"],
        "runId": "run-1-1",
        **({} if ordinal is None else {"toolOrdinal": ordinal}),
        **meta,
    }
    return event_from_wire({"type": f"agentfootprint.{kind}", "payload": payload, "meta": where})


def iteration(edge: str, number: int, at: str = CALL) -> Event[Any]:
    """An iteration starts or ends."""
    more = {"toolCallCount": 0} if edge == "end" else {}
    return event(f"agent.iteration_{edge}", {"turnIndex": 0, "iterIndex": number, **more}, at)


def token(index: int, text: str, at: str = CALL) -> Event[Any]:
    """A piece of text."""
    return event("stream.token", {"iteration": 1, "tokenIndex": index, "content": text}, at)


def said(text: str, at: str = CALL, calls: int = 0, **usage: Any) -> Event[Any]:
    """A reply."""
    payload = {
        "iteration": 1,
        "content": text,
        "toolCallCount": calls,
        "usage": {"input": 1, "output": 2, **usage},
        "stopReason": "tool_use" if calls else "stop",
        "durationMs": 0,
    }
    return event("stream.llm_end", payload, at)


def called(id: str, name: str = "weather", args: Any = None, at: str = TOOLS, **more: Any) -> Event[Any]:
    """A tool call is taken up."""
    ordinal = more.pop("ordinal", None)
    payload: dict[str, Any] = {"toolName": name, "toolCallId": id, "args": {} if args is None else args, **more}
    return event("stream.tool_start", payload, at, ordinal=ordinal)


def settled(id: str, at: str = TOOLS, *, ordinal: int | None = None, **payload: Any) -> Event[Any]:
    """A tool call has a result."""
    return event("stream.tool_end", {"toolCallId": id, "durationMs": 0, **payload}, at, ordinal=ordinal)


def turn_end(text: str, at: str = FINAL, **more: Any) -> Event[Any]:
    """A turn has its answer."""
    payload = {
        "turnIndex": 0,
        "finalContent": text,
        "totalInputTokens": 0,
        "totalOutputTokens": 0,
        "iterationCount": 1,
        "durationMs": 0,
        **more,
    }
    return event("agent.turn_end", payload, at)


def mapped(
    events: Iterable[Event[Any]], options: AgUiOptions = BARE, outcome: Outcome | None = None, **parts: Any
) -> list[Wire]:
    """What is sent for the events of a run; always what a client accepts."""
    mapper = parts.pop("mapper", None) or Mapper("t-1", "r-1", options, **parts)
    sent = [*mapper.begin(), *(each for event in events for each in mapper.map(event)), *mapper.end(outcome)]
    verify_events(sent)
    verify_events(wire_of(sent))
    return wire_of(sent)


def names(sent: Iterable[Mapping[str, Any]]) -> list[str]:
    """Their types."""
    return [each["type"] for each in sent]


def of(sent: Iterable[Wire], *kinds: str) -> list[Wire]:
    """Those of some types."""
    return [each for each in sent if each["type"] in kinds]
