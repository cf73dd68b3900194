"""Tests of agentfootprint.recording.spilling.source."""

from __future__ import annotations

import asyncio
import gc
import pickle
import weakref
from pathlib import Path
from typing import Any, cast

import pytest

from agentfootprint import Agent, Fact, Instruction, Limits, Mock, Recording, RecordOptions, RunOptions, Steering
from agentfootprint.flow import RedactionPolicy
from agentfootprint.recording import FileProblemError
from agentfootprint.recording.deep import encode_deep
from tests.recording.runs import answering_after, lookup

CLOCKS = frozenset(
    ("turnStartMs", "runOffsetMs", "wallClockMs", "durationMs", "startedAt", "runId", "ms", "checkpointedAt")
)


def agent(iterations: int, record: RecordOptions | bool = True) -> Agent[Any, Any]:
    """One with facts, a rule and a tool."""
    return Agent(
        Mock(answering_after(iterations)),
        system="You decide refunds.",
        tools=[lookup],
        context=[
            Fact("vip", "Dana Reyes holds VIP status: refunds are approved beyond 30 days."),
            Steering("style", "Two sentences at most."),
            Instruction("late", "Mention the price.", when=lambda turn: turn.iteration >= 3),
        ],
        limits=Limits(iterations=iterations + 2),
        record=record,
    )


def timeless(value: Any) -> bytes:
    """A wire form without what a clock said, which may be deeper than the stack."""
    waiting: list[Any] = [value]
    while waiting:
        item: Any = waiting.pop()
        if isinstance(item, dict):
            fields = cast("dict[str, Any]", item)
            for name in CLOCKS:
                fields.pop(name, None)
            waiting += fields.values()
        elif isinstance(item, list):
            waiting += cast("list[Any]", item)
    return encode_deep(value)


@pytest.mark.parametrize("iterations", [1, 2, 60])
@pytest.mark.parametrize("policy", [None, RedactionPolicy(keys=["order_id"])], ids=["open", "redacted"])
def test_what_was_spilled_is_what_would_have_been_kept(
    tmp_path: Path, iterations: int, policy: RedactionPolicy | None
) -> None:
    options = RunOptions(run_id="run-a")
    kept = agent(iterations, RecordOptions(redaction=policy)).run_sync("Refund?", options=options)
    spilled = agent(iterations, RecordOptions(spill=tmp_path, redaction=policy)).run_sync("Refund?", options=options)

    wire = timeless(kept.recording.to_wire())
    assert timeless(spilled.recording.to_wire()) == wire
    assert timeless(Recording.load(tmp_path / "run-a.jsonl").to_wire()) == wire


def test_a_result_answers_everything_from_its_file(tmp_path: Path) -> None:
    result = agent(60, RecordOptions(spill=tmp_path)).run_sync("Should A-1 be refunded?")
    recording = result.recording

    assert recording.run_id == result.run_id
    assert recording.ended == "done"
    assert recording.flags == ()
    assert len(recording.calls) == 60
    assert len(recording.tool_uses) == 59
    assert recording.answer is not None
    assert recording.answer[0] == result.text
    assert recording.user_message == "Should A-1 be refunded?"
    assert recording.snapshot["sharedState"]["iteration"] == 60
    assert recording.events[-1].type.endswith("integrity.disposition")
    assert str(result.why())
    assert recording.save(tmp_path / "saved.json").exists()
    assert timeless(Recording.load(tmp_path / "saved.json").to_wire()) == timeless(recording.to_wire())


def test_a_run_can_be_looked_at_while_its_early_rows_are_in_the_file(tmp_path: Path) -> None:
    seen: list[tuple[int, int, int, int]] = []
    saved: list[Recording] = []

    async def watching() -> Any:
        async with agent(80, RecordOptions(spill=tmp_path / "runs")).stream("Refund?") as run:
            count = 0
            async for _ in run:
                count += 1
                if count in (50, 500, 900):
                    recording = run.recording
                    snapshot: Any = run.snapshot
                    saved.append(Recording.load(recording.save(tmp_path / f"{count}.json")))
                    assert timeless(recording.to_wire()) == timeless(saved[-1].to_wire())
                    assert recording.ended is None
                    sizes = len(recording.calls), len(recording.tool_uses), len(snapshot["commitLog"])
                    seen.append((len(recording.events), *sizes))
            return await run.result()

    result = asyncio.run(watching())

    assert [*map(list, seen)] == sorted(map(list, seen))
    assert len({count for count, *_ in seen}) == 3
    events = [event.type for event in result.recording.events]
    for part in saved:
        assert [event.type for event in part.events] == events[: len(part.events)]


def test_what_a_deleted_file_held_is_asked_for_in_vain_and_says_so(tmp_path: Path) -> None:
    result = agent(2, RecordOptions(spill=tmp_path)).run_sync("Refund?", options=RunOptions(run_id="run-a"))
    (tmp_path / "run-a.jsonl").unlink()

    assert result.text
    with pytest.raises(FileProblemError, match=r"run-a\.jsonl' can't be read: there is no such file"):
        result.recording.events  # noqa: B018


def test_a_run_that_has_ended_keeps_no_rows_in_memory(tmp_path: Path) -> None:
    kept: list[weakref.ref[Any]] = []
    watched = agent(2, RecordOptions(spill=tmp_path))
    watched.run_watchers.append(lambda recording: kept.append(weakref.ref(recording.journal)))

    result = watched.run_sync("Refund?")

    gc.collect()
    assert kept[0]() is None
    assert result.recording.answer is not None


def test_a_record_is_pickled_as_any(tmp_path: Path) -> None:
    result = agent(3, RecordOptions(spill=tmp_path)).run_sync("Refund?")

    again = pickle.loads(pickle.dumps(result.recording))

    assert timeless(again.to_wire()) == timeless(result.recording.to_wire())
