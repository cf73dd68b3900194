"""The loop in the OpenAI Agents SDK: an `Agent` with a `function_tool`, run with `Runner.run`.

* The model implements the SDK's `Model` and answers with the items of its `agents.testing`. The `ScriptedModel` there
  copies the whole conversation deeply in every call, a cost of the test double alone, so it isn't used.
* Tracing stays on, as it is by default, but no span leaves the process: the exporter that would send them is replaced
  by a processor that keeps them. What they export is what was recorded.
* `max_turns` is raised over its default of 10.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from agents import (
    Agent,
    Model,
    ModelResponse,
    Runner,
    Span,
    Trace,
    TracingProcessor,
    Usage,
    function_tool,
    set_trace_processors,
)
from agents.testing import assistant_message, function_call

from benchmarks.peers.script import ANSWER, QUESTION, SYSTEM, TOOL, Script


class ScriptedResponses(Model):
    """Says what the script says."""

    def __init__(self, script: Script) -> None:
        self.script = script

    async def get_response(self, *_: object, **__: object) -> ModelResponse:
        number, order = self.script.taken, self.script.next_order()
        if order is None:
            item = assistant_message(ANSWER)
        else:
            item = function_call(TOOL, {"order_id": order}, call_id=f"call-{number}")
        return ModelResponse(output=[item], usage=Usage(requests=1), response_id=None)

    def stream_response(self, *_: object, **__: object) -> AsyncIterator[Any]:
        raise AssertionError("The benchmark doesn't stream.")


class KeptSpans(TracingProcessor):
    """Keeps what the SDK would send."""

    def __init__(self) -> None:
        self.items: list[Trace | Span[Any]] = []

    def on_trace_start(self, trace: Trace) -> None:
        """Nothing is known yet."""

    def on_trace_end(self, trace: Trace) -> None:
        self.items.append(trace)

    def on_span_start(self, span: Span[Any]) -> None:
        """Nothing is known yet."""

    def on_span_end(self, span: Span[Any]) -> None:
        self.items.append(span)

    def shutdown(self) -> None:
        """Nothing to close."""

    def force_flush(self) -> None:
        """Nothing waits."""


@function_tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number."""
    return f"Order {order_id}: shipped."


def prepare(iterations: int) -> Callable[[], Awaitable[object]]:
    """A run of so many iterations."""
    agent = Agent(name="Orders", instructions=SYSTEM, tools=[lookup], model=ScriptedResponses(Script(iterations)))
    kept = KeptSpans()
    set_trace_processors([kept])

    async def run() -> object:
        result = await Runner.run(agent, QUESTION, max_turns=iterations + 1)
        if result.final_output != ANSWER or len(result.raw_responses) != iterations:
            raise AssertionError(result.final_output)
        return kept, result

    return run


def span_bytes(result: tuple[KeptSpans, object]) -> int:
    """The spans as the SDK would send them."""
    return sum(len(json.dumps(item.export())) for item in result[0].items)
