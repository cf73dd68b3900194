"""Tests of section 11: what went wrong elsewhere, each once, by its number."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, Identity, Limits, Mock, Usage, ask_human, tool
from agentfootprint.agent import ContextBudget
from agentfootprint.errors import AgentFootprintError
from agentfootprint.events import EVENT_TYPES, CostTick, Event, IterationEnd, domain_of
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import (
    BoundaryLog,
    ExportOptions,
    FileExporter,
    LiveState,
    OtelExporter,
    StatusLine,
    ThinkingTrace,
    attach_exporter,
    build_run_steps,
    cost_line,
    verify_audit,
)
from agentfootprint.observe.aws import XRayExporter
from agentfootprint.recording import (
    IndeterminateRunFactError,
    RunFacts,
    UnsafeRecordingIdError,
    build_recording_envelope,
    record_run,
    recording_file_name,
)
from agentfootprint.trace import FrozenList
from tests.observe.audit.chains import filled
from tests.observe.aws.refusing import Client
from tests.observe.made import desk, event, tool_end, tool_start
from tests.observe.otel.tracing import Tracing
from tests.vectors.harness import load


class Kept:
    """An exporter that keeps what it gets."""

    def __init__(self, name: str = "kept") -> None:
        self.name = name
        self.events: list[Event[Any]] = []
        self.stops = 0

    def export(self, event: Event[Any]) -> None:
        self.events.append(event)

    async def stop(self) -> None:
        self.stops += 1


def test_01_an_event_of_any_registered_type_reaches_its_own_pattern_its_domain_s_and_all() -> None:
    for name in EVENT_TYPES:
        agent, heard = desk(), list[Event[Any]]()
        for pattern in (name, f"{domain_of(name)}.*", "*"):
            agent.on(pattern, heard.append)

        agent.emit(name, {})

        assert [each.type for each in heard] == [name] * 3


async def test_02_what_an_event_holds_does_not_change_while_the_run_goes_on() -> None:
    agent, seen = desk(turns=3), list[tuple[Any, str]]()

    def keep(event: Event[IterationEnd]) -> None:
        history: Any = event.payload.history
        seen.append((history, repr(history)))

    agent.on(IterationEnd.type, keep)
    await agent.run("Weather?")

    histories = [(history, said) for history, said in seen if history is not None]
    assert [repr(history) for history, _ in histories] == [said for _, said in histories]
    assert all(isinstance(history, FrozenList) for history, _ in histories)
    assert len({len(history) for history, _ in histories}) == 3


async def test_03_a_recorder_that_begins_before_the_run_has_its_first_event() -> None:
    agent = desk()
    recorder = record_run(agent)

    await agent.run("Weather?")

    assert recorder.recording().events[0].type == "agentfootprint.agent.run_configured"


async def test_04_a_cost_line_says_what_the_nested_sums_say() -> None:
    class Prices:
        name = "prices"

        def price_per_token(self, model: str, kind: str) -> float:
            del model, kind
            return 0.001

    agent = Agent(Mock([LLMResponse("Hi", usage=Usage(input=10, output=5))]), limits=Limits(pricing=Prices()))
    result = await agent.run("?")

    (tick,) = [each for each in result.recording.events if isinstance(each.payload, CostTick)]
    line = cost_line(tick)
    assert line is not None
    assert (line.cumulative_input_tokens, line.cumulative_cost_usd) == (10, pytest.approx(0.015))


async def test_05_what_an_exporter_raises_is_counted_and_told_and_ends_no_run() -> None:
    class Refusing:
        """A tracer that fails."""

        def start_span(self, *args: object, **more: object) -> object:
            raise RuntimeError("no collector")

    told: list[Exception] = []
    exporter: Any = OtelExporter("shop", tracer=Refusing())

    def on_error(error: Exception, event: object) -> None:
        del event
        told.append(error)

    exporter.on_error = on_error
    agent = desk()
    subscription: Any = agent.attach(exporter)

    result = await agent.run("Weather?")

    assert result.output == "Sunny."
    assert subscription.failures == len(told) > 0


async def test_06_spans_of_a_real_run_have_its_names_and_its_usage() -> None:
    tracing = Tracing()
    agent = Agent(Mock([LLMResponse("Hi", usage=Usage(input=7, output=3))]))
    attach_exporter(agent.on, OtelExporter("shop", tracer=tracing.tracer))

    await agent.run("?")

    assert tracing.attribute("chat mock-model", "gen_ai.usage.input_tokens") == 7
    assert tracing.attribute("chat mock-model", "gen_ai.usage.output_tokens") == 3


async def test_07_nothing_is_in_flight_after_a_failure() -> None:
    live = LiveState()
    agent = Agent(Mock([RuntimeError("down")]))
    live.attach(agent)

    with pytest.raises(AgentFootprintError):
        await agent.run("?")

    assert (live.is_llm_in_flight, live.is_in_turn, live.executing_tools, live.runs) == (False, False, (), ())


async def test_08_an_agent_s_own_machinery_is_no_step_of_the_user() -> None:
    result = await desk().run("Weather?")

    log = BoundaryLog(result.recording)

    assert len(log.steps()) > len(log.visible_steps())
    assert all(step.slot_kind is not None for step in log.visible_steps())


async def test_09_no_beginning_is_worked_out_where_the_head_is_missing() -> None:
    agent = desk()
    recorder = record_run(agent, max_events=5)
    await agent.run("Weather?")

    with pytest.raises(IndeterminateRunFactError, match="missing at its head"):
        build_recording_envelope(recorder.recording(), run=RunFacts(complete=False, dropped_events=9))


def test_10_two_ids_that_one_file_system_takes_for_the_same_are_no_two_files() -> None:
    assert recording_file_name("run-a") == "run-a.json"
    with pytest.raises(UnsafeRecordingIdError):
        recording_file_name("run-A")


def test_11_a_chain_whose_head_was_cut_off_is_no_whole_chain() -> None:
    bundle = filled(5).bundle()
    cut = copy.deepcopy(bundle)
    del cut["records"][0]
    cut["header"]["recordCount"] -= 1
    renamed = copy.deepcopy(cut)
    renamed["header"]["chainHead"] = bundle["records"][0]["hash"]

    assert not verify_audit(cut).valid
    assert not verify_audit(renamed).valid
    renamed["header"]["firstSeq"] = 1
    assert (verify_audit(renamed).valid, verify_audit(renamed).first_seq) == (True, 1)


async def test_12_stopping_one_subscription_leaves_the_other_its_exporter() -> None:
    exporter, one, two = Kept(), desk(), desk()
    first, second = attach_exporter(one.on, exporter), attach_exporter(two.on, exporter)

    await first.stop()
    await two.run("Weather?")
    heard = len(exporter.events)

    assert heard > 0
    assert exporter.stops == 0
    await second.stop()
    await second.stop()
    assert exporter.stops == 1


async def test_13_a_flush_after_a_stop_ends_and_hands_on_what_is_kept(tmp_path: Path) -> None:
    exporter = FileExporter(tmp_path / "events.ndjson")
    await exporter.stop()
    exporter.export(event("shop.basket.filled", {}))

    async with asyncio.timeout(5):
        await exporter.flush()
        await exporter.flush()

    assert len((tmp_path / "events.ndjson").read_text("utf-8").splitlines()) == 1


async def test_14_an_event_that_nobody_hears_has_no_meta_made_for_it() -> None:
    quiet = await desk().run("Weather?")

    assert quiet.recording.journal is not None
    rows: list[Any] = list(quiet.recording.journal.rows)
    events: list[Event[Any]] = [row for row in rows if isinstance(row, Event)]
    assert events
    assert all(each._meta is None for each in events)  # pyright: ignore[reportPrivateUsage]  made on first access


async def test_15_no_run_has_another_s_actor() -> None:
    agent = Agent(Mock(lambda request: request.messages[-1].content))
    people = [None, *(Identity(conversation_id=f"c{n}", principal=f"person-{n}", tenant="t") for n in range(99))]

    results = await asyncio.gather(*(agent.run("Hi", identity=who) for who in people))

    for who, result in zip(people, results, strict=True):
        assert {each.meta.principal for each in result.recording.events} == {who and who.principal}


async def test_16_an_agent_that_a_tool_runs_ends_no_boundary_of_the_one_that_called() -> None:
    inner = Agent(Mock("Sunny."), id="inner")

    @tool
    async def ask_inner() -> str:
        """Ask another agent."""
        return (await inner.run("?")).text

    outer = Agent(Mock([LLMResponse("", tool_calls=[ToolCall("c1", "ask_inner", {})]), "Done."]), tools=[ask_inner])
    log = BoundaryLog((await outer.run("?")).recording)

    kinds = [each.type for each in log.events()]
    assert (kinds[0], kinds[-1]) == ("run.entry", "run.exit")
    assert (kinds.count("run.entry"), kinds.count("llm.start")) == (1, 2)


def test_17_what_a_tool_reports_is_not_poured_into_the_status_line() -> None:
    lines: list[str] = []
    line = StatusLine(lines.append)
    line.hear(tool_start("c1", "look"))

    payload = {"toolCallId": "c1", "toolName": "look", "iteration": 1, "payload": {"secret": "marker-7f3a"}}
    line.hear(event("stream.tool_progress", payload))

    assert lines
    assert "marker" not in "".join(lines)


async def test_18_a_call_that_ended_is_named_by_its_start() -> None:
    trace, client = ThinkingTrace(), Client()
    xray = XRayExporter("shop", client=client)
    told = [event("agent.turn_start", {"turnIndex": 0, "userPrompt": "?"}), tool_start("c1", "look"), tool_end("c1", 1)]

    for each in told:
        trace.hear(each)
        xray.export(each)
    await xray.stop()

    assert [(step.kind, step.tool) for step in trace.steps()][-1] == ("return", "look")
    assert "tool:look" in str(client.calls)


def test_19_vectors_make_no_recording_of_megabytes() -> None:
    agent = desk()
    recorder = record_run(agent)

    agent.emit("shop.indexed", {"embeddings": [[0.123456789] * 1_536 for _ in range(100)]})

    assert len(json.dumps(recorder.recording().to_wire())) < 20_000


def test_20_branches_are_merged_when_the_last_has_left() -> None:
    cases: list[Any] = load("events").document("run-steps")["cases"]
    events: Any = next(each["input"]["events"] for each in cases if each["name"] == "parallel")
    exits = [n for n, each in enumerate(events) if each["type"] == "subflow.exit" and each["depth"] > 1]

    before = [step.kind for step in build_run_steps(events[: exits[-1]])]
    after = [step.kind for step in build_run_steps(events)]

    assert "merge" in after
    assert "fork" in before
    assert "merge" not in before


def test_21_a_question_is_asked_with_what_was_given_alone() -> None:
    """A consent's address comes with credentials, which no tool of an agent can ask for yet; a question has none."""

    @tool
    def confirm() -> None:
        """Ask."""
        ask_human("Sure?", data={"amount": 9})

    agent = Agent(Mock([LLMResponse("", tool_calls=[ToolCall("c1", "confirm", {})])]), tools=[confirm])
    result = agent.run_sync("?")

    (asked,) = [each for each in result.recording.events if each.type == "agentfootprint.pause.request"]
    assert "http" not in repr(asked.payload)


async def test_22_pressure_in_a_slot_is_told_once_a_pass() -> None:
    agent, told = desk(turns=2, limits=Limits(context_budget=ContextBudget(messages=5))), list[tuple[str, str]]()
    agent.on(
        "agentfootprint.context.budget_pressure",
        lambda event: told.append((event.payload.slot, event.meta.runtime_stage_id)),
    )

    result = await agent.run("What is the weather in Paris and in Rome?")

    assert len(told) == len(set(told)) == 3
    recorded = [each for each in result.recording.events if each.type.endswith("budget_pressure")]
    assert len(recorded) == len(told)


async def test_23_a_run_is_sampled_whole_or_not_at_all() -> None:
    agent, exporter = Agent(Mock(lambda _: "Hi")), Kept()
    attach_exporter(agent.on, exporter, ExportOptions(tier="firehose", sample_rate=0.5))

    results = [await agent.run("?") for _ in range(40)]

    sizes = {result.run_id: len(result.recording.events) for result in results}
    got = {run_id: sum(each.meta.run_id == run_id for each in exporter.events) for run_id in sizes}
    assert all(got[run_id] in (0, size) for run_id, size in sizes.items())
    assert 0 < sum(count > 0 for count in got.values()) < 40
