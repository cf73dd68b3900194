"""Tests of agentfootprint.flow.pause."""

from __future__ import annotations

import asyncio
import copy
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.flow import (
    Chart,
    CheckpointError,
    Executor,
    FlowRun,
    Fork,
    Handle,
    InputValidationError,
    Pausable,
    PauseCheckpoint,
    ResumeError,
    Stage,
    Subflow,
)
from agentfootprint.trace import thaw
from tests.flow.charts import always, raw

JUNK: list[Any] = [None, True, -1, 0, 1.5, "", "text", [], [1], ["x"], [{}], {}, {"x": 1}, {"x": {}}, math.nan, {1: 2}]
"""What a member may have become."""


def asking(id: str, question: Any = "?") -> Pausable:
    def resume(h: Any, answer: Any) -> None:
        h[f"answer-{id}"] = answer

    return Pausable(always(question), resume, id=id, raw=True)


def rich() -> Chart:
    """A chart whose checkpoint has every key: a mount in a fork that interrupts twice, beside another pause."""

    def ask(h: Any) -> Any:
        h["done"] = [h.interrupt("one?"), h.interrupt("two?", expects={"type": "text"})]

    def broken(h: Any) -> None:
        raise ValueError("no luck")

    inner = Chart.of("Inner", Stage(ask, id="ask", raw=True))
    mount = Subflow(inner, id="sf", input=always({"x": 1}), output={"done": "done"})
    return Chart.of(
        "Rich", raw("s"), Fork([mount, asking("beside"), raw("ok", always(1)), raw("bad", broken)]), raw("e")
    )


def rich_wire() -> dict[str, Any]:
    flow = rich().build()
    first: Any = asyncio.run(FlowRun(flow).start({"who": "Dana"}))
    second: Any = asyncio.run(FlowRun(flow).resume(first.checkpoint, "first"))
    return json.loads(json.dumps(second.checkpoint.to_wire()))


WIRE = rich_wire()


def test_every_key_is_there() -> None:
    assert set(WIRE) == {
        *("schemaVersion", "sharedState", "executionTree", "pausedStageId", "subflowPath", "pauseData"),
        *("subflowStates", "executionCount", "visitCounts", "pausedAt", "pausedBy", "runInput"),
        *("interruptAnswers", "resumeFrames", "chartFingerprint"),
    }
    assert WIRE["interruptAnswers"] == ["first"]
    assert WIRE["pauseData"] == {"reason": "two?", "expects": {"type": "text"}}
    fork, mount = WIRE["resumeFrames"]
    assert (fork["fork"], fork["branch"], list(fork["pending"])) == ("s", "sf", ["beside"])
    assert fork["results"] == {
        "ok": {"isError": False, "result": 1},
        "bad": {"isError": True, "name": "ValueError", "message": "no luck"},
    }
    assert mount == {"mount": "sf", "args": {"x": 1}}


def test_a_chart_that_only_pauses_writes_no_more_than_it_needs() -> None:
    outcome: Any = asyncio.run(FlowRun(Chart.of("Ask", raw("s"), asking("ask")).build()).start())

    assert set(outcome.checkpoint.to_wire()) == {
        *("schemaVersion", "sharedState", "executionTree", "pausedStageId", "subflowPath", "pauseData"),
        *("subflowStates", "executionCount", "visitCounts", "pausedAt", "chartFingerprint"),
    }


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to everything in a JSON value, but not into what is data of the caller's own."""
    found = [way] if way else []
    if way and way[0] in ("sharedState", "executionTree", "pauseData", "runInput", "visitCounts"):
        return found
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items += cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        items += enumerate(cast("list[Any]", value))
    return found + [place for key, item in items for place in places(item, (*way, key))]


def changed(way: tuple[Any, ...], value: Any) -> dict[str, Any]:
    wire = copy.deepcopy(WIRE)
    at: Any = wire
    for key in way[:-1]:
        at = at[key]
    at[way[-1]] = value
    return wire


@settings(max_examples=300)
@given(st.sampled_from(places(WIRE)), st.sampled_from(JUNK))
def test_an_edited_checkpoint_resumes_or_is_refused_and_nothing_else(way: tuple[Any, ...], junk: Any) -> None:
    executor = Executor(rich().build())
    paused: Any = executor.run_sync({"who": "Dana"})
    rows, ids = len(paused.journal.rows), list(paused.journal.run_ids)

    try:
        executor.resume_sync(changed(way, junk), "second")
    except (CheckpointError, ResumeError):
        assert executor.checkpoint is paused.checkpoint
        assert executor.snapshot().run_id == paused.run_id
        assert (len(paused.journal.rows), paused.journal.run_ids) == (rows, ids)


@pytest.mark.parametrize("key", [*WIRE, "subflowResults"])
def test_a_key_with_another_type_is_refused_by_its_name(key: str) -> None:
    wrong: Any = 1.5 if key in ("pausedStageId", "pausedBy") else "text"
    if key == "pauseData":
        wrong = math.nan

    with pytest.raises(CheckpointError, match=rf"'{key}") as refused:
        PauseCheckpoint.from_wire({**WIRE, key: wrong})

    assert refused.value.field == key


