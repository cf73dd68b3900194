"""Tests of agentfootprint.flow.watch.logged."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from agentfootprint.flow import (
    Chart,
    Executor,
    ExecutorBusyError,
    Flow,
    FlowResult,
    ForEach,
    Fork,
    Handle,
    Pausable,
    ResumeError,
    RetryPolicy,
    RunLogFileError,
    RunLogWriter,
    Stage,
    Subflow,
)
from agentfootprint.trace import Execution, Journal, open_run_log, project_snapshot, slice_to_json
from tests.flow import logged_program
from tests.flow.lambdas import one, two
from tests.flow.random_charts import Boom, RandomChart, charts, drive

relaxed = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
TIMED = {"s": 5, "x": 5, "p": 2, "r": 2, "f": 2, "u": 2}


def lines(path: Path) -> list[Any]:
    """The lines of a log without run ids and clocks."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for line in found:
        if isinstance(line, dict):
            line["runId"] = line["startedAt"] = None
        elif line[0] in TIMED:
            line[TIMED[line[0]]] = None
    return found


def counting() -> Flow:
    def start(s: Any) -> None:
        s["n"], s["all"] = 1, ["first"]

    def grow(s: Any) -> None:
        s["n"], s["all"] = s["n"] + 1, [*s["all"], "next"]

    return Chart.of("Count", Stage(start, id="start"), Stage(grow, id="grow"), Stage(grow, id="again")).build()


def run(flow: Flow, path: Path, **options: Any) -> FlowResult:
    return asyncio.run(flow.executor(run_log=path, **options).run())


def shape(journal: Journal) -> list[tuple[Any, ...]]:
    """The rows of a journal by kind and execution."""
    return [
        (type(row).__name__ if not isinstance(row, Execution) else "Execution", getattr(row, "index", None))
        for row in journal.rows
    ]


def test_a_log_is_a_header_and_a_line_for_each_committed_step(tmp_path: Path) -> None:
    path = tmp_path / "run.log"

    run(counting(), path)

    found = lines(path)
    assert found[0]["format"] == "agentfootprint.flowlog/1"
    assert [line[0] for line in found[1:]] == ["s", "s", "s", "z"]


def test_a_line_holds_what_its_step_added_and_not_what_there_was(tmp_path: Path) -> None:
    path = tmp_path / "run.log"

    def begin(h: Handle) -> None:
        h["n"] = 0
        h["all"] = []

    def grow(h: Handle) -> None:
        h["n"] += 1
        h.append("all", [{"text": "x" * 200}])

    parts = [Stage(grow, id=f"grow-{n}", raw=True) for n in range(100)]
    run(Chart.of("Long", Stage(begin, id="begin", raw=True), *parts).build(), path)

    sizes = [len(line) for line in path.read_bytes().splitlines()[2:-1]]
    assert sizes[-1] <= 1.1 * sizes[9] + 32


@relaxed
@given(charts())
def test_a_log_says_what_the_journal_says(tmp_path: Path, drawn: RandomChart) -> None:
    path = tmp_path / "run.log"
    path.unlink(missing_ok=True)
    driven = drive(drawn.flow.executor(run_log=path))
    journal = driven.journals[0]

    opened = open_run_log(path)

    assert shape(opened.journal) == shape(journal)
    assert opened.journal.run_ids == journal.run_ids
    assert not opened.is_torn
    assert opened.ended == ("failed" if driven.result is None else driven.result.status)
    there, here = project_snapshot(opened.journal), project_snapshot(journal)
    assert there["sharedState"] == here["sharedState"]
    assert there["commitLog"] == here["commitLog"]
    assert there.get("subflowResults", {}).keys() == here.get("subflowResults", {}).keys()
    for key in ("n0", "l0", "l1"):
        if driven.result is not None:
            assert slice_to_json(opened.why(key)) == slice_to_json(driven.result.why(key))


