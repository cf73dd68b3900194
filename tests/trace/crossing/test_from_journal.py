"""Tests of agentfootprint.trace.crossing.from_journal."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from agentfootprint.trace import (
    Execution,
    Journal,
    RunQuestions,
    project_commit_logs,
    project_control_deps,
    project_reads,
    slice_to_json,
)
from tests.flow.random_charts import RandomChart, charts, drive

relaxed = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def mounts_of(journal: Journal) -> list[Execution]:
    return [step for step in journal.executions().values() if step.info.kind == "mount"]


@relaxed
@given(charts())
def test_runtimes_hold_the_logs_reads_and_decisions_of_the_projections(drawn: RandomChart) -> None:
    driven = drive(drawn.flow.executor())

    for journal in driven.journals:
        runtimes = RunQuestions.of_journal(journal).runtimes()
        logs, reads = project_commit_logs(journal), project_reads(journal)
        deps = project_control_deps(journal)
        numbers = {mount.runtime_stage_id: mount.index for mount in mounts_of(journal)}
        for runtime in runtimes.every:
            index = numbers[runtime.step] if runtime.step else -1
            assert [bundle.to_wire() for bundle in runtime.log] == [b.to_wire() for b in logs.get(index, [])]
        for step in journal.executions().values():
            name = step.runtime_stage_id
            assert runtimes.reads.lookup(name) == reads.get(name, ())
            assert runtimes.control(name) == deps.lookup(name)


@relaxed
@given(charts())
def test_asking_while_a_run_goes_on_gives_in_the_end_what_asking_then_gives(drawn: RandomChart) -> None:
    journal = drive(drawn.flow.executor()).journals[0]
    growing = Journal(journal.stages, dials=journal.dials, base_state=journal.base_state)
    growing.base_states = journal.base_states
    asked = RunQuestions.of_journal(growing)

    for place, row in enumerate(journal.rows):
        growing.append(row)
        if place % 5 == 0:
            asked.runtimes()

    keys = ("n0", "n1", "l0", "l1")
    for key in keys:
        assert slice_to_json(asked.why(key)) == slice_to_json(RunQuestions.of_journal(journal).why(key))


@relaxed
@given(charts())
def test_every_step_of_a_slice_ran_before_the_step_that_depends_on_it(drawn: RandomChart) -> None:
    driven = drive(drawn.flow.executor())

    for journal in driven.journals:
        asked = RunQuestions.of_journal(journal)
        position = {step.runtime_stage_id: step.index for step in journal.executions().values()}
        for key in ("n0", "l0"):
            for edge in slice_to_json(asked.why(key)).get("edges", ()):
                if edge["kind"] == "data":
                    assert position[edge["to"]] <= position[edge["from"]]
