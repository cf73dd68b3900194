"""Tests of agentfootprint.flow.walking.mapping."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Decider,
    FlowRun,
    Fork,
    Handle,
    ReadonlyInputError,
    Selector,
    Subflow,
    SubflowMappingError,
)
from agentfootprint.trace import FrozenDict, project_commit_log, project_state, thaw
from tests.flow.charts import always, log_of, ran, raw, steps_of


def writing(values: dict[str, Any]) -> Any:
    def write(h: Handle) -> None:
        h.write(values)

    return write


def mounted(inner: dict[str, Any], outer: dict[str, Any], **mount: Any) -> dict[str, Any]:
    """The parent's state after a mount that writes `inner`, over a parent that holds `outer`."""
    chart = Chart.of("Inner", raw("i", writing(inner)))
    _, run = ran(raw("s", writing(outer)), Subflow(chart, id="sf", **mount))
    return thaw(run.state)


def test_without_maps_a_mount_is_alone() -> None:
    seen: list[Any] = []

    def look(h: Handle) -> None:
        seen.append((h.get("a", "nothing"), thaw(h.args)))
        h["b"] = 1

    _, run = ran(raw("s", writing({"a": 1})), Subflow(Chart.of("Inner", raw("look", look)), id="sf"))

    assert seen == [("nothing", {})]
    assert thaw(run.state) == {"a": 1}


def renamed(state: Any) -> dict[str, Any]:
    return {"x": state["a"]}


@pytest.mark.parametrize("spec", [{"x": "a"}, renamed], ids=["data", "function"])
def test_what_is_mapped_in_is_the_mounts_state_and_its_input(spec: Any) -> None:
    seen: list[Any] = []

    def look(h: Handle) -> None:
        seen.append((h["x"], h.args["x"]))
        with pytest.raises(ReadonlyInputError):
            h["x"] = 2

    _, run = ran(raw("s", writing({"a": 1})), Subflow(Chart.of("Inner", raw("look", look)), id="sf", input=spec))

    assert seen == [(1, 1)]
    assert project_commit_log(run.journal, 1)[0].to_wire()["overwrite"] == {"x": 1}
    assert thaw(project_state(run.journal, 1)) == {"x": 1}


def test_mapped_keys_may_be_written_where_the_mount_says_so() -> None:
    def change(h: Handle) -> None:
        h["a"] += 1
        assert h.args["a"] == 1

    inner = Chart.of("Inner", raw("change", change))
    _, run = ran(raw("s", writing({"a": 1})), Subflow(inner, id="sf", input=("a",), output=("a",), inputs="mutable"))

    assert thaw(run.state) == {"a": 2}


def test_mapping_copies_nothing() -> None:
    big = FrozenDict({"list": FrozenDict({})})
    seen: list[Any] = []

    def look(h: Handle) -> None:
        seen.append(h["x"])
        h["y"] = h["x"]

    inner = Chart.of("Inner", raw("look", look))
    mount = Subflow(inner, id="sf", input={"x": "a"}, output={"b": "y"}, array_merge="replace-all")
    _, run = ran(raw("s", writing({"a": big})), mount)

    assert seen[0] is big
    assert run.state["b"] is big


def test_a_declared_seed_needs_no_row() -> None:
    inner = Chart.of("Inner", raw("i"))
    _, run = ran(raw("s", writing({"a": 1})), Subflow(inner, id="sf", input={"x": "a"}))

    assert [type(row).__name__ for row in run.journal.rows] == [
        "Handle",
        "Handle",
        "Execution",
        "Handle",
        "Handle",
        "Execution",
    ]
    (seed, _) = project_commit_log(run.journal, 1)
    assert (seed.runtime_stage_id, seed.stage_id, thaw(seed.overwrite)) == ("", "sf/i", {"x": 1})


def test_an_absent_key_maps_nothing() -> None:
    assert mounted({}, {"a": 1}, input={"x": "missing"}, output={"y": "missing"}) == {"a": 1}


@pytest.mark.parametrize(
    ("array_merge", "expected"),
    [
        ("concat", {"list": [1, 2], "obj": {"l": [1, 2], "m": {"a": 1, "b": 2}, "n": 5}, "s": 2}),
        ("replace", {"list": [2], "obj": {"l": [1, 2], "m": {"a": 1, "b": 2}, "n": 5}, "s": 2}),
        ("replace-all", {"list": [2], "obj": {"l": [2], "m": {"b": 2}}, "s": 2}),
    ],
)
def test_mapped_values_meet_what_is_there(array_merge: str, expected: dict[str, Any]) -> None:
    outer = {"list": [1], "obj": {"l": [1], "m": {"a": 1}, "n": 5}, "s": 1}
    inner = {"list": [2], "obj": {"l": [2], "m": {"b": 2}}, "s": 2}

    assert mounted(inner, outer, output=("list", "obj", "s"), array_merge=array_merge) == expected


def looking(seen: list[bool]) -> Any:
    def look(h: Handle) -> None:
        seen.append("x" in h)

    return look


@pytest.mark.parametrize("array_merge", ["concat", "replace"])
def test_an_empty_object_crosses_no_mount(array_merge: Any) -> None:
    seen: list[bool] = []
    inner = Chart.of("Inner", raw("look", looking(seen)))
    ran(raw("s", writing({"x": {}})), Subflow(inner, id="sf", input=("x",), array_merge=array_merge))

    assert seen == [False]
    assert mounted({"o": {}}, {"o": {"a": 1}}, output=("o",), array_merge=array_merge) == {"o": {"a": 1}}