def test_a_resume_of_the_same_executor_goes_on_in_its_log(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    flow = Chart.of(
        "Ask",
        Stage(one(lambda s: s.__setitem__("x", 1)), id="start"),
        Pausable(one(lambda s: "ok?"), resume=two(lambda s, answer: s.__setitem__("y", (s["x"], answer))), id="ask"),
    ).build()
    executor = flow.executor(run_log=path)
    paused = asyncio.run(executor.run())
    assert open_run_log(path).ended == "paused"
    assert paused.checkpoint is not None

    result = asyncio.run(executor.resume(paused.checkpoint, "yes"))

    opened = open_run_log(path)
    assert opened.ended == "done"
    assert opened.run_id == result.run_id
    assert [type(line).__name__ for line in lines(path)].count("dict") == 1
    assert str(opened.why("y")) == str(result.why("y"))


def test_a_resume_elsewhere_and_another_run_begin_anew_in_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "run.log"

    first = run(counting(), path)
    second = run(counting(), path)

    assert open_run_log(path, run=0).run_id == first.run_id
    assert open_run_log(path).run_id == second.run_id
    assert open_run_log(path, run=0).state == open_run_log(path).state


def test_a_run_behind_a_torn_line_begins_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    run(counting(), path)
    path.write_bytes(path.read_bytes()[:-40])

    second = run(counting(), path)

    assert open_run_log(path).run_id == second.run_id
    assert open_run_log(path, run=0).is_torn


def test_a_resume_that_is_refused_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    flow = Chart.of("Ask", Pausable(one(lambda s: "ok?"), resume=two(lambda s, answer: None), id="ask")).build()
    executor = flow.executor(run_log=path)
    asyncio.run(executor.run())
    before = path.read_bytes()

    with pytest.raises(ResumeError):
        asyncio.run(executor.resume({**executor.checkpoint.to_wire(), "pausedStageId": "other"}))  # pyright: ignore[reportOptionalMemberAccess]  it paused

    assert path.read_bytes() == before


def test_a_failed_run_is_logged_to_the_step_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "run.log"

    def fail(s: Any) -> None:
        s["x"] = 1
        raise Boom

    with pytest.raises(Boom):
        run(Chart.of("Fail", Stage(fail, id="fail")).build(), path)

    opened = open_run_log(path)
    assert opened.ended == "failed"
    assert opened.state["x"] == 1


def test_attempts_that_failed_and_charts_made_on_the_way_are_logged(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    tries: list[int] = []

    def unsure(s: Any) -> None:
        tries.append(1)
        if len(tries) < 2:
            raise Boom
        s["items"] = [1, 2]

    flow = Chart.of(
        "Grow",
        Stage(unsure, id="unsure", retry=RetryPolicy(attempts=2, delay=0)),
        ForEach(
            lambda item, index: Chart.of("One", Stage(one(lambda s: s["item"]), id="one")),
            one(lambda s: s["items"]),
            id="each",
            max_branches=3,
            into="results",
        ),
    ).build()

    result = run(flow, path)

    opened = open_run_log(path)
    assert shape(opened.journal) == shape(result.journal)
    assert opened.journal.stages == result.journal.stages
    assert str(opened.why("results")) == str(result.why("results"))


def test_a_file_that_can_not_be_opened_is_refused_before_anything_runs(tmp_path: Path) -> None:
    seen: list[int] = []
    flow = Chart.of("Seen", Stage(one(lambda s: seen.append(1)), id="a")).build()

    with pytest.raises(RunLogFileError, match="no-folder") as refused:
        run(flow, tmp_path / "no-folder" / "run.log")

    assert not seen
    assert isinstance(refused.value, OSError)


def test_a_second_run_on_the_same_file_at_the_same_time_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    writer = RunLogWriter(path)
    refused: list[BaseException] = []

    def nested(s: Any) -> None:
        for log in (path, writer):
            try:
                counting().executor(run_log=log).run().send(None)
            except (RunLogFileError, ExecutorBusyError) as error:
                refused.append(error)

    asyncio.run(Chart.of("Outer", Stage(nested, id="nested")).build().executor(run_log=writer).run())

    assert [type(error) for error in refused] == [RunLogFileError, ExecutorBusyError]
    assert open_run_log(path).ended == "done"


def test_a_disk_that_is_full_ends_the_log_and_not_the_run() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")

    with pytest.warns(UserWarning, match="stopped"):
        result = run(counting(), Path("/dev/full"))

    assert result.status == "done"


@pytest.mark.parametrize("policy", ["none", "commit", "end"])
def test_every_way_to_sync_writes_the_same(tmp_path: Path, policy: Any) -> None:
    path = tmp_path / "run.log"

    asyncio.run(Executor(counting(), run_log=RunLogWriter(path, fsync=policy)).run())

    assert [line[0] for line in lines(path)[1:]] == ["s", "s", "s", "z"]


def test_flow_run_takes_the_log_as_an_option(tmp_path: Path) -> None:
    path = tmp_path / "run.log"

    counting().run_sync(run_log=str(path))

    assert open_run_log(path).ended == "done"


def test_steps_that_had_begun_are_told_when_the_run_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "run.log"

    async def cut() -> bytes:
        noted = asyncio.Event()

        async def waits(s: Any) -> None:
            await asyncio.Event().wait()

        def notes(s: Any) -> None:
            s["noted"] = True

        async def tells(s: Any) -> None:
            noted.set()

        children = [Stage(waits, id="wait"), Stage(notes, id="note"), Stage(tells, id="tell")]
        flow = Chart.of("Wait", Stage(one(lambda s: None), id="start"), Fork(children)).build()
        task = asyncio.create_task(flow.run(run_log=path))
        await noted.wait()
        kept = path.read_bytes()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return kept

    path.write_bytes(asyncio.run(cut()))

    opened = open_run_log(path)
    assert opened.ended is None
    assert [step.runtime_stage_id for step in opened.open_steps] == ["wait#1"]


def killed(folder: Path, kills: int, seed: int) -> int:
    """Kill runs at random moments, and look at what each left."""
    program = [sys.executable, logged_program.__file__, str(folder), str(kills), str(seed)]
    done = subprocess.run(program, check=True, capture_output=True, text=True)
    full = lines(folder / "run-full.log")
    for number in range(kills):
        path = folder / f"run-{number}.log"
        if not path.exists() or not path.stat().st_size:
            continue  # killed before its first step
        opened = open_run_log(path)
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        path.write_bytes(whole)
        assert lines(path) == full[: len(lines(path))]
        if opened.state.get("log"):
            assert opened.why("log").root is not None
            assert opened.value_at("n", 10**9) == opened.state["n"]
        assert opened.tree() is not None
    return int(done.stdout)


def test_a_run_that_is_killed_leaves_a_log_that_opens_and_slices(tmp_path: Path) -> None:
    assert killed(tmp_path, 10, seed=1) >= 1


@pytest.mark.slow
def test_two_hundred_killed_runs_leave_logs_that_open_and_slice(tmp_path: Path) -> None:
    assert killed(tmp_path, 200, seed=2) >= 100


def test_a_mount_that_a_resume_re_entered_is_logged_with_its_state(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    inner = Chart.of(
        "Inner",
        Stage(one(lambda s: s.__setitem__("draft", s["topic"])), id="first"),
        Pausable(
            one(lambda s: "ok?"), resume=two(lambda s, answer: s.__setitem__("final", [s["draft"], answer])), id="ask"
        ),
    )
    flow = Chart.of(
        "Test",
        Stage(one(lambda s: s.__setitem__("topic", "tea")), id="start"),
        Subflow(inner, id="sf", input=("topic",), output=("final",)),
    ).build()
    paused = asyncio.run(flow.run())
    assert paused.checkpoint is not None

    result = asyncio.run(flow.executor(run_log=path).resume(paused.checkpoint.to_wire(), "yes"))

    opened = open_run_log(path)
    assert opened.state == result.state
    assert opened.journal.base_states.keys() == result.journal.base_states.keys()
    assert str(opened.why("final")) == str(result.why("final"))
