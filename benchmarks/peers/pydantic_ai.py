"""The loop in pydantic-ai: an `Agent` on its `FunctionModel`, with one plain tool, run with `run`.

* The model function is async, so nothing is sent to a thread. It states the usage of each answer: without that,
  `FunctionModel` counts the words of the whole conversation in every iteration, a cost of the test model alone.
* `UsageLimits(request_limit=None)` lifts the default of 50 requests. Instrumentation (Logfire) is off, its default.
* Nothing is recorded but the conversation: `all_messages_json()`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic_ai import (
    Agent,
    AgentRunResult,
    ModelMessage,
    ModelResponse,
    RequestUsage,
    TextPart,
    ToolCallPart,
    UsageLimits,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from benchmarks.peers.script import ANSWER, QUESTION, SYSTEM, TOOL, Script


def prepare(iterations: int) -> Callable[[], Awaitable[object]]:
    """A run of so many iterations."""
    script = Script(iterations)
    usage = RequestUsage(input_tokens=10, output_tokens=10)

    async def model(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        number, order = script.taken, script.next_order()
        if order is None:
            return ModelResponse([TextPart(ANSWER)], usage=usage)
        call = ToolCallPart(TOOL, {"order_id": order}, tool_call_id=f"call-{number}")
        return ModelResponse([call], usage=usage)

    agent = Agent(FunctionModel(model), instructions=SYSTEM)

    @agent.tool_plain
    async def lookup(order_id: str) -> str:
        """Look up one order by its number."""
        return f"Order {order_id}: shipped."

    async def run() -> object:
        result = await agent.run(QUESTION, usage_limits=UsageLimits(request_limit=None))
        if result.output != ANSWER or len(result.all_messages()) != 2 * iterations:
            raise AssertionError(result.output)
        return result

    return run


def conversation_bytes(result: AgentRunResult[str]) -> int:
    """The conversation as pydantic-ai writes it."""
    return len(result.all_messages_json())
