"""Tests of agentfootprint.observe.boundaries.log."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentfootprint import Agent, Mock, RunCheckpointError, ask_human, tool
from agentfootprint.events import RunFacts
from agentfootprint.flow import Chart, Decider, Executor, Fork, Handle, RedactionPolicy, Stage, Subflow
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import BoundaryLog
from agentfootprint.recording import Recording
from tests.observe.made import desk


def kinds(log: BoundaryLog) -> list[tuple[str, str]]:
    return [(event.type, event.runtime_stage_id) for event in log.events()]


def test_a_run_is_told_from_its_entry_to_its_exit() -> None:
    log = BoundaryLog(desk(system="Be brief.").run_sync("Weather?").recording)

    events = [event.type for event in log.events()]

    assert (events[0], events[-1]) == ("run.entry", "run.exit")
    assert [each.slot_kind for each in log.slots()[:3]] == ["system-prompt", "messages", "tools"]
    assert [event.to_wire()["actorArrow"] for event in log.events_of("llm.start")] == ["user→llm", "tool→llm"]
    assert log.events()[-1].to_wire()["payload"] == "Sunny."
    assert {step.local_subflow_id for step in log.visible_steps()} == {"sf-system-prompt", "sf-messages", "sf-tools"}
    assert log.root() is log.boundary("__root__#0")


def test_native_boundaries_name_a_piece_where_it_is_new() -> None:
    recording = desk(turns=3, system="Be brief.").run_sync("Weather?").recording

    native, wire = (BoundaryLog(recording, form=form).events_of("context.injected") for form in ("native", "wire"))

    assert [each.to_wire()["source"] for each in native].count("base") == 1
    assert [each.to_wire()["source"] for each in wire].count("base") == 4


def test_a_saved_run_has_the_boundaries_of_the_run(tmp_path: Path) -> None:
    recording = desk(turns=2).run_sync("Weather?").recording

    loaded = Recording.load(recording.save(tmp_path / "run.json"))

    assert [event.to_wire() for event in BoundaryLog(loaded).events()] == [
        event.to_wire() for event in BoundaryLog(recording).events()
    ]


def test_a_file_of_the_wire_form_gives_the_boundaries_it_holds_or_those_its_events_tell() -> None:
    recording = desk().run_sync("Weather?").recording
    whole, wire = BoundaryLog(recording), recording.to_wire()

    told = BoundaryLog(Recording.from_wire(wire))
    wire["snapshot"]["recorders"] = [{"id": "boundaries", **whole.to_snapshot()}]
    held = BoundaryLog(Recording.from_wire(wire))

    assert kinds(held) == kinds(whole)
    assert [event.type for event in told.events() if event.type != "context.injected"] == [
        *("run.entry", "llm.start", "llm.end", "tool.start", "tool.end", "llm.start", "llm.end", "run.exit")
    ]


def test_a_lean_snapshot_holds_nothing_that_anybody_said_or_gave() -> None:
    log = BoundaryLog(desk().run_sync("Is it warm in the cellar?").recording)

    lean = log.to_snapshot("lean")

    assert lean["meta"] == {"mode": "lean"}
    assert len(lean["data"]) == len(log.events())
    assert not {"payload", "args", "result", "content", "contentSummary"} & {
        key for each in lean["data"] for key in each
    }
    assert any("payload" in each for each in log.to_snapshot()["data"])


def test_a_failed_run_leaves_with_its_error() -> None:
    agent = Agent(Mock([RuntimeError("socket hang up")]))

    async def fail() -> Recording:
        handle = agent.start("Hi")
        with pytest.raises(RunCheckpointError):
            await handle.result()
        return handle.recording

    log = BoundaryLog(asyncio.run(fail()))

    left = log.events()[-1].to_wire()
    assert (left["type"], set(left["payload"])) == ("run.exit", {"error"})
    assert log.aggregate("__root__#0") is not None


async def test_a_run_that_goes_on_is_told_as_far_as_it_is_and_what_was_told_is_not_told_again() -> None:
    let_go, reached = asyncio.Event(), asyncio.Event()

    @tool
    async def work(n: int) -> str:
        """Work."""
        reached.set()
        await let_go.wait()
        return str(n)

    script = LLMResponse("", tool_calls=[ToolCall("c1", "work", {"n": 1})])
    handle = Agent(Mock([script, "Done."]), tools=[work]).start("Go.")
    await reached.wait()
    log = BoundaryLog(handle.recording)
    before = list(log.events())
    open_root = log.range_of("__root__#0")
    let_go.set()
    await handle.result()

    after = log.events()
    assert before[-1].type == "tool.start"
    assert all(a is b for a, b in zip(before, after, strict=False))
    assert after[-1].type == "run.exit"
    assert open_root == (0, None)
    closed = log.range_of("__root__#0")
    assert closed is not None
    assert closed[1] is not None
    assert [event.to_wire() for event in BoundaryLog(handle.recording).events()] == [each.to_wire() for each in after]


def test_two_executions_of_one_stage_have_ranges_of_their_own() -> None:
    log = BoundaryLog(desk().run_sync("Weather?").recording)

    places = [log.range_of(step.runtime_stage_id) for step in log.steps() if step.local_subflow_id == "sf-messages"]

    assert len(places) == 2
    assert places[0] != places[1]
    assert log.range_of("nowhere#1") is None


def test_what_is_inside_a_boundary_is_counted_as_it_happens() -> None:
    log = BoundaryLog(desk(turns=3).run_sync("Weather?").recording)

    whole = log.aggregate("__root__#0")

    assert whole is not None
    assert (whole.llm_calls, whole.tool_calls, whole.iterations, whole.label) == (4, 3, 4, "Run")
    assert whole.tokens.input > 0
    assert whole.duration_ms is not None
    assert len(log.aggregates()) == len(log.boundaries())


def of_chart(chart: Chart, *, policy: RedactionPolicy | None = None) -> BoundaryLog:
    """The boundaries of a chart that knows nothing of agents."""
    journal = Executor(chart.build(), redaction=policy).run_sync().journal
    facts = RunFacts(run_id="run-1-1", started_at_ms=journal.started_at)
    return BoundaryLog(Recording.of_run(journal, facts=facts, ended="done"))


def idle(_: Handle) -> None:
    return None


def chooses_no(_: Handle) -> str:
    return "no"


def writes(**values: str) -> Stage:
    def write(h: Handle) -> None:
        for key, value in values.items():
            h[key] = value

    return Stage(write, id="write", name="Write", raw=True)


def test_a_resumed_run_is_entered_once_and_speaks_to_the_model_after_a_tool() -> None:
    @tool
    def ask(n: int) -> str:
        """Ask."""
        ask_human(f"{n}?")

    script = LLMResponse("", tool_calls=[ToolCall("c1", "ask", {"n": 1})])
    agent = Agent(Mock([script, "Done."], cursor="history"), tools=[ask])
    first = agent.run_sync("Go.")
    assert first.paused is not None
    second = agent.resume_sync(first.paused, "yes")

    paused, resumed = BoundaryLog(first.recording), BoundaryLog(second.recording)

    assert "run.exit" not in [event.type for event in paused.events()]
    assert [event.type for event in resumed.events()].count("run.entry") == 1
    assert resumed.events_of("llm.start")[0].to_wire()["actorArrow"] == "tool→llm"


def test_a_fork_is_told_once_for_each_branch_with_one_time_and_mounts_by_their_names() -> None:
    inner = Subflow(Chart.of("Inner", writes(a="1")), id="inner", name="Inner part", description="Agent: asks")
    other = Stage(idle, id="other", name="Other", raw=True)

    log = of_chart(Chart.of("Fan", writes(b="2"), Fork([inner, other]), Stage(idle, id="end", raw=True)))

    forks = [event.to_wire() for event in log.events_of("fork.branch")]
    assert [(each["childName"], each["parentSubflowId"]) for each in forks] == [
        ("Inner part", "Write"),
        ("Other", "Write"),
    ]
    assert len({(each["ts"], each["runtimeStageId"]) for each in forks}) == 1
    assert [step.subflow_name for step in log.visible_steps()] == ["Inner part"]


def test_what_a_mount_is_stands_before_the_colon_of_its_first_stage_s_description() -> None:
    first = Stage(idle, id="ask", description="LLMCall: one-shot", raw=True)
    mount = Subflow(Chart.of("Ask", first), id="step-a", name="a")

    (step,) = of_chart(Chart.of("Pipe", writes(b="2"), mount)).steps()

    assert (step.primitive_kind, step.description) == ("LLMCall", "LLMCall: one-shot")


def test_a_decision_is_told_with_its_branch_and_is_of_the_machinery_only_by_its_id() -> None:
    branches = [
        Stage(idle, id="yes", name="Yes", raw=True),
        Stage(idle, id="no", name="No", raw=True),
    ]
    decider = Decider(chooses_no, id="choose", name="Choose", raw=True, branches=branches)

    (taken,) = of_chart(Chart.of("Choice", writes(b="2"), decider)).events_of("decision.branch")

    wire = taken.to_wire()
    assert (wire["decider"], wire["chosen"], wire["isAgentInternal"]) == ("Choose", "No", False)


def test_what_a_policy_hides_is_hidden_in_the_boundaries() -> None:
    mount = Subflow(Chart.of("Inner", writes(word="swordfish")), id="inner", output=("word",))

    log = of_chart(Chart.of("Outer", writes(word="swordfish"), mount), policy=RedactionPolicy(keys=["word"]))

    assert "swordfish" not in str([event.to_wire() for event in log.events()])
    assert any(event.type == "subflow.exit" for event in log.events())
