"""What holds of every run of every chart: its rows, its logs, its states and its trees are one story."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import given, settings

from agentfootprint.trace import (
    ABSENT,
    NATIVE,
    Dials,
    Execution,
    Fold,
    FrozenDict,
    Journal,
    JournalIndex,
    LogIndex,
    deep_equal,
    find_last_writer,
    materialise,
    project_commit_logs,
    project_state,
    project_tree,
    value_at,
)
from tests.flow.properties.charts import KEYS, Drawing, Ran, drawings, run_of

FEW = settings(max_examples=40)
FULL = Dials()
DELTA = Dials(values="delta")


def mounts_of(journal: Journal) -> list[int]:
    """The runtimes of a run: the top and every mount that began."""
    return [-1, *(i for i, step in journal.executions().items() if step.info.kind == "mount")]


def wire_logs(ran: Ran, **options: Any) -> dict[int, list[dict[str, Any]]]:
    logs = project_commit_logs(ran.run.journal, **options)
    return {mount: [bundle.to_wire() for bundle in log] for mount, log in logs.items()}


@FEW
@given(drawings(nested=True, waits=True, depth=2))
def test_replaying_the_log_gives_the_state_and_every_bundle_stands_at_its_index(drawing: Drawing) -> None:
    ran = run_of(drawing, "typed", FULL, initial=True)
    journal = ran.run.journal

    for mount, log in wire_logs(ran).items():
        base: dict[str, Any] = dict(journal.base_state) if mount == -1 else {}
        assert [bundle["idx"] for bundle in log] == list(range(len(log)))
        assert deep_equal(materialise(log, len(log), base), project_state(journal, mount))
    assert deep_equal(project_state(journal), ran.run.state)


@FEW
@given(drawings(waits=True))
def test_executions_are_counted_without_a_gap_and_trees_and_logs_name_the_same_steps(drawing: Drawing) -> None:
    ran = run_of(drawing)
    journal = ran.run.journal
    steps = journal.executions()

    assert sorted(steps) == list(range(len(steps)))
    logs = wire_logs(ran)
    for mount in mounts_of(journal):
        expected = {step.runtime_stage_id for step in steps.values() if step.mount == mount}
        assert ids_of(project_tree(journal, mount)) == expected
        logged = [bundle["runtimeStageId"] for bundle in logs.get(mount, []) if bundle["runtimeStageId"]]
        assert set(logged) == expected


def ids_of(tree: dict[str, Any] | None) -> set[str]:
    found: set[str] = set()
    todo = [] if tree is None else [tree]
    while todo:
        node = todo.pop()
        assert node["runtimeStageId"] not in found
        found.add(node["runtimeStageId"])
        todo.extend(node.get("children", []))
        if "next" in node:
            todo.append(node["next"])
    return found


@FEW
@given(drawings(nested=True, waits=True, depth=2))
def test_full_and_delta_logs_replay_to_equal_states_at_every_step(drawing: Drawing) -> None:
    full, delta = run_of(drawing, "typed", FULL, initial=True), run_of(drawing, "typed", DELTA, initial=True)

    assert full.ending == delta.ending
    logs_full, logs_delta = wire_logs(full), wire_logs(delta)
    assert logs_full.keys() == logs_delta.keys()
    for mount, log in logs_full.items():
        base: dict[str, Any] = dict(full.run.journal.base_state) if mount == -1 else {}
        for upto in range(len(log) + 1):
            assert deep_equal(materialise(log, upto, base), materialise(logs_delta[mount], upto, base))


@FEW
@given(drawings(nested=True, waits=True))
def test_three_ways_to_a_value_at_a_step_agree(drawing: Drawing) -> None:
    ran = run_of(drawing, "typed", DELTA)
    journal = ran.run.journal
    logs, by_row = project_commit_logs(journal), JournalIndex(journal)
    indexes = {mount: LogIndex([bundle.to_wire() for bundle in log]) for mount, log in logs.items()}
    positions = dict.fromkeys(logs, 0)
    fold = Fold(journal)

    for commit in fold.commits():
        before = dict(commit.before)
        position = positions[commit.mount]
        positions[commit.mount] += 1
        for key in (*KEYS, "runs"):
            value = commit.writes.get(key, before.get(key, ABSENT))
            assert deep_equal(by_row.value_at(key, commit.row, commit.mount), value)
            assert deep_equal(value_at(indexes[commit.mount], position, key), value)
            assert deep_equal(value_at(logs[commit.mount], position, key), value)


@FEW
@given(drawings(nested=True))
def test_a_value_below_a_key_is_found_where_replay_leaves_it(drawing: Drawing) -> None:
    log = wire_logs(run_of(drawing, "typed", FULL))[-1]

    for position in range(len(log)):
        state: Any = materialise(log, position + 1, {})
        for key in KEYS:
            fields = cast("dict[str, Any]", state[key]) if isinstance(state.get(key), dict) else {}
            assert deep_equal(value_at(log, position, (key, "x")), fields.get("x", ABSENT))


@FEW
@given(drawings(depth=2))
def test_the_fast_handle_and_the_traced_one_leave_the_same_record(drawing: Drawing) -> None:
    native, traced = run_of(drawing, "raw", NATIVE, initial=True), run_of(drawing, "typed", NATIVE, initial=True)

    assert native.ending == traced.ending
    assert deep_equal(native.run.state, traced.run.state)
    assert wire_logs(native) == wire_logs(traced)
    assert wire_logs(native, values="full") == wire_logs(traced, values="full")
    assert reads_of(native) == reads_of(traced)


def reads_of(ran: Ran) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(step.runtime_stage_id, step.reads, step.untracked) for step in ran.run.journal.executions().values()]


@FEW
@given(drawings(waits=True))
def test_an_execution_appears_when_it_begins_and_when_it_commits(drawing: Drawing) -> None:
    rows = run_of(drawing).run.journal.rows
    appeared: dict[int, int] = {}

    for row in rows:
        if isinstance(row, Execution):
            appeared[row.index] = appeared.get(row.index, 0) + 1
            if row.parent >= 0:
                assert appeared[row.parent] >= 1
    assert all(count >= 2 for count in appeared.values())


@FEW
@given(drawings(waits=True))
def test_a_past_journal_is_a_prefix_of_the_story(drawing: Drawing) -> None:
    journal = run_of(drawing).run.journal
    whole = project_commit_logs(journal)[-1]

    for end in range(0, len(journal.rows), 3):
        past = journal.until(end)
        log = project_commit_logs(past)[-1]
        assert [bundle.to_wire() for bundle in log] == [bundle.to_wire() for bundle in whole[: len(log)]]
        assert deep_equal(FrozenDict(project_state(past)), FrozenDict(project_state(journal, upto=end - 1)))


@FEW
@given(drawings(nested=True, waits=True))
def test_the_last_writer_of_a_key_is_the_one_whose_bundle_changed_it(drawing: Drawing) -> None:
    log = project_commit_logs(run_of(drawing, "typed", DELTA).run.journal)[-1]

    for key in KEYS:
        writer = find_last_writer(log, key)
        written = [bundle.idx for bundle in log if key in [entry.path for entry in bundle.trace]]
        assert writer == (written[-1] if written else None)
