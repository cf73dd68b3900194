"""Traps of chapter 02, section 25, about what is sent, what is told, and how long a run may be."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, cast

import msgspec
import pytest

from agentfootprint import Agent, Fact, Limits, Mock, RunCheckpointError, tool
from agentfootprint.events import Event, EventMeta, event_to_wire
from agentfootprint.llm import CallHooks, LLMChunk, LLMRequest, LLMResponse, ProviderContractError, ToolCall
from agentfootprint.trace import FrozenDict, FrozenList, Record, View

ITERATIONS = 2_000


@tool
async def look(order: str) -> str:
    """Look an order up."""
    return f"{order}: shipped"


@tool
async def close() -> None:
    """Close something, and have nothing to say of it."""


class Kept(Mock):
    """A model that keeps what it was sent."""

    def __init__(self, script: Sequence[Any]) -> None:
        super().__init__(script)
        self.sent: list[dict[str, Any]] = []

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        self.sent.append(request.to_wire())
        return await super().complete(request, hooks)

    stream = None  # type: ignore[assignment]  asked as a whole


async def test_trap_t6_an_empty_text_beside_calls_stays_so_that_the_result_has_its_call() -> None:
    model = Kept([LLMResponse("", tool_calls=[ToolCall("c1", "look", {"order": "A"})]), "Shipped."])

    await Agent(model, tools=[look]).run("Where is A?")

    said, answered = model.sent[1]["messages"][1:]
    assert (said["role"], said["content"]) == ("assistant", "")
    assert [call["id"] for call in said["toolCalls"]] == ["c1"]
    assert answered["toolCallId"] == "c1"


async def test_trap_t7_a_tool_that_returns_nothing_is_answered_with_a_text() -> None:
    model = Kept([LLMResponse("", tool_calls=[ToolCall("c1", "close", {})]), "Closed."])

    result = await Agent(model, tools=[close]).run("Close it.")

    answered = model.sent[1]["messages"][-1]
    assert answered["content"] == "(this tool returned no value)"
    assert result.tool_calls[0].ok


async def test_trap_t13_two_listeners_that_are_alike_both_hear() -> None:
    heard: list[str] = []

    def listen(event: Event[Any]) -> None:
        heard.append(event.type)

    agent = Agent(Mock("Paris."))
    agent.on("agentfootprint.agent.turn_end", listen)
    agent.on("agentfootprint.agent.turn_end", listen)

    await agent.run("Hello.")

    assert len(heard) == 2


async def test_trap_t24_what_an_event_holds_never_changes_afterwards() -> None:
    now: list[tuple[Event[Any], dict[str, Any]]] = []
    agent = Agent(
        Mock([Mock.call("look", order="A"), Mock.call("look", order="B"), "Shipped."]),
        tools=[look],
        context=[Fact("after", "You have looked.", when=lambda turn: turn.iteration > 1)],
    )
    for form in ("native", "wire"):
        agent.on("*", lambda event: now.append((event, event_to_wire(event))), form=cast("Any", form))

    result = await agent.run("Where are they?")

    assert [event_to_wire(event) for event, _ in now] == [then for _, then in now]
    held = [part for event in (*(each for each, _ in now), *result.recording.events) for part in parts(event.payload)]
    assert {type(part) for part in held if not isinstance(part, FROZEN)} == set()


FROZEN = (str, int, float, bool, type(None), msgspec.UnsetType, tuple, Record, FrozenDict, FrozenList, View, EventMeta)
"""Kinds that can't change; what stands in them is looked at too."""


def parts(value: object) -> list[object]:
    """A value and all that stands in it."""
    inner: list[object] = []
    if isinstance(value, Mapping):
        inner = list(cast("Mapping[str, object]", value).values())
    elif isinstance(value, msgspec.Struct) and not isinstance(value, (FrozenList, View)):
        inner = [getattr(value, name) for name in value.__struct_fields__]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inner = list(cast("Sequence[object]", value))
    return [value, *(part for each in inner for part in parts(each))]


async def test_trap_t30_two_thousand_iterations_work_each_with_the_work_and_the_bytes_of_the_first(
    tmp_path: Path,
) -> None:
    counter, at = [0], list[int]()

    @tool
    async def count(n: int) -> str:
        """Count the calls of functions so far."""
        at.append(counter[0])
        return f"{n:04}"

    def called(_: FrameType, what: str, __: object) -> None:
        counter[0] += what in ("call", "c_call")

    script = [*(Mock.call("count", n=1_000 + n) for n in range(ITERATIONS - 1)), "Done."]
    limits = Limits(iterations=ITERATIONS)
    agent = Agent(Mock(script), tools=[count], limits=limits)
    before = sys.getprofile()
    sys.setprofile(called)
    try:
        result = await agent.run("Count.")
    finally:
        sys.setprofile(before)

    assert result.iterations == ITERATIONS
    early, late = at[300] - at[200], at[-100] - at[-200]
    assert late <= early * 1.02
    lines = result.recording.save(tmp_path / "run.jsonl").read_bytes().splitlines()
    third = len(lines) // 3
    assert size(lines[2 * third : 3 * third]) <= size(lines[third : 2 * third]) * 1.05


def size(lines: list[bytes]) -> int:
    return sum(map(len, lines))


class Silent:
    """A provider whose stream has a chunk without text."""

    name = "silent"

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        raise AssertionError("it streams")

    async def stream(self, request: LLMRequest, hooks: CallHooks | None = None) -> AsyncIterator[LLMChunk]:
        yield LLMChunk(token_index=0, content=cast("str", None))


async def test_trap_t33_a_chunk_without_text_is_an_error_that_names_the_provider() -> None:
    with pytest.raises(RunCheckpointError) as failed:
        await Agent(Silent()).run("Hello.")

    cause = failed.value.cause
    assert isinstance(cause, ProviderContractError)
    assert "silent" in str(cause)
    assert "NoneType" in str(cause)
