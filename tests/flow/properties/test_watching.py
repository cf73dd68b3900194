"""What holds of every watched run: recorders are told what the record says, and watching changes nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from agentfootprint.flow import CommitSeen, EmitSeen, ReadSeen, StageStarted, WriteSeen
from agentfootprint.flow.watch.recorder import Watch
from agentfootprint.trace import (
    ABSENT,
    NATIVE,
    Dials,
    EmittedRow,
    Execution,
    MappedRow,
    deep_equal,
    project_commit_logs,
    project_subflow_results,
    project_tree,
)
from tests.flow.charts import Listener
from tests.flow.properties.charts import Drawing, Form, Ran, drawings, run_of

FEW = settings(max_examples=30)
FULL = Dials()


def watched(drawing: Drawing, form: Form, dials: Dials = FULL) -> tuple[Ran, Listener]:
    listener = Listener()
    return run_of(drawing, form, dials, initial=True, watch=Watch([listener])), listener


@FEW
@given(drawings(nested=True, waits=True))
def test_the_tree_shows_what_recorders_were_told(drawing: Drawing) -> None:
    ran, listener = watched(drawing, "typed")
    journal = ran.run.journal
    reads: dict[str, dict[str, Any]] = {}
    writes: dict[str, dict[str, Any]] = {}

    for event in listener.seen:
        if isinstance(event, (ReadSeen, WriteSeen)):
            value = event.to_wire().get("value", ABSENT)
            (reads if isinstance(event, ReadSeen) else writes).setdefault(event.runtime_stage_id, {})[event.key] = value

    for node in nodes_of(ran):
        step = node["runtimeStageId"]
        told = {key: value for key, value in reads.get(step, {}).items() if value is not ABSENT}
        shown = node.get("stageReads", {})
        assert deep_equal({key: shown[key] for key in told}, told)  # a probe is on record, but no event
        told = {key: value for key, value in writes.get(step, {}).items() if value is not ABSENT}
        assert deep_equal(node.get("stageWrites", {}), told)
    assert len(nodes_of(ran)) == len(journal.executions())


def nodes_of(ran: Ran) -> list[dict[str, Any]]:
    journal = ran.run.journal
    roots = [project_tree(journal)]
    roots += [found["treeContext"]["stageContexts"] for key, found in results_of(ran) if "#" in key]
    found: list[dict[str, Any]] = []
    todo = [root for root in roots if root is not None]
    while todo:
        node = todo.pop()
        found.append(node)
        todo.extend(node.get("children", []))
        if "next" in node:
            todo.append(node["next"])
    return found


def results_of(ran: Ran) -> list[tuple[str, Any]]:
    return list(project_subflow_results(ran.run.journal).items())


@FEW
@given(drawings(waits=True))
def test_recorders_hear_of_each_stage_and_each_commit_in_the_order_of_the_rows(drawing: Drawing) -> None:
    ran, listener = watched(drawing, "raw")
    told = [event for event in listener.seen if isinstance(event, (StageStarted, CommitSeen, EmitSeen))]

    expected: list[tuple[str, str]] = []
    seen: set[int] = set()
    for row in ran.run.journal.rows:
        if isinstance(row, EmittedRow):
            expected.append(("on_emit", row.execution.runtime_stage_id))
        elif isinstance(row, MappedRow):
            if row.execution.info.kind != "mount":
                expected.append(("on_commit", row.execution.runtime_stage_id))
        elif isinstance(row, Execution) and row.info.kind != "mount":
            expected.append(("on_commit" if row.index in seen else "on_stage_start", row.runtime_stage_id))
            seen.add(row.index)
    assert [(event.hook, event.runtime_stage_id) for event in told] == expected


@FEW
@given(drawings(nested=True, waits=True))
def test_watching_changes_neither_log_nor_state(drawing: Drawing) -> None:
    alone = run_of(drawing, "typed", FULL, initial=True)
    ran, _ = watched(drawing, "typed")

    assert ran.ending == alone.ending
    assert deep_equal(ran.run.state, alone.run.state)
    assert wire(ran) == wire(alone)


@FEW
@given(drawings(waits=True))
def test_watching_the_fast_handle_changes_neither_log_nor_state(drawing: Drawing) -> None:
    alone = run_of(drawing, "raw", NATIVE, initial=True)
    ran, _ = watched(drawing, "raw", NATIVE)

    assert ran.ending == alone.ending
    assert wire(ran) == wire(alone)
    assert shape_of(ran) == shape_of(alone)


def shape_of(ran: Ran) -> list[dict[str, Any]]:
    """The trees without the values read and written, of which the native form keeps net changes only."""
    hidden = ("stageReads", "stageWrites", "next", "children")
    return [{key: value for key, value in node.items() if key not in hidden} for node in nodes_of(ran)]


def wire(ran: Ran) -> dict[int, list[dict[str, Any]]]:
    logs = project_commit_logs(ran.run.journal)
    return {mount: [bundle.to_wire() for bundle in log] for mount, log in logs.items()}
