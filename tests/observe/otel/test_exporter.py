"""Tests of agentfootprint.observe.otel.exporter."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any, cast

import pytest
from hypothesis import given
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from agentfootprint import Agent, Identity, LLMCall, Mock, Usage, ask_human, tool
from agentfootprint.errors import ConfigError
from agentfootprint.events import PAYLOADS, UnknownEvent
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import ExportOptions, OtelExporter, attach_exporter
from tests.events.strategies import json_values
from tests.observe.made import event
from tests.observe.otel.tracing import Tracing

SEEN: list[str] = []


@tool
async def weather(city: str) -> dict[str, Any]:
    """Look up the weather."""
    current = trace.get_current_span()
    SEEN.append(current.name if isinstance(current, ReadableSpan) else "nothing")
    await asyncio.sleep(0)
    return {"city": city, "temp": 21}


@tool
def confirm(amount: int) -> str:
    """Ask a person."""
    return str(ask_human("Approve?"))


def call(id_: str, city: str) -> ToolCall:
    return ToolCall(id_, "weather", {"city": city})


def desk(*replies: Any, **options: Any) -> Agent[Any, str]:
    return Agent(Mock(list(replies)), id="desk", tools=[weather, confirm], **options)


async def test_a_turn_is_one_trace_of_iterations_model_calls_and_tools() -> None:
    """SNK-20, SNK-21."""
    tracing, agent = Tracing(), desk(LLMResponse("", tool_calls=[call("c1", "Paris")]), "It is 21.")
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    await agent.run("Weather?")

    assert {(span.name, tracing.parent_of(span)) for span in tracing.spans} == {
        ("invoke_agent shop", None),
        ("iteration:1", "invoke_agent shop"),
        ("iteration:2", "invoke_agent shop"),
        ("chat mock-model", "iteration:1"),
        ("chat mock-model", "iteration:2"),
        ("execute_tool weather", "iteration:1"),
    }
    assert len({span.context.trace_id for span in tracing.spans if span.context}) == 1
    assert {span.kind for span in tracing.spans if span.name.startswith("chat")} == {SpanKind.CLIENT}
    assert {span.status.status_code for span in tracing.spans} == {StatusCode.UNSET}  # DEC-2
    root = tracing.named("invoke_agent shop")
    for span in tracing.spans:
        assert (root.start_time or 0) <= (span.start_time or 0) <= (span.end_time or 0) <= (root.end_time or 0)


async def test_calls_side_by_side_stand_beside_each_other() -> None:
    """SNK-21."""
    tracing = Tracing()
    agent = desk(LLMResponse("", tool_calls=[call("c1", "Paris"), call("c1", "Rome"), call("c3", "Oslo")]), "Done.")
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer, capture_tool_content=True))

    await agent.run("Weather?")

    tools = [span for span in tracing.spans if span.name == "execute_tool weather"]
    assert [tracing.parent_of(span) for span in tools] == ["iteration:1"] * 3
    for span in tools:  # each with its own result, though an id repeats
        assert span.attributes is not None
        city = str(span.attributes["gen_ai.tool.call.arguments"])[9:-2]
        assert f'"city":"{city}"' in str(span.attributes["gen_ai.tool.call.result"])


async def test_tokens_stand_on_model_spans_once_and_sums_under_a_name_of_ours() -> None:
    """DEC-1, DEC-42."""
    usage = Usage(input=100, output=20, cache_read=80, thinking=5).containing(cache=True, thinking=True)
    tracing = Tracing()
    agent = desk(
        LLMResponse("", tool_calls=[call("c1", "Paris")], usage=usage),
        LLMResponse("Done.", usage=Usage(input=10, output=2, cache_write=3)),
    )
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    await agent.run("Weather?")

    holders = {span.name for span in tracing.spans if "gen_ai.usage.input_tokens" in (span.attributes or {})}
    chats = [dict(span.attributes or {}) for span in tracing.spans if span.name.startswith("chat")]
    assert holders == {"chat mock-model"}
    assert [(each["gen_ai.usage.input_tokens"], each["gen_ai.usage.output_tokens"]) for each in chats] == [
        (100, 20),
        (13, 2),
    ]
    assert chats[0]["gen_ai.usage.cache_read.input_tokens"] == 80
    assert chats[0]["gen_ai.usage.reasoning.output_tokens"] == 5
    assert tracing.attribute("invoke_agent shop", "agentfootprint.usage.input_tokens") == 113
    assert tracing.attribute("invoke_agent shop", "agentfootprint.usage.output_tokens") == 22


async def test_usage_that_is_not_known_is_not_zero() -> None:
    """DEC-6."""
    tracing, agent = Tracing(), desk(LLMResponse("Done.", usage=Usage(known=False)))
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    await agent.run("Weather?")

    said = {key for span in tracing.spans for key in span.attributes or {} if ".usage." in key}
    assert said == {"agentfootprint.usage.unreported_calls"}


async def test_who_and_which_conversation_stand_on_the_root_the_session_as_a_digest() -> None:
    """SNK-22, NEW-96."""
    hidden, raw, agent = Tracing(), Tracing(), desk("Hello.")
    attach_exporter(agent.on, OtelExporter("shop", tracer=hidden.tracer))
    attach_exporter(agent.on, OtelExporter("shop", tracer=raw.tracer, raw_conversation_id=True))

    await agent.run("Hi", identity=Identity(conversation_id="t1", tenant="acme", principal="ann"), session_id="s-1")

    key = "gen_ai.conversation.id"
    assert hidden.attribute("invoke_agent shop", "agentfootprint.principal.id") == "ann"
    assert hidden.attribute("invoke_agent shop", "gen_ai.agent.id") == "desk"
    assert len(hidden.attribute("invoke_agent shop", key)) == 64
    assert raw.attribute("invoke_agent shop", key) == "s-1"


async def test_a_trace_hangs_under_the_span_that_is_current_where_run_is_called() -> None:
    """SNK-28; also when spans are made in a thread."""
    tracing, late, agent = Tracing(), Tracing(), desk("Hello.")
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))
    detached = attach_exporter(agent.on, OtelExporter("shop", tracer=late.tracer), ExportOptions(detach=True))

    with tracing.tracer.start_as_current_span("POST /chat") as request:
        await agent.run("Hi")
        after = trace.get_current_span()
    await detached.stop()

    assert after is request
    assert tracing.parent_of(tracing.named("invoke_agent shop")) == "POST /chat"
    parent = late.named("invoke_agent shop").parent
    assert parent is not None
    assert parent.span_id == request.get_span_context().span_id


async def test_what_a_tool_or_a_model_calls_stands_under_its_span() -> None:
    """SNK-28."""
    seen: list[str] = []

    class Watching(Mock):
        async def complete(self, *args: Any, **kwargs: Any) -> LLMResponse:
            current = trace.get_current_span()
            seen.append(current.name if isinstance(current, ReadableSpan) else "nothing")
            return await super().complete(*args, **kwargs)

    tracing = Tracing()
    agent = Agent(Watching([LLMResponse("", tool_calls=[call("c1", "Paris")]), "Done."]), tools=[weather])
    agent.on("agentfootprint.stream.token", print)
    SEEN.clear()
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    await agent.run("Hi")

    assert set(seen) <= {"chat mock-model"}
    assert SEEN == ["execute_tool weather"]
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_a_failed_run_is_an_error_on_the_root_alone_and_leaves_nothing_current() -> None:
    """SNK-25, DEC-2."""
    tracing, agent = Tracing(), desk(ConnectionError("socket hang up"))
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    with pytest.raises(Exception):  # noqa: B017, PT011  whatever the loop makes of it
        await agent.run("Hi")

    assert {span.name: span.status.status_code for span in tracing.spans} == {
        "chat mock-model": StatusCode.UNSET,
        "iteration:1": StatusCode.UNSET,
        "invoke_agent shop": StatusCode.ERROR,
    }
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_a_turn_that_waits_ends_and_the_one_that_goes_on_is_linked_to_it() -> None:
    """SNK-25."""
    tracing = Tracing()
    agent = desk(LLMResponse("", tool_calls=[ToolCall("c7", "confirm", {"amount": 900})]), "Sent.")
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    waits = await agent.run("Refund me")
    assert waits.paused is not None
    await agent.resume(waits.paused, "yes")

    first, second = [span for span in tracing.spans if span.name == "invoke_agent shop"]
    assert first.attributes is not None
    assert first.context is not None
    assert first.attributes["agentfootprint.paused"] is True
    assert second.context is not None
    assert second.context.trace_id != first.context.trace_id
    assert [link.context.span_id for link in second.links] == [first.context.span_id]


async def test_of_turns_that_wait_alike_the_one_that_was_answered_is_linked() -> None:
    """EVT-31: the first event of the resumed run names the run that paused."""
    tracing = Tracing()
    proposal = LLMResponse("", tool_calls=[ToolCall("c7", "confirm", {"amount": 900})])
    agent = Agent(Mock([proposal, proposal, "Sent.", "Sent."]), id="desk", tools=[confirm])
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    one, two = await agent.run("Refund me"), await agent.run("Refund me")
    assert one.paused is not None
    assert two.paused is not None
    await agent.resume(two.paused, "yes")
    await agent.resume(one.paused, "yes")

    first, second, third, fourth = [span for span in tracing.spans if span.name == "invoke_agent shop"]
    assert [link.context for link in third.links] == [second.context]
    assert [link.context for link in fourth.links] == [first.context]
    assert (fourth.attributes or {})["agentfootprint.resumed.run.id"] == one.run_id


async def test_where_events_do_not_name_the_paused_run_no_link_is_guessed() -> None:
    tracing = Tracing()
    exporter = OtelExporter("shop", tracer=tracing.tracer)
    asked = {"reason": "?", "questionPayload": {"toolCallId": "c1"}}
    begun = ("agent.turn_start", {"turnIndex": 0, "userPrompt": "?"})
    ended = ("stream.tool_end", {"toolCallId": "c1", "result": 1, "durationMs": 0})
    for run, *told in (
        ("run-1-1", begun, ("pause.request", asked)),
        ("run-1-2", begun, ("pause.request", asked)),
        ("run-1-3", begun, ended),
        ("run-1-4", begun, ("pause.request", asked)),
        ("run-1-5", begun, ended),
    ):
        for name, payload in told:
            exporter.export(event(name, payload, run=run))
    await exporter.stop()

    linked = [(span.attributes or {})["agentfootprint.run.id"] for span in tracing.spans if span.links]
    assert linked == ["run-1-5"]


async def test_a_lone_model_call_is_a_trace_too() -> None:
    tracing, one = Tracing(), LLMCall(Mock(["Hello."]), system="S")
    attach_exporter(one.on, OtelExporter("shop", tracer=tracing.tracer))

    await one.run("Hi")

    assert [(span.name, tracing.parent_of(span)) for span in tracing.spans] == [
        ("chat mock-model", "invoke_agent shop"),
        ("invoke_agent shop", None),
    ]


async def test_a_hundred_runs_at_once_are_a_hundred_whole_traces() -> None:
    tracing = Tracing()
    agent = Agent(
        Mock(
            lambda request: "Done." if len(request.messages) > 1 else LLMResponse("", tool_calls=[call("c1", "Paris")])
        ),
        tools=[weather],
    )
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    await asyncio.gather(*(agent.run("Hi") for _ in range(100)))

    by_trace: dict[int, list[str]] = {}
    for span in tracing.spans:
        assert span.context is not None
        by_trace.setdefault(span.context.trace_id, []).append(span.name)
    assert len(by_trace) == 100
    assert {len(names) for names in by_trace.values()} == {6}


async def test_a_share_of_turns_is_traced_each_whole() -> None:
    """SNK-20, trap 23."""
    tracing, agent = Tracing(), Agent(Mock(lambda _: "Done."))
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer, sample_rate=0.5))

    for _ in range(60):
        await agent.run("Hi")

    roots = [span for span in tracing.spans if span.name == "invoke_agent shop"]
    assert 10 < len(roots) < 50
    assert len(tracing.spans) == 3 * len(roots)


async def test_stopping_ends_what_is_open_and_says_so() -> None:
    tracing, agent = Tracing(), desk("Hello.")
    subscription = attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    async with agent.stream("Hi") as run:
        async for event in run:
            if event.type == "agentfootprint.stream.llm_start":
                break
        subscription.close()
        await run.result()
    await subscription.stop()

    unfinished = [span.name for span in tracing.spans if (span.attributes or {}).get("agentfootprint.unfinished")]
    assert unfinished in ([], ["invoke_agent shop"])  # the run may have been quicker
    assert any(span.name == "invoke_agent shop" for span in tracing.spans)


async def test_names_and_sums_for_back_ends_that_know_no_conventions() -> None:
    tracing, agent = Tracing(), desk(LLMResponse("", tool_calls=[call("c1", "Paris")]), "Done.")
    exporter = OtelExporter("shop", tracer=tracing.tracer, gen_ai_names=False, root_usage="gen_ai", explain=False)
    attach_exporter(agent.on, exporter)

    await agent.run("Hi")

    assert {span.name for span in tracing.spans} == {"shop", "iteration:1", "iteration:2", "llm", "tool:weather"}
    assert tracing.attribute("shop", "gen_ai.usage.output_tokens") is not None
    assert not [event for span in tracing.spans for event in span.events]


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload.type)
def test_a_payload_that_a_policy_hid_breaks_nothing(payload: Any) -> None:
    """BRG-5."""
    tracing = Tracing()
    exporter = OtelExporter("shop", tracer=tracing.tracer, capture_content=True, capture_tool_content=True)
    meta = {"runId": "run-1-1", "runtimeStageId": "s#1", "wallClockMs": 5}

    for kind in ("agentfootprint.agent.turn_start", "agentfootprint.agent.iteration_start", payload.type):
        exporter.export(UnknownEvent(kind, "[REDACTED]", meta))
    exporter.export(UnknownEvent("agentfootprint.agent.turn_end", "[REDACTED]", meta))

    assert "invoke_agent shop" in [span.name for span in tracing.spans]


@given(value=json_values)
def test_a_payload_of_any_shape_breaks_nothing(value: Any) -> None:
    tracing = Tracing()
    exporter = OtelExporter("shop", tracer=tracing.tracer, capture_content=True, capture_tool_content=True)

    for payload in PAYLOADS:
        exporter.export(UnknownEvent(payload.type, value, {"runId": "run-1-1", "runtimeStageId": "s#1"}))


def test_events_outside_a_run_are_passed_over() -> None:
    tracing = Tracing()
    exporter = OtelExporter("shop", tracer=tracing.tracer)

    exporter.export(UnknownEvent("agentfootprint.agent.turn_start", {}, {"runId": "consumer-scope"}))
    exporter.export(UnknownEvent("agentfootprint.agent.turn_end", {}, {}))

    assert not tracing.spans


@pytest.mark.parametrize(
    ("option", "value"), [("service_name", ""), ("service_name", None), ("sample_rate", 2), ("root_usage", "both")]
)
def test_an_option_that_can_not_work_is_refused(option: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        OtelExporter(**cast("Any", {"service_name": "shop", option: value}))

    assert caught.value.option == option


def test_without_the_package_attaching_names_the_extra_and_nothing_needs_it_before() -> None:
    """SNK-1, SNK-26."""
    program = """
