"""What does an adapter add to a request of a long conversation of which all but two messages were sent before?

Timed is what an adapter does between a request and the vendor's SDK, or the socket: the body of 200 messages, with the
names of its tools read back from it. The conversation grows as an agent's does, and each round is a run of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from agentfootprint.llm import LLMMessage, LLMRequest, RequestMessages, ToolCall, ToolSchema
from agentfootprint.providers.anthropic import request as anthropic
from agentfootprint.providers.anthropic.response import manifest_of as anthropic_manifest
from agentfootprint.providers.ollama import request as ollama
from agentfootprint.providers.openai import request as openai
from agentfootprint.trace import FrozenList

MESSAGES: Final = 200
ROUNDS: Final = 40
TOOLS: Final = tuple(
    ToolSchema(
        f"lookup_{subject}",
        f"Look up one {subject} by its number. Use it when the user names one.",
        {"type": "object", "properties": {f"{subject}_id": {"type": "string"}}, "required": [f"{subject}_id"]},
    )
    for subject in ("order", "customer", "parcel")
)
Build = Callable[[LLMRequest], object]


def _anthropic() -> Build:
    options, turns = anthropic.BodyOptions(default_model="claude-sonnet-4-5"), anthropic.Turns()
    return lambda request: anthropic_manifest(anthropic.request_body(request, options, turns))


def _openai() -> Build:
    dialect, memory = openai.Dialect(), openai.Memory()
    return lambda request: openai.manifest_of(openai.build_body(request, dialect, stream=True, memory=memory))


def _ollama() -> Build:
    settings, memory = ollama.Settings(model="llama3.2"), ollama.Memory()
    return lambda request: ollama.manifest_of(ollama.build_body(request, settings, stream=True, memory=memory))


ADAPTERS: Final[dict[str, Callable[[], Build]]] = {"anthropic": _anthropic, "openai": _openai, "ollama": _ollama}
"""For each vendor, what makes the translator of one run's requests."""


def conversation() -> tuple[LLMRequest, LLMRequest]:
    """The request before the last tool call of a run, and the one after it, which holds 200 messages."""
    history = FrozenList([LLMMessage("user", "How are the orders doing?"), LLMMessage("user", "All of them.")], 2)
    view = RequestMessages(history)
    while history.n < MESSAGES:
        view = view.over(history)
        number = history.n
        call = ToolCall(f"call_{number}", "lookup_order", {"order_id": f"A-{number:04}", "limit": 5, "fresh": True})
        text = f"Order A-{number:04}: shipped, to be delivered in {number % 7} days."
        history = history.append(LLMMessage("assistant", "Let me look that up.", tool_calls=[call]))
        history = history.append(LLMMessage("tool", text, tool_call_id=call.id, tool_name=call.name))
    return _request(view), _request(view.over(history))


def _request(messages: RequestMessages) -> LLMRequest:
    return LLMRequest(
        model="a-model", messages=messages, system_prompt="You look after orders.", tools=TOOLS, max_tokens=1_000
    )


def seconds_a_request(adapter: str, *, was_sent: bool = True, rounds: int = ROUNDS) -> float:
    """The time of a body of 200 messages, the best of some rounds.

    Args:
        adapter: One of `ADAPTERS`.
        was_sent: Whether the first 198 messages were sent before in the same run.
        rounds: How often it is timed, each time in a run of its own.
    """
    best = float("inf")
    for _ in range(rounds):
        before, after = conversation()
        build = ADAPTERS[adapter]()
        if was_sent:
            build(before)
        started = time.perf_counter()
        kept = build(after)
        best = min(best, time.perf_counter() - started)
        del kept
    return best
