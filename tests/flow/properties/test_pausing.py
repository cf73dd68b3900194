"""Tests of pausing and resuming, at every question of any chart (9, 24.3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfootprint.flow import Executor, PauseCheckpoint
from agentfootprint.trace import thaw
from tests.flow.charts import Listener, steps_of
from tests.flow.pausing_charts import Spec, answer_for, charts, flow_of, question_of


def over_the_wire(checkpoint: PauseCheckpoint) -> dict[str, Any]:
    return json.loads(json.dumps(checkpoint.to_wire()))


def place_of(checkpoint: PauseCheckpoint) -> dict[str, Any]:
    """What a checkpoint says, without when it was and what the run had gone through in this process."""
    wire = over_the_wire(checkpoint)
    return {key: wire[key] for key in wire if key not in ("pausedAt", "executionTree", "subflowResults")}


def ended(chart: list[Spec], *, fresh: Callable[[int], bool]) -> tuple[Any, list[Any]]:
    """Run a chart to its end, answering every question; gives the state, and ids and checkpoint of each part."""
    executor = Executor(flow_of(chart, pauses=True), recorders=[Listener()])
    result = executor.run_sync()
    parts: list[Any] = [steps_of(result.journal)]
    while result.checkpoint is not None:
        parts.append(place_of(result.checkpoint))
        answer = answer_for(question_of(result.checkpoint.pause_data))
        before = len(result.journal.executions())
        if fresh(len(parts)):
            executor = Executor(flow_of(chart, pauses=True), recorders=[Listener()])
            result = executor.resume_sync(over_the_wire(result.checkpoint), answer)
            before = 0
        else:
            result = executor.resume_sync(result.checkpoint, answer)
        parts.append(steps_of(result.journal)[before:])
    return thaw(result.state), parts


def never_paused(chart: list[Spec]) -> tuple[Any, list[str]]:
    result = Executor(flow_of(chart, pauses=False)).run_sync()
    return thaw(result.state), steps_of(result.journal)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(charts(), st.integers(0, 2**16))
def test_wherever_a_chart_pauses_it_comes_to_what_it_would_have_come_to(chart: list[Spec], choices: int) -> None:
    expected, steps = never_paused(chart)

    same = ended(chart, fresh=lambda part: False)
    fresh = ended(chart, fresh=lambda part: True)
    mixed = ended(chart, fresh=lambda part: bool(choices >> (part % 16) & 1))

    assert same[0] == fresh[0] == mixed[0] == expected
    if any(part[0] in ("fork", "selector", "each") for part in _parts(chart)):
        assert without_order(same[1]) == without_order(fresh[1]) == without_order(mixed[1])
    else:
        assert same[1] == fresh[1] == mixed[1]
        assert steps[: len(same[1][0])] == same[1][0]


def without_order(parts: list[Any]) -> list[Any]:
    """Parts without the order that branches took turns in, which the clock may decide."""
    out: list[Any] = []
    for part in parts:
        steps = cast("list[str]", part) if isinstance(part, list) else []
        ids = [step.rpartition("#") for step in steps]
        out.append((sorted(name for name, *_ in ids), sorted(int(index) for *_, index in ids)) if ids else part)
    return out


def _parts(chart: list[Spec]) -> list[Spec]:
    out: list[Spec] = []
    waiting: list[Spec] = list(chart)
    while waiting:
        part = waiting.pop()
        out.append(part)
        for below in part[1:]:
            if isinstance(below, list):
                waiting += cast("list[Spec]", below)
            elif isinstance(below, tuple):
                waiting.append(cast("Spec", below))
    return out


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(charts())
def test_a_checkpoint_goes_over_the_wire_and_back_at_every_pause(chart: list[Spec]) -> None:
    flow = flow_of(chart, pauses=True)
    result = Executor(flow).run_sync()
    while result.checkpoint is not None:
        wire = over_the_wire(result.checkpoint)

        again = PauseCheckpoint.from_wire(wire)

        assert json.loads(json.dumps(again.to_wire())) == {key: wire[key] for key in wire if key != "subflowResults"}
        answer = answer_for(question_of(result.checkpoint.pause_data))
        result = Executor(flow).resume_sync(again, answer)