import sys
sys.modules["opentelemetry"] = None
from agentfootprint import Agent, Mock
from agentfootprint.errors import MissingExtraError
from agentfootprint.observe import OtelExporter, attach_exporter
exporter = OtelExporter("shop")
try:
    attach_exporter(Agent(Mock()).on, exporter)
except MissingExtraError as missing:
    assert isinstance(missing, ImportError)
    assert "agentfootprint[otel]" in missing.fix, missing.fix
else:
    raise SystemExit("nothing was missed")
"""

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


async def test_a_run_that_is_cancelled_leaves_no_span_open() -> None:
    tracing, begun = Tracing(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        begun.set()
        await asyncio.sleep(3_600)
        return ""

    agent = Agent(Mock([LLMResponse("", tool_calls=[ToolCall("c1", "wait", {})])]), tools=[wait])
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    async with agent.stream("Hi"):
        await begun.wait()

    assert [span.name for span in tracing.spans][-1] == "invoke_agent shop"
    assert len(tracing.spans) == 4


def test_without_a_tracer_the_global_provider_is_used_and_flushed() -> None:
    program = """
import asyncio
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from agentfootprint import Agent, Mock
from agentfootprint.observe import OtelExporter, attach_exporter

kept, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(BatchSpanProcessor(kept, schedule_delay_millis=3_600_000))
trace.set_tracer_provider(provider)

async def main():
    agent = Agent(Mock(["Hello."]))
    subscription = attach_exporter(agent.on, OtelExporter("shop"))
    await agent.run("Hi")
    assert not kept.get_finished_spans()
    await subscription.flush()
    assert [span.instrumentation_scope.name for span in kept.get_finished_spans()] == ["agentfootprint"] * 3

asyncio.run(main())
"""

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
