"""The demo's scripted model behind a vendor's wire: it decides by the request as it came over the loopback."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from agentfootprint.cli.demo.desk import scripted_model
from agentfootprint.llm import LLMMessage, LLMRequest, Role, ToolSchema
from agentfootprint.testing import (
    AnthropicWire,
    Call,
    Failure,
    FakeVendor,
    OllamaWire,
    OpenAIWire,
    Received,
    Reply,
    Wire,
)

__all__ = ["KEY", "VENDORS", "Script", "WireVendor", "listening", "scripted", "system_on"]

KEY = "sk-marker-3f9c1d77a0b24e58"

Script = Callable[[Received], Reply | Failure]


@dataclass(frozen=True)
class WireVendor:
    """One vendor: its wire, the model that is named, and the variables that lead to the loopback."""

    model: str
    make_wire: Callable[..., Wire]
    address_variable: str

    def environment(self, base_url: str) -> dict[str, str | None]:
        return {
            **dict.fromkeys(("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST")),
            "ANTHROPIC_API_KEY": KEY,
            "OPENAI_API_KEY": KEY,
            self.address_variable: base_url,
        }


VENDORS: Mapping[str, WireVendor] = {
    "anthropic": WireVendor("anthropic:claude-sonnet-4-5", partial(AnthropicWire, key=KEY), "ANTHROPIC_BASE_URL"),
    "openai": WireVendor("openai:gpt-4o-mini", partial(OpenAIWire, key=KEY, is_compatible=True), "OPENAI_BASE_URL"),
    "ollama": WireVendor("ollama:llama3.2", OllamaWire, "OLLAMA_HOST"),
}
"""OpenAI at another address is spoken to as any compatible server is."""


@contextmanager
def listening(wire: Wire, script: Script) -> Generator[FakeVendor]:
    """A vendor in a thread of its own, for a command that has the main one."""
    vendor, ready, loops = FakeVendor(wire, script), threading.Event(), list[asyncio.AbstractEventLoop]()
    ended = asyncio.Event()

    async def serve() -> None:
        async with vendor:
            loops.append(asyncio.get_running_loop())
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    try:
        yield vendor
    finally:
        loops[0].call_soon_threadsafe(ended.set)
        thread.join()


def scripted(received: Received) -> Reply:
    """What the demo's scripted model says to a request of any of the wires."""
    said = scripted_model(_request(received.body), random.Random(received.number))
    if isinstance(said, str):
        return Reply(said)
    return Reply(calls=[Call(call.name, dict(call.args)) for call in said.tool_calls])


def system_on(body: Any) -> str:
    """The system prompt of a request, word for word."""
    if "system" in body:
        return _text(body["system"])
    return "".join(_text(one["content"]) for one in body["messages"] if one["role"] == "system")


def _request(body: Any) -> LLMRequest:
    offered = [each.get("function", each) for each in body.get("tools", ())]
    return LLMRequest(
        model=body["model"],
        messages=[message for turn in body["messages"] for message in _messages(turn)],
        system_prompt=system_on(body),
        tools=[ToolSchema(each["name"], each["description"], {"type": "object"}) for each in offered],
    )


def _messages(turn: Any) -> list[LLMMessage]:
    content: Any = turn.get("content")
    role = turn["role"]
    blocks: list[Any] = [] if content is None or isinstance(content, str) else content
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if results:
        return [LLMMessage("tool", _text(block["content"])) for block in results]
    roles: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
    return [LLMMessage(roles[role], _text(content))] if role in roles else []


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content or ())
