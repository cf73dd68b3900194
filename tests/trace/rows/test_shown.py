"""Tests of agentfootprint.trace.rows.shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Executor,
    FlowRun,
    Handle,
    RedactionPolicy,
    Stage,
    StageContext,
    State,
    Subflow,
)
from agentfootprint.trace import (
    Execution,
    Journal,
    MappedRow,
    SeededRow,
    cover,
    project_commit_log,
    project_snapshot,
    project_state,
    redacted_journal,
    thaw,
)

MARK = "S3CRET"
POLICY = RedactionPolicy(keys=["ssn"])


def grow(s: State) -> None:
    s.plain.append(2)


def tell(s: State, ctx: StageContext) -> None:
    ctx.emit("app.x", {"a": s.ssn})


def given(state: Any) -> dict[str, Any]:
    return {"ssn": state["ssn"]}


def journal_of(*parts: Any, **options: Any) -> Journal:
    executor = Executor(Chart.of("Test", *parts).build(), redaction=POLICY, **options)
    return executor.run_sync().journal


def write(s: State) -> None:
    s.ssn = MARK
    s.plain = [1]


def test_a_journal_in_which_nothing_is_redacted_is_shown_as_it_is() -> None:
    run = FlowRun(Chart.of("Test", Stage(write)).build())

    assert redacted_journal(run.journal) is run.journal


def test_the_shown_journal_has_a_row_for_each_row_at_its_position() -> None:
    inner = Chart.of("Inner", Stage(write, id="inner"))
    live = journal_of(
        Stage(write, id="w"),
        Subflow(inner, id="declared", input={"x": "plain"}, output={"y": "ssn"}),
        Subflow(inner, id="coded", input=given, inputs="mutable"),
    )

    shown = redacted_journal(live)

    assert [type(row) if not isinstance(row, Execution) else Execution for row in shown.rows] == [
        type(row) if not isinstance(row, Execution) else Execution for row in live.rows
    ]
    assert [getattr(row, "index", None) for row in shown.rows] == [getattr(row, "index", None) for row in live.rows]
    assert shown.run_id == live.run_id
    kinds = (Execution, MappedRow, SeededRow)
    assert MARK not in repr([row.writes for row in shown.rows if isinstance(row, kinds)])
    assert MARK in repr([row.writes for row in live.rows if isinstance(row, kinds)])
    assert redacted_journal(live) is shown
    assert redacted_journal(shown) is shown


def test_no_shown_row_leads_to_a_real_one() -> None:
    live = journal_of(Stage(write, id="w"), Stage(tell, id="e"))

    steps = [row.execution for row in live.shown().rows if hasattr(row, "execution")]

    assert steps
    assert all(step is live.shown().execution(step.index) for step in steps)


def test_it_follows_a_run_that_goes_on() -> None:
    lengths: list[tuple[int, int]] = []

    def look(h: Handle) -> None:
        h["ssn"] = MARK
        journal = h.run.journal
        lengths.append((len(journal.rows), len(journal.shown().rows)))

    flow = Chart.of("Test", *(Stage(look, id=f"s{n}", raw=True) for n in range(3))).build()
    Executor(flow, redaction=POLICY).run_sync()

    assert [live == shown for live, shown in lengths] == [True] * 3


def test_the_past_of_a_journal_is_shown_as_it_was() -> None:
    live = journal_of(Stage(write, id="a"), Stage(grow, id="b"))

    past = live.until(2)

    assert thaw(project_state(past.shown())) == {"ssn": "REDACTED", "plain": [1]}
    assert thaw(project_state(past)) == {"ssn": MARK, "plain": [1]}
    assert [bundle.redacted_paths for bundle in project_commit_log(past)] == [("ssn",)]


def test_a_snapshot_made_of_the_shown_journal_has_the_mirror() -> None:
    live = journal_of(Stage(write, id="a"))

    assert project_snapshot(live)["sharedState"]["ssn"] == MARK
    assert project_snapshot(live.shown())["sharedState"]["ssn"] == "REDACTED"
    assert project_snapshot(live)["commitLog"] == project_snapshot(live.shown())["commitLog"]


def test_rows_of_stages_that_asked_no_veil_are_covered_too() -> None:
    def first(h: Handle) -> None:
        h["ssn"] = MARK

    def second(h: Handle) -> None:
        h["copy"] = [h["ssn"]]

    run = FlowRun(Chart.of("Test", Stage(first, id="a", raw=True), Stage(second, id="b", raw=True)).build())
    veil = cover(run.journal, POLICY)  # and the fast handle stays

    asyncio.run(run.start())

    shown = run.journal.shown()
    assert run.journal.veil is veil
    first_step, second_step = shown.execution(0), shown.execution(1)
    assert first_step is not None
    assert thaw(first_step.writes) == {"ssn": "REDACTED"}
    assert second_step is not None
    assert thaw(second_step.writes) == {"copy": [MARK]}  # a copy under another name is the stage's own
    assert second_step.detail is not None
    assert second_step.detail.read_values == {"ssn": "[REDACTED]"}


@pytest.mark.parametrize("values", ["full", "delta"])
def test_rows_that_hide_nothing_keep_their_values_by_reference(values: Any) -> None:
    def read(s: State, ctx: StageContext) -> None:
        s.big = list(range(50))

    live = journal_of(Stage(write, id="a"), Stage(read, id="b"), commit_values=values)

    real, shown = live.execution(1), live.shown().execution(1)
    assert real is not None
    assert shown is not None
    assert shown.writes["big"] is real.writes["big"]
    assert shown.ops == real.ops
