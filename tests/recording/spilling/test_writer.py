"""Tests of agentfootprint.recording.spilling.writer."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, Limits, Mock, Recording, RecordOptions, RunOptions, tool
from agentfootprint.events import app_event
from agentfootprint.flow import Chart, FlowRun, RedactionPolicy, Stage, Subflow
from agentfootprint.recording import Spill
from agentfootprint.trace import Execution, freeze
from tests.recording import spilled_program
from tests.recording.runs import FACTS, agent_recording

pytestmark = pytest.mark.usefixtures("quick_collections")


def names(recording: Recording) -> list[str]:
    """The rows of a recording by kind and execution."""
    journal = recording.journal
    assert journal is not None
    return [
        f"{row.runtime_stage_id}" if isinstance(row, Execution) else getattr(row, "type", type(row).__name__)
        for row in journal.rows
    ]


def asked(recording: Recording) -> int:
    """Ask everything that a recording of a crashed run has to answer; gives how many events there are."""
    events = recording.events
    assert [event.payload for event in events]
    assert recording.to_wire()["snapshot"]["runId"]
    assert recording.snapshot["executionTree"] is not None or not recording.calls
    for call in recording.calls:
        assert len(call.messages) > 0
        assert not call.finished or call.content is not None
    for use in recording.tool_uses:
        assert use.tool_name == "lookup"
    for key in ("history", "iteration", "userMessage"):
        recording.value_at(key)
        recording.writer_of(key)
    for bundle in recording.bundles:
        assert bundle.runtime_stage_id
    return len(events)


def killed(folder: Path, kills: int, seed: int) -> int:
    """Kill runs at random moments, and look at what each left."""
    program = [sys.executable, spilled_program.__file__, str(folder), str(kills), str(seed)]
    done = subprocess.run(program, check=True, capture_output=True, text=True)
    full = names(Recording.load(folder / "full.jsonl"))
    for number in range(kills):
        path = folder / f"run-{number}.jsonl"
        if not path.exists():
            continue  # killed before it began
        opened = Recording.load(path)
        found = names(opened)
        assert found == full[: len(found)]
        assert opened.ended in (None, "done")
        assert (opened.ended == "done") == (found == full)
        if found:
            asked(opened)
    return int(done.stdout)


def test_a_run_that_is_killed_leaves_a_record_that_opens_and_answers(tmp_path: Path) -> None:
    assert killed(tmp_path, 8, seed=1) >= 1


@pytest.mark.slow
def test_two_hundred_killed_runs_leave_records_that_open_and_answer(tmp_path: Path) -> None:
    assert killed(tmp_path, 200, seed=2) >= 100


def test_a_file_that_is_cut_at_any_byte_of_its_last_row_opens_without_it(tmp_path: Path) -> None:
    agent_recording(2, record=RecordOptions(spill=tmp_path / "run.jsonl"))
    data = (tmp_path / "run.jsonl").read_bytes()
    lines = data.splitlines(keepends=True)
    before = b"".join(lines[:-1])
    torn = tmp_path / "torn.jsonl"

    for length in range(len(lines[-1])):
        torn.write_bytes(before + lines[-1][:length])
        opened = Recording.load(torn)

        is_whole = length in (0, len(lines[-1]) - 1)  # nothing of it, or all but the end of the line
        assert opened.flags == (() if is_whole else ("torn-last-line",))
        assert opened.ended == ("done" if length == len(lines[-1]) - 1 else None)


def test_a_file_that_ends_after_any_row_opens_and_answers(tmp_path: Path) -> None:
    agent_recording(3, record=RecordOptions(spill=tmp_path / "run.jsonl"))
    lines = (tmp_path / "run.jsonl").read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    counts: list[int] = []

    for end in range(1, len(lines) + 1):
        cut.write_bytes(b"".join(lines[:end]))
        opened = Recording.load(cut)
        if len(opened.events):
            counts.append(asked(opened))

    assert counts == sorted(counts)
    assert counts[-1] == len(Recording.load(tmp_path / "run.jsonl").events)


def test_what_was_committed_is_in_the_file_while_the_run_waits(tmp_path: Path) -> None:
    seen: list[Recording] = []

    @tool
    async def look() -> str:
        """Look at the record. Use it when asked to."""
        await asyncio.sleep(0)
        seen.append(Recording.load(tmp_path / "run-a.jsonl"))
        return "seen"

    agent = Agent(Mock([Mock.call("look"), "Done."]), tools=[look], record=RecordOptions(spill=tmp_path))
    result = agent.run_sync("Look.", options=RunOptions(run_id="run-a"))

    (while_waiting,) = seen
    assert while_waiting.ended is None
    assert [use.tool_name for use in while_waiting.tool_uses] == ["look"]
    assert while_waiting.tool_uses[0].finished is False
    assert [event.type for event in while_waiting.events] == [
        event.type for event in result.recording.events[: len(while_waiting.events)]
    ]


def test_tokens_that_come_slowly_are_in_the_file_before_the_call_has_ended(tmp_path: Path) -> None:
    async def reading() -> str:
        agent = Agent(Mock("one two three four five six", chunk_delay=0.2), record=RecordOptions(spill=tmp_path))
        async with agent.stream("Count.", options=RunOptions(run_id="run-a")) as run:
            async for event in run:
                found = Recording.load(tmp_path / "run-a.jsonl")
                said = [each for each in found.events if each.type == "agentfootprint.stream.token"]
                if said and event.type == "agentfootprint.stream.token":
                    return found.ended or "goes on"
        return "nothing was there"

    assert asyncio.run(reading()) == "goes on"


def failing(after: int) -> Callable[[int, bytes], int]:
    """A disk that is full after so many writes; the write that meets it takes a part first."""
    real, count = os.write, 0

    def write(file: int, data: bytes) -> int:
        nonlocal count
        count += 1
        if count == after:
            return real(file, bytes(data)[: len(data) // 2])
        if count > after:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data)

    return write


@pytest.mark.parametrize("after", [2, 3, 40, 200])
def test_a_disk_that_gets_full_ends_the_record_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, after: int
) -> None:
    agent = spilled_program.agent(tmp_path)
    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING, "agentfootprint.recording"):
        patched.setattr("agentfootprint.recording.spilling.opening.os.write", failing(after))
        result = agent.run_sync("Where are my orders?", options=RunOptions(run_id="run-a"))

    assert result.text.startswith("The last one was shipped")
    assert "incomplete" in result.recording.flags
    said = [record.message for record in caplog.records if record.name.startswith("agentfootprint.recording")]
    assert len(said) == 1
    assert "no space left on device" in said[0].lower()
    assert "run-a.jsonl" in said[0]
    opened = Recording.load(tmp_path / "run-a.jsonl")  # cut back to its last whole line
    assert "torn-last-line" not in opened.flags
    assert names(opened) == names(result.recording)


def test_a_disk_that_has_room_again_is_told_that_the_record_is_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, count = os.write, 0

    def write(file: int, data: bytes) -> int:
        nonlocal count
        count += 1
        if count == 30:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data)

    with monkeypatch.context() as patched:
        patched.setattr("agentfootprint.recording.spilling.opening.os.write", write)
        agent_recording(5, record=RecordOptions(spill=tmp_path / "run.jsonl"))

    opened = Recording.load(tmp_path / "run.jsonl")
    assert opened.flags == ("incomplete",)
    assert opened.ended == "done"


def test_what_a_policy_keeps_out_is_never_in_the_file(tmp_path: Path) -> None:
    marker = "MARKER-8c41f0"

    @tool
    def find(ssn: str) -> dict[str, str]:
        """Find a person by number. Use it when one is named."""
        return {"ssn": ssn, "name": "Dana"}

    agent = Agent(
        Mock([Mock.call("find", ssn=marker), "Found Dana."]),
        tools=[find],
        record=RecordOptions(spill=tmp_path, redaction=RedactionPolicy(keys=["ssn"])),
    )
    result = agent.run_sync("Find Dana.", options=RunOptions(run_id="run-a"))

    assert marker in str(result.tool_calls[0].args)
    assert marker.encode() not in (tmp_path / "run-a.jsonl").read_bytes()
    opened = Recording.load(tmp_path / "run-a.jsonl")
    assert opened.redaction == result.recording.redaction
    assert opened.redaction is not None


def note(s: Any) -> None:
    """A stage that writes a text."""
    s["text"] = "made late"


def test_what_is_said_after_the_end_is_on_record_too(tmp_path: Path) -> None:
    run = FlowRun(Chart.of("Test", Stage(note, id="one")).build())
    spill = Spill(run.journal, tmp_path / "run.jsonl")
    recording = spill.record(run.journal, facts=FACTS, header={})
    asyncio.run(run.start())
    recording.finish("done")
    spill.settle()
    before = len(recording.events)

    async def later() -> None:
        run.journal.append(app_event("app.late", freeze({"said": "later"}), "late#0", 1, FACTS))
        await asyncio.sleep(0)

    asyncio.run(later())

    assert len(recording.events) == before + 1
    opened = Recording.load(tmp_path / "run.jsonl")
    assert [event.type for event in opened.events][-1:] == ["app.late"]
    assert opened.ended == "done"


def test_a_run_that_grew_stages_is_read_back_with_them(tmp_path: Path) -> None:
    def inner() -> Any:
        return Chart.of("Inner", Stage(note, id="first"))

    chart = Chart.of("Test", Subflow(inner, id="late", output=("text",), lazy=True), Stage(note, id="last"))
    run = FlowRun(chart.build())
    spill = Spill(run.journal, tmp_path / "run.jsonl")
    recording = spill.record(run.journal, facts=FACTS, header={})
    asyncio.run(run.start())
    steps = [row.runtime_stage_id for row in run.journal.rows if isinstance(row, Execution)]
    recording.finish("done")
    spill.settle()

    opened = Recording.load(tmp_path / "run.jsonl")
    assert opened.journal is not None
    assert [row.runtime_stage_id for row in opened.journal.rows if isinstance(row, Execution)] == steps
    assert opened.value_at("text") == "made late"
    assert Recording.load(opened.save(tmp_path / "saved.json")).to_wire() == opened.to_wire()


def growth(tmp_path: Path, iterations: int, record: RecordOptions | bool) -> list[tuple[int, int]]:
    """The memory in use at some iterations of a run, in bytes."""
    marks: list[tuple[int, int]] = []

    @tool
    async def lookup(order_id: str) -> str:
        """Look up one order by its number. Use it when the user names an order."""
        number = int(order_id[2:])
        if number % 100 == 0:
            gc.collect()
            marks.append((number, tracemalloc.get_traced_memory()[0]))
        return f"Order {order_id}: shipped."

    calls = [Mock.call("lookup", order_id=f"A-{n:05}") for n in range(iterations - 1)]
    agent = Agent(
        Mock([*calls, "Done."], cursor="run"), tools=[lookup], limits=Limits(iterations=iterations + 1), record=record
    )
    tracemalloc.start()
    try:
        agent.run_sync("Look at all orders.")
    finally:
        tracemalloc.stop()
    return marks


def per_iteration(marks: list[tuple[int, int]], start: int, end: int) -> float:
    known = dict(marks)
    return (known[end] - known[start]) / (end - start)


@pytest.mark.parametrize("policy", [None, RedactionPolicy(keys=["order_id"])], ids=["open", "redacted"])
def test_a_run_that_spills_keeps_little_more_than_its_conversation(
    tmp_path: Path, policy: RedactionPolicy | None
) -> None:
    spilled = per_iteration(growth(tmp_path, 1210, RecordOptions(spill=tmp_path, redaction=policy)), 600, 1200)
    kept = per_iteration(growth(tmp_path, 310, RecordOptions(redaction=policy)), 100, 300)

    assert spilled < kept / 2
    assert spilled < 6_000


@pytest.mark.slow
def test_over_five_thousand_iterations_each_takes_as_much_as_the_ones_before(tmp_path: Path) -> None:
    marks = growth(tmp_path, 5010, RecordOptions(spill=tmp_path))
    early = per_iteration(marks, 1000, 3000)
    late = per_iteration(marks, 3000, 5000)

    assert late <= 1.25 * early + 256
    assert late < 3_000
