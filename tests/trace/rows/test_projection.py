"""Tests of agentfootprint.trace.rows.projection."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.flow import Chart, FlowRun, Fork, Handle, Part, Stage, StageContext, State, Subflow
from agentfootprint.trace import (
    ABSENT,
    Dials,
    Fold,
    FrozenList,
    JournalIndex,
    deep_equal,
    freeze,
    is_strict_prefix,
    materialise,
    project_commit_log,
    project_commit_logs,
    project_control_deps,
    project_reads,
    project_state,
    thaw,
)
from tests.flow.charts import agent_shape, raw

scalars = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(("", "t"))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=5,
)
changes = st.lists(
    st.tuples(st.sampled_from(("set", "set", "delete", "append")), st.sampled_from("abh"), values), max_size=4
)
DIALS = [Dials(values="full"), Dials(values="delta"), Dials(reads="summary", writes="summary", values="delta")]


def changing(steps: list[tuple[str, str, Any]]) -> Any:
    def stage(h: Handle) -> None:
        for verb, key, value in steps:
            if verb == "set":
                h[key] = value
            elif verb == "delete":
                del h[key]
            elif isinstance(h.get(key, []), FrozenList) or key not in h:
                h.append(key, [value])

    return stage


def run_of(*parts: Part, **options: Any) -> FlowRun:
    run = FlowRun(Chart.of("Projected", *parts).build(), **options)
    asyncio.run(run.start())
    return run


@given(st.lists(changes, min_size=1, max_size=4), st.dictionaries(st.sampled_from("abo"), values, max_size=3))
def test_the_log_replays_to_the_state_under_every_dial(stages: list[Any], base: dict[str, Any]) -> None:
    logs: list[Any] = []
    for dials in DIALS:
        parts = [raw(f"s{n}", changing(steps)) for n, steps in enumerate(stages)]
        run = run_of(*parts, dials=dials, initial_state=base)
        log = [bundle.to_wire() for bundle in project_commit_log(run.journal)]
        assert deep_equal(materialise(log, len(log), base), run.state)
        assert deep_equal(project_state(run.journal), run.state)
        logs.append(log)

    assert [[e["path"] for e in b["trace"]] for b in logs[1]] == [[e["path"] for e in b["trace"]] for b in logs[2]]
    assert logs[1] == logs[2]


@given(st.lists(changes, min_size=1, max_size=4))
def test_the_state_after_each_row_is_the_state_after_so_many_bundles(stages: list[Any]) -> None:
    run = run_of(*(raw(f"s{n}", changing(steps)) for n, steps in enumerate(stages)))
    log = [bundle.to_wire() for bundle in project_commit_log(run.journal)]

    fold = Fold(run.journal)
    for number, commit in enumerate(fold.commits()):
        assert deep_equal(commit.before, materialise(log, number, {}))
        assert deep_equal(project_state(run.journal, upto=commit.row), materialise(log, number + 1, {}))


@given(st.lists(changes, min_size=1, max_size=4))
def test_the_index_knows_every_version(stages: list[Any]) -> None:
    run = run_of(*(raw(f"s{n}", changing(steps)) for n, steps in enumerate(stages)))
    index = JournalIndex(run.journal)

    for row in range(len(run.journal.rows)):
        state = project_state(run.journal, upto=row)
        for key in "abh":
            assert index.value_at(key, row) is state.get(key, ABSENT)


def test_the_index_follows_the_journal_while_it_grows() -> None:
    seen: list[Any] = []
    kept: list[JournalIndex] = []

    def stage(h: Handle) -> None:
        if not kept:
            kept.append(JournalIndex(h.run.journal))
        seen.append(len(kept[0].versions("n")))
        h["n"] = h.get("n", 0) + 1

    run = run_of(raw("a", stage), raw("b", stage), raw("c", stage))

    assert seen == [0, 1, 2]
    assert [v.value for v in kept[0].versions("n")] == [1, 2, 3]
    assert kept[0].versions("n")[1].execution.runtime_stage_id == "b#1"
    assert len(run.journal.rows) == 6


def test_each_runtime_has_a_log_of_its_own() -> None:
    run = run_of(*agent_shape(1).parts)

    logs = project_commit_logs(run.journal)

    mounts = [step for step in run.journal.executions().values() if step.info.kind == "mount"]
    assert set(logs) == {-1, *(step.index for step in mounts)}
    assert all([b.idx for b in log] == list(range(len(log))) for log in logs.values())
    engine = logs[1]
    assert [b.runtime_stage_id for b in engine] == [
        "",
        "sf-injection-engine/gather#2",
        "sf-injection-engine/evaluate#3",
        "sf-injection-engine/route#4",
        "sf-injection-engine/delta#5",
    ]


def test_one_iteration_has_the_bundles_it_should() -> None:
    def count(iterations: int) -> int:
        run = run_of(*agent_shape(iterations).parts)
        return sum(len(log) for log in project_commit_logs(run.journal).values())

    # 16 stages, 6 mounts with an exit each, 3 ends of branches, 2 mapped outputs, 5 seeds that are not empty
    assert count(3) - count(2) == 16 + 6 + 3 + 2 + 5


def test_values_in_the_log_are_those_of_the_state() -> None:
    run = run_of(*agent_shape(2).parts)

    (last,) = [b for b in project_commit_log(run.journal) if b.runtime_stage_id == "tool-calls#44"]

    assert thaw(last.overwrite) == {"history": ["call 2"], "iteration": 3}
    whole = project_commit_log(run.journal, values="full")[last.idx]
    assert whole.overwrite["history"] is run.state["history"]


def test_reads_are_listed_by_step() -> None:
    run = run_of(*agent_shape(1).parts)

    reads = project_reads(run.journal)

    assert reads["tool-calls#22"] == ("iteration", "history")
    assert "seed#0" not in reads


def test_the_decision_that_let_a_step_run_is_found_also_inside_mounts_and_after_loops() -> None:
    run = run_of(*agent_shape(1).parts)

    deps = project_control_deps(run.journal)

    found = {step: deps.lookup(step) for step in ("seed#0", "tool-calls#22", "sf-tools/compose#13", "call-llm#40")}
    assert {step: dep and dep.decider_id for step, dep in found.items()} == {
        "seed#0": None,
        "tool-calls#22": "sf-route#21",
        "sf-tools/compose#13": "context#6",
        "call-llm#40": "sf-route#21",
    }


def test_a_mount_in_a_branch_sees_its_namespace_first() -> None:
    async def quiet(h: Handle) -> None:
        """Nothing."""

    inner = Chart.of("Inner", raw("i", quiet))

    def child(s: State) -> None:
        s["x"] = "own"

    run = run_of(
        raw("s", changing([("set", "x", "root")])),
        Fork([Stage(child, id="c"), Subflow(inner, id="sf", input=("x",))]),
        dials=Dials(),
    )

    (mount,) = [step for step in run.journal.executions().values() if step.info.kind == "mount"]
    assert thaw(project_state(run.journal, mount.index)) == {"x": "root"}


@pytest.mark.parametrize(
    ("before", "after", "grown"),
    [
        ([1], [1, 2], True),
        ([], [1], True),
        ([1], [1], False),
        ([1], [2, 1], False),
        ([True], [1, 2], False),
        ([{"a": 1}], [{"a": 1.0}, 2], True),
        (None, [1], False),
        ([1], "ab", False),
    ],
)
def test_growth_is_seen_by_value(before: Any, after: Any, grown: bool) -> None:
    assert is_strict_prefix(freeze(before), freeze(after)) is grown


def test_growth_by_appending_is_seen_without_comparing() -> None:
    class Uncomparable(int):
        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = int.__hash__

    base = FrozenList([Uncomparable(1)], 1)

    assert is_strict_prefix(base, base.append(2))


def test_provenance_stands_with_each_write() -> None:
    def stage(s: State, ctx: StageContext) -> None:
        s["x"] = ctx.get("a")
        s["y"] = ctx.get("b")

    run = run_of(
        raw("s", changing([("set", "a", 1), ("set", "b", 2)])),
        Stage(stage, id="t"),
        dials=Dials(values="delta", provenance="reads-prefix"),
    )

    bundle = project_commit_log(run.journal)[1]
    assert [(e.path, e.read_keys) for e in bundle.trace] == [("x", ("a",)), ("y", ("a", "b"))]


def test_logs_of_all_iterations_share_the_growing_list() -> None:
    run = run_of(*agent_shape(5).parts)
    lists = [v.value for v in JournalIndex(run.journal).versions("history")]

    assert all(newer.starts_with(older) for older, newer in itertools.pairwise(lists[1:]))
