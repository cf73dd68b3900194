"""Tests of agentfootprint.observe.aws.traces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint import Agent, LLMCall, Mock
from agentfootprint.compose import Sequence
from agentfootprint.errors import AgentFootprintError, ConfigError, MissingExtraError
from agentfootprint.events import Event
from agentfootprint.observe.aws import XRayExporter
from tests.observe.aws.conftest import Cloud
from tests.observe.aws.refusing import Client, refusal
from tests.observe.made import desk, event, tool_end, tool_start


def documents(client: Client) -> list[dict[str, Any]]:
    return [json.loads(text) for batch in client.given("put_trace_segments", "TraceSegmentDocuments") for text in batch]


async def exported(events: list[Event[Any]], **options: Any) -> list[dict[str, Any]]:
    client = Client()
    exporter = XRayExporter("desk", client=client, **options)
    for each in events:
        exporter.export(each)
    await exporter.flush()
    return documents(client)


async def test_the_service_takes_the_trace_of_a_run_and_knows_it_by_its_id(cloud: Cloud) -> None:
    agent = desk()
    exporter = XRayExporter("desk", client=cloud.client("xray"))
    agent.attach(exporter)

    await agent.run("Weather in Paris?")
    await agent.aclose()

    summaries = cloud.client("xray").get_trace_summaries(StartTime=0, EndTime=4_000_000_000)["TraceSummaries"]
    found = cloud.client("xray").batch_get_traces(TraceIds=[each["Id"] for each in summaries])["Traces"]
    names = sorted(json.loads(each["Document"])["name"] for trace in found for each in trace["Segments"])
    assert names == ["desk", "iteration:1", "iteration:2", "llm", "llm", "tool:weather"]
    assert exporter.dropped == 0


async def test_nothing_is_sent_before_the_turn_has_ended() -> None:
    events = list((await desk().run("Weather in Paris?")).recording.events)
    end = next(n for n, each in enumerate(events) if each.type.endswith("turn_end"))

    assert await exported(events[:end]) == []
    assert len(await exported(events)) == 6


async def test_content_leaves_only_when_asked_for() -> None:
    events = list((await Agent(Mock("marker-7f3a")).run("marker-0b1c")).recording.events)

    quiet, told = await exported(events), await exported(events, include_content=True)

    assert "marker" not in json.dumps(quiet)
    assert "marker-7f3a" in json.dumps(told)
    assert "marker-0b1c" not in json.dumps(told)


async def test_a_reply_that_no_document_can_hold_is_left_out() -> None:
    events = list((await Agent(Mock("x" * 70_000)).run("?")).recording.events)

    told = await exported(events, include_content=True)

    assert all(len(json.dumps(each)) < 64_000 for each in told)


async def test_calls_of_one_batch_are_siblings_and_paired_by_their_place() -> None:
    events = [
        event("agent.turn_start", {"turnIndex": 0, "userPrompt": "?"}, at="seed#0"),
        event("agent.iteration_start", {"turnIndex": 0, "iterIndex": 1}, at="call-llm#18"),
        tool_start("c1", "first", ordinal=0),
        tool_start("c1", "second", ordinal=1),
        tool_end("c1", "no", ordinal=1, wallClockMs=1_000),
        tool_end("c1", "yes", ordinal=0, wallClockMs=2_000),
        event("error.fatal", {"error": "?", "stage": "tool-calls", "scope": "run"}),
    ]

    second, first, iteration, root = await exported(events)

    assert (second["name"], first["name"]) == ("tool:second", "tool:first")
    assert second["parent_id"] == first["parent_id"] == iteration["id"]
    assert (second["end_time"], first["end_time"]) == (1.0, 2.0)
    assert root["fault"] is True


async def test_a_clock_that_goes_backwards_gives_no_segment_that_ends_before_it_began() -> None:
    events = [
        event("agent.turn_start", {"turnIndex": 0, "userPrompt": "?"}, wallClockMs=9_000),
        event("agent.iteration_start", {"turnIndex": 0, "iterIndex": 1}, wallClockMs=8_000),
        event("agent.turn_end", {"turnIndex": 0, "finalContent": ""}, wallClockMs=7_000),
    ]

    found = await exported(events)

    assert [(each["start_time"], each["end_time"]) for each in found] == [(8.0, 8.0), (9.0, 9.0)]


async def test_a_pause_ends_the_trace_and_a_stop_the_open_ones() -> None:
    begun = event("agent.turn_start", {"turnIndex": 0, "userPrompt": "?"}, run="run-1-1")
    paused = event("pause.request", {"reason": "ask", "questionPayload": {}}, run="run-1-1")
    other = event("agent.turn_start", {"turnIndex": 0, "userPrompt": "?"}, run="run-1-2")
    client = Client()
    exporter = XRayExporter("desk", client=client)

    for each in (begun, paused, other):
        exporter.export(each)
    await exporter.flush()
    await exporter.stop()

    assert [each["annotations"] for each in documents(client)] == [{"paused": True}, {"unfinished": True}]


async def test_a_bare_model_call_is_a_trace_too() -> None:
    client = Client()
    exporter = XRayExporter("desk", client=client)
    call = LLMCall(Mock("Hi"))
    call.on("*", exporter.export)

    await call.run("?")
    await exporter.flush()

    assert [each["name"] for each in documents(client)] == ["llm", "desk"]


async def test_an_agent_in_a_composition_stands_under_it() -> None:
    client = Client()
    exporter = XRayExporter("desk", client=client)
    pair = Sequence([LLMCall(Mock("a"), id="la"), Agent(Mock("b"), id="b")])
    pair.on("*", exporter.export)

    await pair.run("?")
    await exporter.flush()

    found = {each["name"]: each for each in documents(client)}
    assert list(found) == ["llm", "iteration:1", "agent:step-b", "desk"]
    assert found["iteration:1"]["parent_id"] == found["agent:step-b"]["id"]
    assert found["agent:step-b"]["parent_id"] == found["desk"]["id"]


async def test_a_name_that_the_service_refuses_is_mended() -> None:
    events = [
        event("agent.turn_start", {"turnIndex": 0, "userPrompt": "?"}),
        tool_start("c1", "look<up>" + "x" * 300),
        tool_end("c1", "yes"),
        event("agent.turn_end", {"turnIndex": 0, "finalContent": ""}),
    ]

    tool, _ = await exported(events)

    assert tool["name"].startswith("tool:look_up_x")
    assert len(tool["name"]) == 200


async def test_segments_that_the_service_did_not_take_are_counted() -> None:
    """Trap 5."""
    client = Client({"UnprocessedTraceSegments": [{"Id": "1", "ErrorCode": "ThrottledException"}]})
    exporter = XRayExporter("desk", client=client)
    exporter.export(event("agent.turn_start", {"turnIndex": 0, "userPrompt": "?"}))
    exporter.export(event("agent.turn_end", {"turnIndex": 0, "finalContent": ""}))

    with pytest.raises(AgentFootprintError, match=r"X-Ray: ThrottledException; 1 are lost"):
        await exporter.flush()

    assert exporter.dropped == 1


async def test_a_refused_batch_is_lost_and_told() -> None:
    exporter = XRayExporter("desk", client=Client(refusal("InvalidRequestException")))
    exporter.export(event("agent.turn_start", {"turnIndex": 0, "userPrompt": "?"}))
    exporter.export(event("agent.turn_end", {"turnIndex": 0, "finalContent": ""}))

    with pytest.raises(AgentFootprintError, match="InvalidRequestException"):
        await exporter.flush()


async def test_a_turn_is_sampled_whole() -> None:
    """Trap 23."""
    runs = [[*(await desk().run("?")).recording.events] for _ in range(20)]

    sizes = {len(await exported(run, sample_rate=0.5)) for run in runs}

    assert sizes <= {0, 6}


def test_options_that_can_not_work_are_refused() -> None:
    with pytest.raises(ConfigError):
        XRayExporter("")
    with pytest.raises(ConfigError):
        XRayExporter("desk", sample_rate=2)


def test_without_the_extra_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)

    with pytest.raises(MissingExtraError, match=r"agentfootprint\[aws\]"):
        XRayExporter("desk").validate()
