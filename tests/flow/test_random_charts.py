"""Tests of random charts: whatever is drawn, a run does what the drawing says and tells it in order."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.flow import ControlDepRecorder, NarrativeRecorder, project_narrative
from agentfootprint.testing import EventOrderChecker
from agentfootprint.trace import (
    Journal,
    materialise,
    project_commit_log,
    project_control_deps,
    project_state,
    thaw,
)
from tests.flow.random_charts import RandomChart, Shape, charts, drive, drive_async

EXAMPLES = settings(max_examples=40, deadline=None)


def steps_of(journal: Journal) -> Counter[str]:
    """How often each stage was executed, by full id."""
    return Counter(step.info.id for step in journal.executions().values())


@EXAMPLES
@given(charts())
def test_a_run_ends_as_drawn_and_runs_what_was_drawn(drawn: RandomChart) -> None:
    driven = drive(drawn.flow.executor())

    assert driven.ending == drawn.ending
    assert len(driven.pauses) == drawn.asks
    assert steps_of(driven.journals[0]) == drawn.steps


@EXAMPLES
@given(charts())
def test_it_does_the_same_when_each_resume_is_another_process(drawn: RandomChart) -> None:
    driven = drive(drawn.flow.executor(), fresh=drawn.flow.executor)

    assert driven.ending == drawn.ending
    assert sum(map(steps_of, driven.journals), Counter[str]()) == drawn.steps


@EXAMPLES
@given(charts())
def test_events_keep_their_order(drawn: RandomChart) -> None:
    checker = EventOrderChecker()

    drive(drawn.flow.executor(recorders=[checker]))

    checker.check()
    assert checker.event_count > 0


@EXAMPLES
@given(charts())
def test_every_step_leads_back_to_the_first(drawn: RandomChart) -> None:
    checker = EventOrderChecker()

    driven = drive(drawn.flow.executor(recorders=[checker]))

    first, *others = driven.journals[0].executions().values()
    told = {step for step in others if checker.chain(step.runtime_stage_id) != (step.runtime_stage_id,)}
    assert {checker.chain(step.runtime_stage_id)[-1] for step in told} <= {first.runtime_stage_id}


@EXAMPLES
@given(charts())
def test_a_recorder_tells_the_same_story_as_the_journal(drawn: RandomChart) -> None:
    recorder = NarrativeRecorder()

    driven = drive(drawn.flow.executor(recorders=[recorder]))

    told = project_narrative(driven.journals[0])
    assert recorder.narrative().to_wire() == told.to_wire()
    assert told.to_wire() == driven.executors[0].narrative_entries().to_wire()


@EXAMPLES
@given(charts())
def test_a_recorder_knows_the_same_control_dependencies_as_the_journal(drawn: RandomChart) -> None:
    recorder = ControlDepRecorder()

    driven = drive(drawn.flow.executor(recorders=[recorder]))

    journal = driven.journals[0]
    deps, lookup = project_control_deps(journal), recorder.as_lookup()
    steps = [step.runtime_stage_id for step in journal.executions().values()]
    assert {step: lookup(step) for step in steps} == {step: deps.lookup(step) for step in steps}


@EXAMPLES
@given(charts())
def test_raw_stages_do_what_typed_ones_do(drawn: RandomChart) -> None:
    typed, raw = drive(drawn.flow.executor()), drive(drawn.built(raw=True).executor())

    assert raw.ending == typed.ending
    (one,), (other,) = typed.journals, raw.journals
    assert project_commit_log(one) == project_commit_log(other)
    assert project_state(one) == project_state(other)


@EXAMPLES
@given(charts())
def test_the_log_replays_to_the_state(drawn: RandomChart) -> None:
    driven = drive(drawn.flow.executor())

    snapshot = driven.executors[0].snapshot()
    log = snapshot.commit_log
    assert thaw(materialise(log, len(log), {})) == thaw(snapshot.shared_state)


@EXAMPLES
@given(charts(Shape(asks_in_branches=True)))
def test_pauses_inside_branches_keep_the_order_too(drawn: RandomChart) -> None:
    checker = EventOrderChecker()

    drive(drawn.flow.executor(recorders=[checker]))

    checker.check()


@EXAMPLES
@given(charts(), st.integers(0, 12))
def test_a_run_that_is_cancelled_anywhere_keeps_the_order_and_leaves_nothing_open(
    drawn: RandomChart, turns: int
) -> None:
    checker = EventOrderChecker()

    async def cancelled() -> None:
        going = asyncio.create_task(drive_async(drawn.flow.executor(recorders=[checker])))
        for _ in range(turns):
            await asyncio.sleep(0)
        going.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await going

    asyncio.run(cancelled())

    checker.check()
