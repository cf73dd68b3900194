"""Tests of agentfootprint.trace.rows.journal."""

from __future__ import annotations

import gc

import pytest
from msgspec import structs

from agentfootprint.trace import (
    CHILD,
    ENTRY,
    NEXT,
    DecidedRow,
    EmittedRow,
    Execution,
    GrewRow,
    Journal,
    MappedRow,
    StageInfo,
)

SEED = StageInfo(number=0, id="seed", local_id="seed", name="Seed")
INNER = StageInfo(number=1, id="sf/work", local_id="work", name="sf/Work", path=("sf",))


def execution(index: int, *, info: StageInfo = SEED, link: int = NEXT, parent: int = -1) -> Execution:
    return Execution(info, index, parent, link, -1, 0, (), {})


def test_an_execution_names_itself() -> None:
    step = execution(4, info=INNER)

    assert (step.runtime_stage_id, step.stage_id, step.subflow_path) == ("sf/work#4", "sf/work", ("sf",))
    assert repr(step) == "<execution sf/work#4>"


@pytest.mark.parametrize(
    ("link", "loop", "name"),
    [(NEXT, 0, "Seed"), (CHILD, 0, "Seed"), (ENTRY, 0, "Seed"), (1, 1, "Seed"), (2, 2, "Seed.1"), (3, 3, "Seed.2")],
)
def test_the_second_loop_on_has_a_suffix(link: int, loop: int, name: str) -> None:
    step = execution(0, link=link)

    assert (step.loop, step.context_name) == (loop, name)


def test_executions_are_found_by_index_while_the_journal_grows() -> None:
    journal = Journal((SEED, INNER))
    first, second = execution(0), execution(1)
    journal.append(first)
    assert journal.execution(0) is first
    assert journal.execution(1) is None

    journal.append(first)
    journal.append(second)

    assert journal.execution(1) is second
    assert list(journal.executions()) == [0, 1]


def test_a_journal_as_it_was_does_not_grow() -> None:
    journal = Journal((SEED,), run_id="r", first_index=3)
    journal.append(execution(3))
    before = journal.until(1)
    assert before is journal

    past = journal.until(0)
    journal.append(execution(4))

    assert past.rows == []
    assert (past.run_id, past.first_index, past.stages) == ("r", 3, journal.stages)
    assert len(journal.until(1).rows) == 1


def test_stages_that_only_a_run_has_stand_behind_those_of_its_chart() -> None:
    journal = Journal((SEED,))
    step = execution(0)

    journal.grow(step, [INNER])

    assert journal.stages == (SEED, INNER)
    [row] = journal.rows
    assert isinstance(row, GrewRow)
    assert (row.execution, row.stages) == (step, (INNER,))


def test_a_stage_with_a_known_number_takes_the_place_of_the_old_one() -> None:
    lazy = StageInfo(number=0, id="sf", local_id="sf", name="Sf", kind="mount")
    made = structs.replace(lazy, entry=1)
    journal = Journal((lazy,))

    journal.grow(None, [made, INNER])

    assert journal.stages == (made, INNER)
    assert journal.until(0).stages == (made, INNER)


def test_time_runs_forward() -> None:
    journal = Journal((SEED,))

    assert 0 <= journal.now() <= journal.now()
    assert journal.started_at > 1_700_000_000_000


def test_rows_are_unseen_by_the_collector() -> None:
    step = execution(0)
    rows = [
        step,
        EmittedRow(step, 0, "name", None),
        DecidedRow(step, 0, "a", True),
        MappedRow(step, step, {"k": 1}),
        SEED,
    ]
    gc.collect()

    assert not any(gc.is_tracked(row) for row in rows)