@pytest.mark.parametrize("key", ["pausedStageId", "subflowPath", "sharedState", "subflowStates"])
def test_a_checkpoint_that_was_cut_off_is_refused_by_what_is_missing(key: str) -> None:
    wire = {name: value for name, value in WIRE.items() if name != key}

    with pytest.raises(CheckpointError) as refused:
        PauseCheckpoint.from_wire(wire)

    assert refused.value.field == key


@pytest.mark.parametrize("version", [0, 2, "1", True, 1.0])
def test_a_schema_that_is_not_known_is_refused(version: Any) -> None:
    with pytest.raises(CheckpointError, match=r"'schemaVersion'"):
        PauseCheckpoint.from_wire({**WIRE, "schemaVersion": version})


@pytest.mark.parametrize("wire", [None, [], "{}", 5])
def test_what_is_no_object_is_no_checkpoint(wire: Any) -> None:
    with pytest.raises(CheckpointError, match=r"'checkpoint' is not an object"):
        PauseCheckpoint.from_wire(wire)


def test_frames_nested_without_end_are_refused() -> None:
    frames: Any = []
    for _ in range(20_000):
        frames = [{"fork": "f", "branch": "b", "pending": {"c": {"pausedStageId": "x", "resumeFrames": frames}}}]

    with pytest.raises(CheckpointError, match=r"too deep"):
        PauseCheckpoint.from_wire({**WIRE, "resumeFrames": frames})


@pytest.mark.parametrize(
    ("data", "place"),
    [({"q": {1}}, "q"), ({"q": [1, math.nan]}, "q[1]"), ({"q": {"deep": [object()]}}, "q.deep[0]"), (math.inf, "")],
)
def test_what_json_can_not_hold_in_a_question_is_named_with_the_way_to_it(data: Any, place: str) -> None:
    def ask(h: Any) -> None:
        h.interrupt(data)

    for chart in (Chart.of("Ask", asking("ask", data)), Chart.of("Ask", Stage(ask, id="ask", raw=True))):
        with pytest.raises(CheckpointError, match=r"'ask' paused") as refused:
            asyncio.run(FlowRun(chart.build()).start())

        assert refused.value.field == "pauseData"
        assert place in str(refused.value)


def test_an_explicit_pause_is_taken_out_of_its_wrapping() -> None:
    for asked, data in [({"pause": True, "data": [1]}, [1]), ({"pause": True}, None), ({"pause": 1}, {"pause": 1})]:
        outcome: Any = asyncio.run(FlowRun(Chart.of("Ask", asking("ask", asked)).build()).start())

        assert thaw(outcome.checkpoint.pause_data) == data


def question(h: Handle) -> Any:
    return h.interrupt("?")


def test_an_answer_that_can_not_be_kept_is_refused_before_anything_runs() -> None:
    executor = Executor(Chart.of("Ask", Stage(question, id="ask", raw=True)).build())
    paused: Any = executor.run_sync()

    with pytest.raises(InputValidationError, match=r"answer"):
        executor.resume_sync(paused.checkpoint, {1, 2})

    assert executor.checkpoint is paused.checkpoint
    assert executor.resume_sync(paused.checkpoint, "fine").value == "fine"


def test_a_checkpoint_written_by_others_has_none_of_our_keys_and_goes_on() -> None:
    chart = Chart.of("Ask", raw("s"), Subflow(Chart.of("In", asking("ask")), id="sf"), raw("e"))
    outcome: Any = asyncio.run(FlowRun(chart.build()).start())
    theirs = {
        "sharedState": {},
        "executionTree": {"id": "s"},
        "pausedStageId": "sf/ask",
        "subflowPath": ["sf"],
        "pauseData": "?",
        "subflowStates": {"sf": {"own": 1}},
        "pausedAt": 5,
    }

    run = FlowRun(chart.build())
    again = asyncio.run(run.resume(theirs, 2))

    assert outcome.status == "paused"
    assert again.status == "done"
    assert thaw(run.journal.base_states[0]) == {"own": 1}


def test_a_checkpoint_survives_in_a_file_and_another_process_goes_on(tmp_path: Path) -> None:
    from tests.flow import paused_program

    file = tmp_path / "pause.json"
    result: Any = paused_program.flow().run_sync({"order": 7})
    file.write_text(json.dumps(result.checkpoint.to_wire()), encoding="utf-8")

    program = [sys.executable, "-m", "tests.flow.paused_program", str(file)]
    said = [
        subprocess.run([*program, answer], capture_output=True, text=True, check=True).stdout.strip()
        for answer in ("yes", "by card")
    ]

    assert said == [
        "paused: how?",
        json.dumps({"approved": "yes", "paid": "by card", "order": 7, "mailed": True, "steps": 11}),
    ]
