"""Any chart that spills is read back as it was, whenever its rows were written, and wherever its file was cut."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfootprint.flow import Flow, FlowRun
from agentfootprint.recording import Recording, Spill
from agentfootprint.trace import Execution, Journal, project_reads, project_snapshot
from tests.flow.random_charts import ANSWER, Boom, RandomChart, Shape, charts
from tests.recording.runs import FACTS

_NUMBERS = itertools.count()
relaxed = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def kinds(journal: Journal) -> list[str]:
    """The rows by kind and execution."""
    return [row.runtime_stage_id if isinstance(row, Execution) else type(row).__name__ for row in iter(journal.rows)]


def flushing(spill: Spill, when: list[bool]) -> Callable[[Any], None]:
    """Adds rows, and writes them at once where the list, repeated, says so."""
    says = itertools.cycle(when)

    def append(row: Any) -> None:
        spill.append(row)
        if next(says):
            spill.flush(idle=True)

    return append


def legs(flow: Flow, folder: Path, when: list[bool]) -> list[tuple[Path, dict[str, Any], list[str], dict[str, Any]]]:
    """Run a chart and resume it until it has ended; each leg's file, and what was in memory."""
    found: list[tuple[Path, dict[str, Any], list[str], dict[str, Any]]] = []
    checkpoint: Any = None
    while True:
        path = folder / f"leg-{next(_NUMBERS)}.jsonl"
        run = FlowRun(flow)
        spill = Spill(run.journal, path)
        recording = spill.record(run.journal, facts=FACTS, header={})
        run.journal.append = flushing(spill, when)
        outcome = None
        try:
            with patch("agentfootprint.flow.walking.walk._SLICE_NS", sys.maxsize):
                outcome = asyncio.run(run.start() if checkpoint is None else run.resume(checkpoint, ANSWER))
        except Boom:
            pass
        found.append((path, project_snapshot(run.journal), kinds(run.journal), project_reads(run.journal)))
        checkpoint = None if outcome is None or outcome.checkpoint is None else outcome.checkpoint.to_wire()
        recording.finish("done")
        spill.settle()
        if checkpoint is None:
            return found


@given(drawn=charts(Shape(asks_in_branches=True)), when=st.lists(st.booleans(), min_size=1, max_size=7))
@relaxed
def test_a_chart_is_read_back_as_it_was(tmp_path: Path, drawn: RandomChart, when: list[bool]) -> None:
    for path, snapshot, rows, reads in legs(drawn.flow, tmp_path, when):
        journal = Recording.load(path).journal

        assert journal is not None
        assert kinds(journal) == rows
        assert project_reads(journal) == reads
        assert project_snapshot(journal) == snapshot


@given(drawn=charts(), when=st.lists(st.booleans(), min_size=1, max_size=7), where=st.floats(0, 1))
@relaxed
def test_a_chart_whose_file_was_cut_is_read_back_up_to_there(
    tmp_path: Path, drawn: RandomChart, when: list[bool], where: float
) -> None:
    for path, _, rows, _ in legs(drawn.flow, tmp_path, when):
        whole = path.read_bytes()
        first = whole.index(b"\n") + 1
        cut = first + round(where * (len(whole) - first))  # the length differs, as clocks do
        path.write_bytes(whole[:cut])

        opened = Recording.load(path)

        assert opened.journal is not None
        found = kinds(opened.journal)
        assert found == rows[: len(found)]
        assert opened.ended == ("done" if cut >= len(whole) - 1 else None)
        assert len(list(opened.bundles)) <= len(found)
        assert opened.to_wire()["snapshot"]["commitLog"] is not None
