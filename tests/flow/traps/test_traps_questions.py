"""Tests of traps 3, 4, 24, 25, 27 and 28: logs in both forms, and what slices admit not to know."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.flow import Chart, Flow, Handle, RedactionPolicy, Stage, Staged, TransactionBuffer, bundle_of_ops
from agentfootprint.trace import (
    ABSENT,
    ChainOptions,
    FrozenDict,
    LogIndex,
    RunQuestions,
    apply_smart_merge,
    array_provenance,
    deep_equal,
    deep_smart_merge,
    evaluate_filter,
    freeze,
    keys_read_from_execution_tree,
    open_run_log,
    slice_for_key,
    slice_key,
    slice_to_json,
    summarize_value,
    thaw,
    value_at,
)
from tests.flow.random_charts import RandomChart, Shape, charts, drive
from tests.trace.logs import values


def looping(passes: int) -> Flow:
    def start(h: Handle) -> None:
        h["all"] = []

    def grow(h: Handle) -> None:
        h.append("all", ["one more"])

    return Chart.of(
        "Grow", Stage(start, id="start", raw=True), *(Stage(grow, id=f"g{n}", raw=True) for n in range(passes))
    ).build()


def log_size(mode: Any, passes: int) -> int:
    result = asyncio.run(looping(passes).executor(commit_values=mode).run())
    return len(json.dumps([bundle.to_wire() for bundle in result.snapshot().commit_log]))


def test_trap_3_a_growing_list_is_quadratic_in_a_full_log_and_linear_in_a_delta_log() -> None:
    full, delta = [[log_size(mode, passes) for passes in (40, 80)] for mode in ("full", "delta")]

    assert full[1] > 3 * full[0]
    assert delta[1] < 2.2 * delta[0]


PATHS = (("a",), ("h",), ("o",), ("o", "x"), ("o", "y"), ("o", "x", "z"))
operations = st.lists(
    st.tuples(st.sampled_from(("set", "set", "merge", "delete")), st.sampled_from(PATHS), values), max_size=6
)


def replayed(base: dict[str, Any], commits: list[list[tuple[str, tuple[str, ...], Any]]], mode: Any) -> list[Any]:
    """The states that a log of these commits replays to, one after another."""
    state, states = freeze(base), list[Any]()
    for operations in commits:
        buffer = TransactionBuffer(dict(state.items()))
        for verb, path, value in operations:
            buffer.stage(Staged(verb, path, ABSENT if verb == "delete" else freeze(value), None))  # pyright: ignore[reportArgumentType]
        bundle = bundle_of_ops(buffer.changes(mode))
        state = FrozenDict(apply_smart_merge(state, bundle))  # pyright: ignore[reportArgumentType]
        states.append(thaw(state))
    return states


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(("a", "h", "o")), values), st.lists(operations, max_size=4))
def test_trap_3_and_4_full_and_delta_logs_of_random_writes_replay_alike(
    base: dict[str, Any], commits: list[list[tuple[str, tuple[str, ...], Any]]]
) -> None:
    assert replayed(base, commits, "full") == replayed(base, commits, "delta")


def test_trap_4_a_parent_and_its_child_written_in_one_stage_replay_alike_in_both_forms() -> None:
    child_last = [[("set", ("o",), {"x": 1}), ("set", ("o", "y"), 2)]]
    parent_last = [[("set", ("o", "y"), 2), ("set", ("o",), {"x": 1})]]

    for commits, after in ((child_last, {"x": 1, "y": 2}), (parent_last, {"x": 1})):
        assert replayed({"o": {"z": 0}}, commits, "full") == replayed({"o": {"z": 0}}, commits, "delta")
        assert replayed({"o": {"z": 0}}, commits, "delta")[-1]["o"] == after


def chain(length: int, **options: Any) -> Any:
    def start(s: Any) -> None:
        s["n"] = 0

    def add(s: Any) -> None:
        s["n"] = s["n"] + 1

    parts = [Stage(start, id="s"), *(Stage(add, id=f"a{n}") for n in range(length))]
    return asyncio.run(Chart.of("Chain", *parts).build().executor(**options).run())


def test_trap_24_with_tracking_off_a_slice_says_not_recorded_and_not_no_causes() -> None:
    result = chain(3, read_tracking="off")

    stored = result.snapshot().to_wire()
    told = slice_for_key(stored["commitLog"], "n", keys_read_from_execution_tree(stored["executionTree"]))

    for text in (str(told), str(RunQuestions.of_snapshot(stored).why("n")), str(result.why("n"))):
        assert "reads were not recorded" in text
        assert "NOT absent" in text


def test_trap_25_a_cut_slice_says_so_in_object_json_and_text() -> None:
    result = chain(8)

    by_depth, by_nodes = ChainOptions(anchor="writer", max_depth=3), ChainOptions(anchor="writer", max_nodes=3)
    for limits in (by_depth, by_nodes):
        cut = RunQuestions.of_journal(result.journal).why("n", options=limits)
        assert cut.root is not None
        assert cut.root.truncated is not None
        assert slice_to_json(cut)["truncated"] == {
            "byDepth": limits is by_depth,
            "byNodes": limits is by_nodes,
        }
        assert "slice truncated" in str(cut)


@pytest.mark.parametrize(("one", "other"), [(True, 1), (False, 0), (None, False), ("", None), ([], {})])
def test_trap_27_values_of_two_kinds_are_never_the_same(one: Any, other: Any) -> None:
    assert not deep_equal(one, other)
    assert deep_smart_merge([one], [other]) == [one, other] or one in ([], {})
    assert not evaluate_filter(lambda _: one, {"k": {"eq": other}}).matched


def test_trap_27_numbers_are_equal_by_value_and_nan_equals_itself() -> None:
    assert deep_equal(1, 1.0)
    assert deep_equal(math.nan, math.nan)
    assert deep_smart_merge([1], [1.0]) == [1]
    assert summarize_value(True, 80) != summarize_value(1, 80)


def test_trap_27_absent_is_not_nothing() -> None:
    def write(s: Any) -> None:
        s["there"] = None

    result = asyncio.run(Chart.of("None", Stage(write, id="w")).build().run())

    assert result.value_at("there", 0) is None
    assert result.value_at("gone", 0) is ABSENT


NO_ABSENT_READS = Shape(asks=False, raises=False)


@settings(max_examples=60, deadline=None)
@given(charts(NO_ABSENT_READS))
def test_trap_28_a_round_trip_through_json_gives_the_same_slices(drawn: RandomChart) -> None:
    result = drive(drawn.flow.executor()).result
    assert result is not None
    live = result.snapshot().to_wire()
    stored = json.loads(json.dumps(live))

    for key in ("n0", "n1", "l0"):
        before, after = [
            slice_to_json(
                slice_key(
                    each["commitLog"],
                    key,
                    keys_read_from_execution_tree(each["executionTree"]),
                    options=ChainOptions(),
                )
            )
            for each in (live, stored)
        ]
        assert before == after
        for at in range(-1, len(stored["commitLog"]), 3):
            assert value_at(LogIndex(stored["commitLog"]), at, key) == value_at(live["commitLog"], at, key)
            births = array_provenance(stored["commitLog"], key, at=at).births
            if births is not None and at >= 0:
                assert [birth.value for birth in births] == thaw(value_at(live["commitLog"], at, key))


def test_trap_26_the_run_log_of_a_redacted_run_holds_no_value_of_it(tmp_path: Path) -> None:
    def start(s: Any) -> None:
        s["secret"], s["list"] = "S3CRET", ["S3CRET"]

    def more(s: Any) -> None:
        s["list"] = [*s["list"], s["secret"]]
        s["length"] = len(s["secret"])

    path = tmp_path / "run.log"
    flow = Chart.of("Redact", Stage(start, id="start"), Stage(more, id="more")).build()
    policy = RedactionPolicy(keys=["secret", "list"])

    result = asyncio.run(flow.executor(redaction=policy, run_log=path, initial_state={"secret": "S3CRET-too"}).run())

    assert b"S3CRET" not in path.read_bytes()
    opened = open_run_log(path)
    assert opened.value_at("secret", 0) == "REDACTED"
    assert slice_to_json(opened.why("length")) == slice_to_json(result.why("length"))
