"""Tests of agentfootprint.observe.otel.content: what spans tell of messages, and what only when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from agentfootprint import Agent, Mock, RecordOptions, RunResult, tool
from agentfootprint.events import decode_event, encode_event
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import OtelExporter, attach_exporter
from tests.observe.otel.importing import assert_same_as_run, read
from tests.observe.otel.tracing import Tracing, texts_of

MARK = "marker-7f3a"


@tool
def weather(city: str, note: str = "") -> dict[str, Any]:
    """Look up the weather."""
    if city == "Nowhere":
        raise RuntimeError(f"{MARK}-error: no such city")
    return {"city": city, "temp": 21, "note": note}


def call(id_: str, city: str) -> ToolCall:
    return ToolCall(id_, "weather", {"city": city, "note": f"{MARK}-argument"})


REPLIES = (
    LLMResponse(f"{MARK}-thought", tool_calls=[call("c1", "Paris"), call("c2", "Rome")]),
    LLMResponse("", tool_calls=[call("c3", "Nowhere")]),
    LLMResponse(f"{MARK}-answer"),
)


async def traced(**options: Any) -> tuple[Sequence[ReadableSpan], RunResult[Any]]:
    tracing = Tracing()
    agent = Agent(
        Mock(list(REPLIES)), tools=[weather], system=f"{MARK}-system", record=RecordOptions(system_prompt=True)
    )
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer, **options))
    result = await agent.run(f"{MARK}-prompt")
    return tracing.spans, result


async def test_spans_read_back_give_the_messages_and_the_calls_of_the_run() -> None:
    spans, result = await traced(capture_content=True, capture_tool_content=True)

    assert_same_as_run(read([(dict(span.attributes or {}), span.start_time or 0) for span in spans]), result)


async def test_system_text_and_tools_of_a_call_are_told_with_content() -> None:
    spans, _ = await traced(capture_content=True)

    chats = [dict(span.attributes or {}) for span in spans if span.name.startswith("chat")]

    assert json.loads(str(chats[0]["gen_ai.system_instructions"])) == [{"type": "text", "content": f"{MARK}-system"}]
    assert json.loads(str(chats[0]["gen_ai.tool.definitions"])) == [
        {"type": "function", "name": "weather", "description": "Look up the weather."}
    ]


async def test_without_an_option_no_content_is_in_any_span() -> None:
    """SNK-24."""
    spans, result = await traced()

    assert len(spans) == 10
    assert result.output == f"{MARK}-answer"
    assert MARK not in texts_of(spans)


async def test_one_option_gives_its_own_content_alone() -> None:
    """NEW-96: of a failed call there is none."""
    words, _ = await traced(capture_content=True)
    work, _ = await traced(capture_tool_content=True)

    tools = [span for span in words if span.name.startswith("execute_tool")]
    assert MARK not in texts_of(tools)
    others = [span for span in work if not span.name.startswith("execute_tool")]
    assert MARK not in texts_of(others)
    assert f"{MARK}-argument" in texts_of(work)
    assert f"{MARK}-error" not in texts_of(work)


async def test_a_failing_model_tells_no_message() -> None:
    tracing = Tracing()
    agent = Agent(Mock([ConnectionError(f"{MARK}-error")]))
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer, capture_content=True))

    with pytest.raises(Exception):  # noqa: B017, PT011  whatever the loop makes of it
        await agent.run("Hi")

    assert MARK not in texts_of(tracing.spans)
    assert "error.fatal" in texts_of(tracing.spans)


async def test_what_is_too_long_is_left_out_and_its_length_told() -> None:
    tracing = Tracing()
    agent = Agent(Mock(["x" * 70_000]))
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer, capture_content=True))

    await agent.run("Hi")

    attributes = tracing.named("chat mock-model").attributes or {}
    assert "gen_ai.output.messages" not in attributes
    assert cast("int", attributes["agentfootprint.content.omitted_chars"]) > 70_000


async def test_messages_that_are_not_known_to_be_the_request_are_not_told() -> None:
    tracing = Tracing()
    agent = Agent(Mock(["One.", "Two."]))
    first = await agent.run("Hi")
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer, capture_content=True))

    await agent.run("And then?", continue_from=first)

    attributes = tracing.named("chat mock-model").attributes or {}
    assert "gen_ai.input.messages" not in attributes  # an event tells only the last of three
    assert "gen_ai.output.messages" in attributes


async def test_a_stored_run_gives_the_same_spans_as_the_live_one() -> None:
    live, stored = Tracing(), Tracing()
    lines: list[bytes] = []
    agent = Agent(Mock(list(REPLIES)), tools=[weather])
    agent.on("*", lambda event: lines.append(encode_event(event)))
    options: Any = {"capture_content": True, "capture_tool_content": True}
    attach_exporter(agent.on, OtelExporter("shop", tracer=live.tracer, **options))
    await agent.run("Hi")

    exporter = OtelExporter("shop", tracer=stored.tracer, **options)
    for line in lines:
        exporter.export(decode_event(line))

    assert texts_of(stored.spans) == texts_of(live.spans)
