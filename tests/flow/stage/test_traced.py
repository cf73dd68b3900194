"""Tests of agentfootprint.flow.stage.traced."""

from __future__ import annotations

import asyncio
from typing import Any

from agentfootprint.flow import Chart, FlowRun, Fork, Handle, Part, Stage, StageContext, State
from agentfootprint.trace import Dials, project_commit_log, project_tree, thaw
from tests.flow.charts import raw


def run_of(*parts: Part, **options: Any) -> FlowRun:
    run = FlowRun(Chart.of("Traced", *parts).build(), dials=options.pop("dials", Dials()), **options)
    asyncio.run(run.start())
    return run


def test_every_operation_is_an_entry_in_full_form_and_every_key_one_in_delta_form() -> None:
    def twice(h: Handle) -> None:
        h["k"] = 2
        h["other"] = 1
        h["k"] = 3

    parts = [raw("s", twice)]

    full = project_commit_log(run_of(*parts).journal)[0]
    delta = project_commit_log(run_of(*parts, dials=Dials(values="delta")).journal)[0]

    assert [e.path for e in full.trace] == ["k", "other", "k"]
    assert [e.path for e in delta.trace] == ["other", "k"]


def test_tracked_writes_stand_in_the_tree_although_nothing_changed() -> None:
    def same(h: Handle) -> None:
        h["k"] = 1

    run = run_of(raw("first", same), raw("again", same))

    tree = project_tree(run.journal)
    assert tree is not None
    assert tree["next"]["stageWrites"] == {"k": 1}
    assert project_commit_log(run.journal)[1].trace == ()


def test_an_existence_probe_is_a_read() -> None:
    def probe(h: Handle) -> None:
        assert "k" not in h
        assert "x" in h

    run = run_of(raw("s", probe), initial_state={"x": 1})

    assert run.journal.executions()[0].reads == ("k", "x")


def test_a_fork_child_reads_its_namespace_before_the_root() -> None:
    seen: list[Any] = []

    def child(h: Handle) -> None:
        seen.append(h["k"])
        h["k"] = "own"
        seen.append(h["k"])
        del h["k"]
        seen.append(h["k"])

    run = run_of(raw("s"), Fork([raw("c", child)]), initial_state={"k": "root"})

    assert seen == ["root", "own", "root"]
    assert thaw(run.state) == {"k": "root"}


def test_a_merge_in_a_namespace_lands_there() -> None:
    def child(s: State, ctx: StageContext) -> None:
        ctx.update("o", {"b": 2})
        s["l"] = [1]
        s["l"].append(2)

    run = run_of(raw("s"), Fork([Stage(child, id="c")]), initial_state={"o": {"a": 1}})

    assert thaw(run.state) == {"o": {"a": 1}, "runs": {"c": {"o": {"b": 2}, "l": [1, 2]}}}
    assert [e.path for e in project_commit_log(run.journal)[1].trace] == [
        "runs\x1fc\x1fo",
        "runs\x1fc\x1fl",
        "runs\x1fc\x1fl",
    ]


def test_siblings_keep_each_others_namespaces() -> None:
    async def child(h: Handle) -> None:
        h["n"] = h.index
        await asyncio.sleep(0)
        h["m"] = h.index

    run = run_of(raw("s"), Fork([raw("a", child), raw("b", child)]), dials=Dials(values="delta"))

    assert thaw(run.state) == {"runs": {"a": {"n": 1, "m": 1}, "b": {"n": 2, "m": 2}}}


def test_inert_keys_do_nothing() -> None:
    def stage(s: State, ctx: StageContext) -> None:
        s["constructor"] = 1
        assert ctx.get("constructor") is None

    assert thaw(run_of(Stage(stage)).state) == {}
