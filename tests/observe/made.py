"""Events and runs that the tests of the room's views look at."""

from __future__ import annotations

from typing import Any

from agentfootprint import Agent, Mock, ToolCall, tool
from agentfootprint.events import Event, event_from_wire
from agentfootprint.llm import LLMResponse

__all__ = ["desk", "event", "tool_end", "tool_start"]


def event(
    name: str, payload: Any, *, at: str = "tool-calls#22", run: str = "run-1-1", ordinal: int | None = None, **meta: Any
) -> Event[Any]:
    """An event as a file holds it; `name` without its first segment."""
    path = at.split("/")[:-1]
    facts = {
        "wallClockMs": 0,
        "runOffsetMs": 0,
        "runtimeStageId": at,
        "subflowPath": path,
        "compositionPath": ["Agent:a"],
    }
    marks = {} if ordinal is None else {"toolOrdinal": ordinal}
    whole = {**facts, "runId": run, **marks, **meta}
    return event_from_wire({"type": f"agentfootprint.{name}", "payload": payload, "meta": whole})


def tool_start(call_id: str, name: str, args: dict[str, Any] | None = None, **where: Any) -> Event[Any]:
    more = {"notDispatched": where.pop("not_dispatched")} if "not_dispatched" in where else {}
    return event("stream.tool_start", {"toolName": name, "toolCallId": call_id, "args": args or {}, **more}, **where)


def tool_end(call_id: str, result: Any = None, **where: Any) -> Event[Any]:
    more = {"notDispatched": where.pop("not_dispatched")} if "not_dispatched" in where else {}
    payload = {"toolCallId": call_id, "result": result, "durationMs": 1, **more}
    return event("stream.tool_end", payload, **where)


def desk(turns: int = 1, **options: Any) -> Agent[Any, str]:
    """An agent that looks the weather up so many times and then answers."""

    @tool
    def weather(city: str) -> dict[str, object]:
        """Look up the weather of a city."""
        return {"city": city, "station": "STN-77"}

    asks = [
        LLMResponse("Let me check", tool_calls=[ToolCall("c1", "weather", {"city": f"Paris {turn}"})])
        for turn in range(turns)
    ]
    return Agent(Mock([*asks, "Sunny."], cursor="history"), tools=[weather], id="desk", **options)
