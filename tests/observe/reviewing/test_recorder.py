"""Tests of agentfootprint.observe.reviewing.recorder."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, LLMCall, Mock
from agentfootprint.compose import Sequence
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, EventBus, event_to_wire
from agentfootprint.observe import BoundaryLog
from agentfootprint.recording import FileRecordingSink, Recording, RunFacts, persist_recording, record_run
from tests.observe.made import desk, event


async def test_what_it_recorded_opens_like_a_file_of_the_run(tmp_path: Path) -> None:
    agent = desk()
    recorder = record_run(agent, form="wire")

    result = await agent.run("Weather in Paris?")

    found = recorder.recording()
    whole = result.recording.to_wire()
    assert [event_to_wire(each) for each in found.events] == whole["events"]
    assert found.structure == whole["structure"]
    kept = dict(found.snapshot)
    kept.pop("recorders")
    assert json.loads(json.dumps(kept)) == whole["snapshot"]
    assert Recording.load(found.save(tmp_path / "run.json", form="wire")).run_id == result.run_id


async def test_the_boundaries_ride_along_with_content_or_without() -> None:
    agent = desk()
    full, lean = record_run(agent), record_run(agent, boundary_detail="lean")

    await agent.run("Weather in Paris?")

    assert "Sunny." in json.dumps(BoundaryLog(full.recording()).to_snapshot())
    assert "Sunny." not in json.dumps(BoundaryLog(lean.recording()).to_snapshot())
    kinds = [each.type for each in BoundaryLog(lean.recording()).events()]
    assert {"run.entry", "run.exit", "llm.start", "tool.end", "subflow.entry"} <= set(kinds)


async def test_the_oldest_events_go_and_are_counted() -> None:
    """REC-2."""
    agent = desk()
    recorder, all_of_it = record_run(agent, max_events=7), record_run(agent)

    await agent.run("Weather in Paris?")

    count = all_of_it.event_count
    assert (recorder.event_count, recorder.dropped_events) == (7, count - 7)
    assert recorder.first_retained_event_index == count - 7
    assert list(recorder.recording().events) == list(all_of_it.recording().events)[-7:]


def test_a_recording_may_be_taken_while_the_run_goes_on() -> None:
    agent = desk()
    recorder = record_run(agent)
    taken: list[Recording] = []
    agent.on("agentfootprint.stream.tool_start", lambda _: taken.append(recorder.recording()))

    agent.run_sync("Weather in Paris?")

    assert taken[0].ended is None
    assert len(taken[0].events) < recorder.event_count
    assert recorder.recording().ended == "done"


async def test_runs_side_by_side_are_kept_apart() -> None:
    agent = Agent(Mock(lambda request: f"To {request.messages[-1].content}"))
    recorder = record_run(agent)

    results = await asyncio.gather(*(agent.run(f"question {n}") for n in range(10)))

    for result in results:
        found = recorder.recording(result.run_id)
        assert {each.meta.run_id for each in found.events} == {result.run_id}
        assert found.snapshot["runId"] == result.recording.snapshot["runId"]
    with pytest.raises(ConfigError, match="run-9-9"):
        recorder.recording("run-9-9")


async def test_stopping_takes_off_its_own_listeners_only_and_leaves_what_was_kept() -> None:
    """REC-4."""
    agent, heard = desk(), list[Any]()
    with record_run(agent) as recorder:
        agent.on("*", heard.append)
        await agent.run("Weather in Paris?")
    count = recorder.event_count

    recorder.stop()
    await agent.run("And in Rome?")

    assert (recorder.event_count, recorder.active) == (count, False)
    assert len(heard) > count
    assert recorder.recording().ended == "done"
    assert agent.run_watchers == []


async def test_a_recorder_that_comes_too_late_has_nothing_of_the_beginning() -> None:
    """Trap 3: nothing is invented about what was not heard."""
    agent = desk()
    late: list[Any] = []
    agent.on("agentfootprint.agent.turn_start", lambda _: late.append(record_run(agent)), once=True)

    await agent.run("Weather in Paris?")

    kinds = [each.type for each in late[0].recording().events]
    assert "agentfootprint.agent.run_configured" not in kinds
    assert late[0].recording().structure is None


async def test_a_bare_model_call_is_recorded_too() -> None:
    call = LLMCall(Mock("Paris."))
    recorder = record_run(call)

    result = await call.run("Capital of France?")

    assert recorder.recording().run_id == result.run_id
    assert recorder.recording().snapshot["sharedState"] == result.recording.snapshot["sharedState"]


async def test_a_composition_is_recorded_with_the_agents_in_it() -> None:
    pair = Sequence([LLMCall(Mock("a"), id="la"), Agent(Mock("b"), id="b")])
    recorder = record_run(pair)

    result = await pair.run("?")

    found = recorder.recording()
    assert (found.run_id, found.ended) == (result.run_id, "done")
    assert {each.meta.run_id for each in found.events} == {result.run_id}


def test_a_runner_that_has_only_events_is_recorded_by_them() -> None:
    bus = EventBus()

    class Runner:
        def on(self, pattern: str, listener: Any, *, form: str = "native") -> Any:
            del form
            return bus.on(pattern, listener)

    recorder = record_run(Runner())
    bus.dispatch(event("shop.basket.filled", {"embedding": [3.0, 4.0]}))

    (found,) = recorder.recording().events
    assert event_to_wire(found)["payload"] == {"embedding": {"dims": 2, "norm": 5}}


async def test_vectors_are_kept_whole_on_request() -> None:
    """Trap 19, REC-5."""
    agent = desk()
    short, whole = record_run(agent), record_run(agent, record_embeddings=True)

    agent.emit("shop.indexed", {"embeddings": [[1.0, 0.0], [0.0, 2.0]]})

    assert _payloads(short.recording()) == [{"embeddings": [{"dims": 2, "norm": 1}, {"dims": 2, "norm": 2}]}]
    assert _payloads(whole.recording()) == [{"embeddings": [[1.0, 0.0], [0.0, 2.0]]}]


def _payloads(recording: Recording) -> list[Any]:
    events: list[Event[Any]] = list(recording.events)
    return [event_to_wire(each)["payload"] for each in events]


async def test_a_recorder_is_kept_with_what_it_has_counted(tmp_path: Path) -> None:
    agent = desk()
    recorder = record_run(agent, max_events=5)
    await agent.run("Weather in Paris?")

    facts = RunFacts(complete=False, started_at=0)
    stored = await persist_recording(recorder, sink=FileRecordingSink(tmp_path), run=facts)

    run = json.loads((tmp_path / f"{stored.id}.json").read_text("utf-8"))["run"]
    assert run["droppedEvents"] == run["firstRetainedEventIndex"] == recorder.dropped_events


@pytest.mark.parametrize("options", [{"boundary_detail": "some"}, {"form": "xml"}])
def test_words_that_are_none_are_refused(options: Any) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        record_run(desk(), **options)