def test_an_empty_object_replaces_where_everything_replaces() -> None:
    seen: list[bool] = []
    inner = Chart.of("Inner", raw("look", looking(seen)))
    ran(raw("s", writing({"x": {}})), Subflow(inner, id="sf", input=("x",), array_merge="replace-all"))

    assert seen == [True]
    assert mounted({"o": {}}, {"o": {"a": 1}}, output=("o",), array_merge="replace-all") == {"o": {}}


def test_what_is_mapped_out_in_every_pass_does_not_grow() -> None:
    def work(h: Handle) -> None:
        h["active"] = {"slot": ["piece"]}

    def again(h: Handle) -> str:
        return "more" if h.run.visits[h.info.number] < 20 else "stop"

    decider = Decider(again, [raw("more", loop_to="sf"), raw("stop")], id="again", raw=True)
    mount = Subflow(Chart.of("Inner", raw("work", work)), id="sf", output=("active",), array_merge="replace-all")
    _, run = ran(raw("s"), mount, decider)

    assert thaw(run.state) == {"active": {"slot": ["piece"]}}
    assert [b["trace"] for b in log_of(run) if b["runtimeStageId"].startswith("sf#")][2:] == [[]] * 38


def test_the_trace_of_what_replaces_an_object_names_its_keys() -> None:
    inner = Chart.of("Inner", raw("i", writing({"o": {"b": [1, 2], "c": 1}})))
    mount = Subflow(inner, id="sf", output=("o",), array_merge="replace-all")
    _, run = ran(raw("s", writing({"o": {"a": 1, "b": [1], "c": 1}})), mount)

    bundle = log_of(run)[1]
    assert bundle["trace"] == [{"path": "o\x1fa", "verb": "delete"}, {"path": "o\x1fb", "verb": "append"}]
    assert bundle["overwrite"] == {"o": {"b": [2]}}
    assert thaw(run.state) == {"o": {"b": [1, 2], "c": 1}}


def test_a_mounts_bundles_are_its_output_and_an_empty_one() -> None:
    inner = Chart.of("Inner", raw("i", writing({"v": 1})))
    _, run = ran(raw("s"), Subflow(inner, id="sf", output=("v",)), raw("after"))

    assert [(b["runtimeStageId"], b["overwrite"]) for b in log_of(run)] == [
        ("s#0", {}),
        ("sf#1", {"v": 1}),
        ("sf#1", {}),
        ("after#3", {}),
    ]


@pytest.mark.parametrize("kind", ["decider", "selector", "fork"])
def test_the_output_of_a_branch_is_booked_on_what_dispatched_it(kind: str) -> None:
    mount = Subflow(Chart.of("Inner", raw("i", writing({"v": 1}))), id="sf", output=("v",))
    parts = {
        "decider": [Decider(always("sf"), [mount], id="d", raw=True)],
        "selector": [Selector(always(["sf"]), [mount], id="d", raw=True)],
        "fork": [raw("d"), Fork([mount])],
    }

    _, run = ran(raw("s"), *parts[kind], raw("after"))

    booked = [b["runtimeStageId"] for b in log_of(run) if b["overwrite"]]
    assert booked == ["d#1"]
    assert thaw(run.state) == {"v": 1}


def test_an_output_function_gets_the_value_else_the_state_and_the_parents_state() -> None:
    seen: list[Any] = []

    def out(given: Any, parent: Any) -> dict[str, Any]:
        seen.append((thaw(given), thaw(parent)))
        return {"r": 1}

    def value(h: Handle) -> str:
        h["x"] = 1
        return "value"

    outer = raw("s", writing({"p": 1}))
    ran(outer, Subflow(Chart.of("Inner", raw("i", value)), id="sf", output=out))
    ran(outer, Subflow(Chart.of("Inner", raw("i", writing({"x": 1}))), id="sf", output=out))

    assert seen == [("value", {"p": 1}), ({"x": 1}, {"p": 1})]


def test_a_function_that_returns_nothing_maps_nothing() -> None:
    def silent(*_: Any) -> None:
        """Map nothing."""

    inner = Chart.of("Inner", raw("i"))
    outcome, run = ran(raw("s"), Subflow(inner, id="sf", input=silent, output=silent))

    assert outcome.status == "done"
    assert thaw(run.state) == {}


def failing(*_: Any) -> Any:
    raise KeyError("secret")


def no_mapping(*_: Any) -> list[int]:
    return [1]


@pytest.mark.parametrize(("side", "spec"), [("input", failing), ("output", failing), ("output", no_mapping)])
def test_a_map_that_fails_is_named_with_its_side_and_no_words_of_the_state(side: str, spec: Any) -> None:
    inner = Chart.of("Inner", raw("i"))
    options: dict[str, Any] = {side: spec}
    run = FlowRun(Chart.of("Outer", raw("s"), Subflow(inner, id="sf", **options)).build())

    with pytest.raises(SubflowMappingError, match=rf"The {side} map of the mount 'sf'") as refused:
        asyncio.run(run.start())

    assert "secret" not in str(refused.value)
    assert steps_of(run.journal) == (["s#0", "sf#1"] if side == "input" else ["s#0", "sf#1", "sf/i#2"])


def test_a_failing_output_map_may_be_recorded_instead() -> None:
    inner = Chart.of("Inner", raw("i"))
    outcome, run = ran(raw("s"), Subflow(inner, id="sf", output=failing, on_output_error="record"), raw("after"))

    assert outcome.status == "done"
    assert [row.where for row in run.journal.rows if type(row).__name__ == "FailedRow"] == ["outputMapper"]
    assert steps_of(run.journal)[-1] == "after#3"


def test_reads_of_maps_are_no_reads_of_a_stage() -> None:
    inner = Chart.of("Inner", raw("i"))
    _, run = ran(raw("s", writing({"a": 1})), Subflow(inner, id="sf", input=("a",), output=("a",)))

    assert all(not step.reads for step in run.journal.executions().values())
