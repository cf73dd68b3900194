"""Tests of what is said for a run of a composition's record, above all where it is written meanwhile."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import (
    Agent,
    Limits,
    Loop,
    Mock,
    Parallel,
    Recording,
    RecordOptions,
    RunOptions,
    Sequence,
    approve,
    tool,
)
from agentfootprint.compose import Step, runner
from agentfootprint.events import event_to_wire
from agentfootprint.flow import RedactionPolicy
from tests.compose.parts import asking, heard_by, up


def options(folder: Path, **more: Any) -> RunOptions:
    return RunOptions(run_id="mine", record=RecordOptions(spill=folder, **more))


def looker(id: str, iterations: int) -> Agent[Any, str]:
    """An agent that looks up something an iteration."""

    @tool
    def look(item: str) -> str:
        """Look an item up. Use it first."""
        return f"{item}: there are plenty of these in the store-room behind the door"

    calls = [Mock.call("look", item=f"{id}-{number}") for number in range(iterations - 1)]
    return Agent(
        Mock([*calls, f"{id} looked."], cursor="run"), id=id, tools=[look], limits=Limits(iterations=iterations + 1)
    )


def joined(said: Any) -> str:
    return "|".join(said.values())


def told(recording: Recording) -> list[tuple[str, Any]]:
    """What events say, without clocks."""
    found = [(event.type, event_to_wire(event)["payload"]) for event in recording.events]
    for _, payload in found:
        for key in ("durationMs", "startMs"):
            payload.pop(key, None)
    return found


async def test_the_record_of_all_children_is_one_file(tmp_path: Path) -> None:
    def line() -> Any:
        both = Parallel({"a": looker("a", 30), "b": looker("b", 40)}, merge=joined)
        return Sequence([Step("up", up), Step("both", both), Step("c", looker("c", 20))])

    kept = await line().run("hi", options=RunOptions(run_id="mine"))
    result = await line().run("hi", options=options(tmp_path))

    opened = Recording.load(tmp_path / "mine.jsonl")
    assert opened.ended == "done"
    for recording in (opened, result.recording):
        assert sorted(map(str, told(recording))) == sorted(map(str, told(kept.recording)))
        assert recording.answer is not None
        assert recording.answer[0] == result.text
        assert len(recording.calls) == 90
        assert len(recording.tool_uses) == 87
    assert str(result.why())


async def test_a_composition_can_be_read_while_early_rows_are_in_the_file(tmp_path: Path) -> None:
    turns: list[int] = []

    def again(message: str) -> str:
        turns.append(1)
        return message

    line = Loop(Sequence([Step("again", runner(again)), Step("look", looker("a", 20))]), max_iterations=5)
    calls: list[int] = []

    async with line.stream("hi", options=options(tmp_path)) as run:
        events = 0
        async for _ in run:
            events += 1
            if events % 300 == 0:
                calls.append(len(run.recording.calls))
        result = await run.result()

    assert len(turns) == 5
    assert calls == sorted(calls)
    assert len(result.recording.calls) == 100
    assert len(result.recording.events) == events


async def test_what_a_policy_keeps_out_is_not_in_the_file_of_all(tmp_path: Path) -> None:
    line = Sequence([Step("look", looker("MARKER", 10))])

    await line.run("hi", options=options(tmp_path, redaction=RedactionPolicy(patterns=["."], emit_patterns=["."])))

    data = (tmp_path / "mine.jsonl").read_bytes()
    assert b"MARKER-3" not in data
    assert b"store-room" not in data


async def test_a_composition_that_asks_and_its_resume_leave_a_file_each(tmp_path: Path) -> None:
    record = RunOptions(record=RecordOptions(spill=tmp_path))
    ran: list[str] = []
    line = Sequence([Step("q", asking(ran)), Step("up", up)])
    asked = await line.run("go", options=record)
    assert asked.paused is not None

    answered = await line.resume(asked.paused.checkpoint.to_wire(), approve(by="dana"), options=record)

    opened = [Recording.load(tmp_path / f"{each.run_id}.jsonl") for each in (asked, answered)]
    assert [each.ended for each in opened] == ["paused", "done"]
    assert opened[1].answer is not None
    assert opened[1].answer[0] == answered.text
    kept = await line.resume(asked.paused.checkpoint.to_wire(), approve(by="dana"))
    assert [event.type for event in opened[1].events] == [event.type for event in kept.recording.events]


async def test_a_child_whose_own_record_would_be_written_meanwhile_is_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    line = Sequence([Step("a", Agent(Mock("x"), record=RecordOptions(spill=tmp_path / "runs")))])

    with caplog.at_level(logging.WARNING):
        await line.run("hi")
        await line.run("hi")

    assert [record.message.startswith("The record of 'a' alone") for record in caplog.records] == [True]
    assert not (tmp_path / "runs").exists()


async def test_what_is_said_for_a_run_of_its_record_holds_for_every_child() -> None:
    line = Sequence([Step("a", Agent(Mock("x"), system="Be brief.")), Step("b", Agent(Mock("y"), system="Be kind."))])
    heard = heard_by(line)

    await line.run("hi", options=RunOptions(record=RecordOptions(system_prompt=True, delivery="deferred")))

    told = [event.payload.system_prompt_text for event in heard if event.type.endswith("llm_start")]
    assert told == ["Be brief.", "Be kind."]
