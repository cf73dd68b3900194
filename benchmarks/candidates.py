"""The loops that are timed: one tool call an iteration, a scripted model, N iterations and an answer.

All candidates do the same work: ask the model with the whole conversation, run the tool it asks for, append both.
"""

from __future__ import annotations

import asyncio
import gc
import json
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentfootprint.llm import LLMMessage, LLMRequest, LLMResponse, Mock, ToolSchema
from agentfootprint.trace import FrozenList

if TYPE_CHECKING:
    from agentfootprint import RunResult

QUESTION = "How are the orders doing?"
SYSTEM = "You look after orders."


def script(iterations: int) -> Mock:
    """A model that asks for the tool in every iteration but the last."""
    calls: list[str | LLMResponse] = [Mock.call("lookup", order_id=f"A-{n}") for n in range(iterations - 1)]
    return Mock([*calls, "All orders have shipped."], cursor="run")


async def lookup(order_id: str) -> str:
    """Look up one order by its number."""
    return f"Order {order_id}: shipped."


SCHEMA = ToolSchema(
    "lookup",
    "Look up one order by its number.",
    {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
)


async def bare(iterations: int) -> object:
    """The floor: the loop and nothing else."""
    model, history = script(iterations), FrozenList([LLMMessage("user", QUESTION)], 1)
    while True:
        response = await model.complete(
            LLMRequest(model="mock", messages=history, system_prompt=SYSTEM, tools=(SCHEMA,))
        )
        history = history.append(LLMMessage("assistant", response.content, tool_calls=response.tool_calls))
        if not response.tool_calls:
            return history
        for call in response.tool_calls:
            text = await lookup(**call.args)
            history = history.append(LLMMessage("tool", text, tool_call_id=call.id, tool_name=call.name))


async def recorded_floor(iterations: int) -> object:
    """The floor of a recording: 20 small records and 8 commits an iteration, by hand."""
    model, history = script(iterations), FrozenList([LLMMessage("user", QUESTION)], 1)
    log: list[Any] = []
    state: dict[str, Any] = {f"key{n}": n for n in range(40)}
    started = time.perf_counter_ns()
    for iteration in range(1, iterations + 1):
        response = await model.complete(
            LLMRequest(model="mock", messages=history, system_prompt=SYSTEM, tools=(SCHEMA,))
        )
        for n in range(20):
            record = {"type": "event", "step": n, "dt": time.perf_counter_ns() - started, "iteration": iteration}
            log.append(record)
        history = history.append(LLMMessage("assistant", response.content, tool_calls=response.tool_calls))
        for call in response.tool_calls:
            text = await lookup(**call.args)
            history = history.append(LLMMessage("tool", text, tool_call_id=call.id, tool_name=call.name))
        for n in range(8):
            state = {**state, f"key{n}": iteration, "history": history}
            log.append((n, state[f"key{n}"]))
    return log


async def ours(iterations: int) -> RunResult:
    """An agent with full recording, nobody listening."""
    from agentfootprint import Agent, Limits, tool

    agent = Agent(script(iterations), system=SYSTEM, tools=[tool(lookup)], limits=Limits(iterations=iterations + 1))
    return await agent.run(QUESTION)


CANDIDATES: dict[str, Callable[[int], Awaitable[Any]]] = {
    "bare": bare,
    "recorded-floor": recorded_floor,
    "agentfootprint": ours,
}


def seconds_per_iteration(name: str, iterations: int, *, collector: bool = True) -> float:
    """Time one candidate in this process: warmed, collected, best of a few repeats."""
    candidate = CANDIDATES[name]
    repeats = 5 if iterations <= 200 else 2

    async def measure() -> float:
        await candidate(30)
        best = float("inf")
        for _ in range(repeats):
            gc.collect()
            if not collector:
                gc.disable()
            started = time.perf_counter()
            kept = await candidate(iterations)
            best = min(best, time.perf_counter() - started)
            gc.enable()
            del kept
        return best / iterations

    return asyncio.run(measure())


def tracked_objects_per_iteration(low: int = 50, high: int = 150) -> float:
    """Objects that the cyclic garbage collector has to look at, for each iteration that a result keeps."""

    def count(iterations: int) -> int:
        result = asyncio.run(ours(iterations))
        gc.collect()
        tracked = len(gc.get_objects())
        del result
        return tracked

    count(30)
    return (count(high) - count(low)) / (high - low)


def memory_per_iteration(low: int = 200, high: int = 600) -> float:
    """Bytes that a result keeps for each iteration."""

    def size(iterations: int) -> int:
        gc.collect()
        tracemalloc.start()
        result = asyncio.run(ours(iterations))
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        del result
        return kept

    size(30)
    return (size(high) - size(low)) / (high - low)


def recording_bytes(iterations: int) -> int:
    """Size of the saved recording in the native form."""
    result = asyncio.run(ours(iterations))
    with tempfile.TemporaryDirectory() as folder:
        return Path(result.recording.save(Path(folder) / "run.json")).stat().st_size


def recording_bytes_per_iteration(low: int = 50, high: int = 150) -> float:
    """Bytes of recording for each further iteration."""
    return (recording_bytes(high) - recording_bytes(low)) / (high - low)


def counts_per_iteration(low: int = 10, high: int = 20) -> dict[str, float]:
    """Executions, commit bundles and events for each further iteration, counted in the wire form."""

    def count(iterations: int) -> dict[str, int]:
        recording = asyncio.run(ours(iterations)).recording
        wire = recording.to_wire()
        inner = [mount for key, mount in wire["snapshot"]["subflowResults"].items() if "#" in key]
        return {
            "executions": int(recording.calls[-1].step.rpartition("#")[2]),
            "bundles": len(wire["snapshot"]["commitLog"]) + sum(len(m["treeContext"]["history"]) for m in inner),
            "native events": len(recording.events),
        }

    less, more = count(low), count(high)
    return {key: (more[key] - less[key]) / (high - low) for key in more}


if __name__ == "__main__":
    import sys

    name, number, collector = sys.argv[1], int(sys.argv[2]), sys.argv[3:] != ["--no-gc"]
    print(json.dumps(seconds_per_iteration(name, number, collector=collector)))
