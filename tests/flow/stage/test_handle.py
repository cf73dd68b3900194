"""Tests of agentfootprint.flow.stage.handle."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from agentfootprint.flow import AbsentKeyError, Handle, ReadonlyInputError, StageClosedError, StateValueError
from agentfootprint.trace import FrozenDict, FrozenList, thaw
from tests.flow.charts import log_of, ran, raw, steps_of


def test_a_read_gives_the_committed_value_itself() -> None:
    seen: list[Any] = []
    value = FrozenDict({"a": 1})

    def write(h: Handle) -> None:
        h["k"] = value

    def read(h: Handle) -> None:
        seen.extend([h["k"], h.get("k"), h.peek("k")])

    ran(raw("write", write), raw("read", read))

    assert all(item is value for item in seen)


def test_a_stage_sees_its_own_writes() -> None:
    seen: list[Any] = []

    def stage(h: Handle) -> None:
        h["k"] = 1
        seen.append(h["k"])
        h["k"] = 2
        seen.append(h.get("k"))
        del h["k"]
        seen.extend(["k" in h, h.get("k", "gone")])

    ran(raw("s", stage))

    assert seen == [1, 2, False, "gone"]


def test_an_absent_key_is_refused_by_name_and_still_counts_as_read() -> None:
    def stage(h: Handle) -> None:
        with pytest.raises(AbsentKeyError, match=r"Stage 's' read the key 'missing'"):
            h["missing"]

    _, run = ran(raw("s", stage))

    assert run.journal.executions()[0].reads == ("missing",)


def test_only_changes_are_committed_in_the_order_of_last_write() -> None:
    def first(h: Handle) -> None:
        h.write({"a": 1, "b": [1], "c": "x"})

    def second(h: Handle) -> None:
        h.write({"a": 2, "b": [1], "c": "y"})
        h["a"] = 3

    _, run = ran(raw("first", first), raw("second", second))

    assert list(run.journal.executions()[1].writes) == ["c", "a"]
    assert thaw(run.state) == {"a": 3, "b": [1], "c": "y"}


def test_a_write_that_is_reverted_leaves_an_empty_bundle() -> None:
    def first(h: Handle) -> None:
        h["k"] = {"x": 1}

    def second(h: Handle) -> None:
        h["k"] = 5
        h["k"] = {"x": 1}

    _, run = ran(raw("first", first), raw("second", second))

    assert log_of(run)[1]["trace"] == []


def test_an_append_costs_its_tail_and_is_logged_as_such() -> None:
    def first(h: Handle) -> None:
        h.append("history", ["a"])

    def second(h: Handle) -> None:
        h.append("history", ["b", "c"])

    _, run = ran(raw("first", first), raw("second", second))

    first_list, second_list = (run.journal.executions()[n].writes["history"] for n in (0, 1))
    assert second_list.buf is first_list.buf
    assert [(b["trace"][0]["verb"], b["overwrite"]) for b in log_of(run)] == [
        ("set", {"history": ["a"]}),
        ("append", {"history": ["b", "c"]}),
    ]
    assert run.journal.executions()[1].reads == ("history",)


def test_what_is_no_list_is_not_appended_to() -> None:
    def stage(h: Handle) -> None:
        h["k"] = 1
        with pytest.raises(StateValueError, match=r"'k'.*can't be appended to"):
            h.append("k", [2])

    ran(raw("s", stage))


def test_a_delete_is_logged_and_the_key_is_gone() -> None:
    def first(h: Handle) -> None:
        h.write({"a": 1, "b": 2})

    def second(h: Handle) -> None:
        del h["a"]
        del h["never"]

    _, run = ran(raw("first", first), raw("second", second))

    assert thaw(run.state) == {"b": 2}
    assert log_of(run)[1]["trace"] == [{"path": "a", "verb": "delete"}]
    assert log_of(run, values="full")[1]["trace"] == [{"path": "a", "verb": "set"}]


def test_untracked_inputs_are_flagged_in_order_of_first_use() -> None:
    def stage(h: Handle) -> None:
        h["x"]
        h.peek("x")  # read under tracking before: not silent
        assert h.env["trace"] == "t"
        assert h.args["q"] == 1
        h.peek("y")
        h.peek("y")

    _, run = ran(raw("s", stage), args={"q": 1}, env={"trace": "t"}, initial_state={"x": 1})

    assert log_of(run)[0]["untrackedSources"] == ["env", "args", "silent"]


def test_an_empty_input_is_no_source() -> None:
    def stage(h: Handle) -> None:
        assert not h.args
        assert not h.env

    _, run = ran(raw("s", stage))

    assert "untrackedSources" not in log_of(run)[0]


@pytest.mark.parametrize("how", ["write", "delete", "append"])
def test_the_runs_input_is_read_only(how: str) -> None:
    def stage(h: Handle) -> None:
        write = {
            "write": lambda: h.__setitem__("q", 2),
            "delete": lambda: h.__delitem__("q"),
            "append": lambda: h.append("q", [1]),
        }
        with pytest.raises(ReadonlyInputError, match=r"'q'") as refused:
            write[how]()
        assert "secret" not in str(refused.value)

    ran(raw("s", stage), args={"q": "secret"})


@pytest.mark.parametrize("value", [{1, 2}, object(), float("nan"), {"a": [lambda: 1]}])
def test_a_value_that_cannot_be_recorded_is_refused_with_key_and_stage(value: Any) -> None:
    def stage(h: Handle) -> None:
        with pytest.raises(StateValueError, match=r"Stage 's' gave 'k'"):
            h["k"] = value

    ran(raw("s", stage))


def test_a_handle_used_after_its_commit_raises() -> None:
    kept: list[Handle] = []
    _, run = ran(raw("s", kept.append))
    (h,) = kept

    for use in (
        lambda: h["k"],
        lambda: h.get("k"),
        lambda: h.peek("k"),
        lambda: h.args,
        lambda: h.run,
        lambda: h.scope,
        h.break_,
        lambda: h.emit("x"),
        lambda: h.append("k", [1]),
        lambda: "k" in h,
        lambda: h.__setitem__("k", 1),
        lambda: h.__delitem__("k"),
    ):
        with pytest.raises(StageClosedError):
            use()
    assert h.runtime_stage_id == steps_of(run.journal)[0] == "s#0"


def test_a_record_keeps_no_run_alive() -> None:
    kept: list[Handle] = []
    _, run = ran(raw("s", kept.append))
    journal = run.journal
    del run
    gc.collect()

    assert not any(journal is other for other in gc.get_referrers(kept[0]))
    assert not gc.is_tracked(kept[0])


def test_reads_of_the_same_keys_are_one_tuple() -> None:
    def read(h: Handle) -> None:
        h.get("a")
        h.get("b")
        h.get("a")

    _, run = ran(raw("one", read), raw("two", read))

    one, two = run.journal.executions()[0], run.journal.executions()[1]
    assert one.reads is two.reads
    assert one.reads == ("a", "b")


def test_reading_stages_nothing_and_copies_nothing() -> None:
    def read(h: Handle) -> None:
        h["big"]
        assert h.w == {}
        assert h.base is h.home.state

    _, run = ran(raw("s", read), initial_state={"big": list(range(1000))})

    assert run.journal.executions()[0].writes == {}


def test_an_emitted_payload_stands_in_the_journal_where_it_happened() -> None:
    def stage(h: Handle) -> None:
        h.emit("app.seen", {"n": [1]})

    _, run = ran(raw("s", stage))

    begun, emitted, committed = run.journal.rows
    assert begun is committed is emitted.execution
    assert (emitted.name, thaw(emitted.payload)) == ("app.seen", {"n": [1]})
    assert emitted.dt >= begun.dt


def test_the_scope_is_the_callers_own_object() -> None:
    scope = object()

    def stage(h: Handle) -> None:
        assert h.scope is scope
        assert h.run.scope is scope

    ran(raw("s", stage), scope=scope)


def test_lists_in_state_and_journal_are_one() -> None:
    items = FrozenList([1], 1)

    def stage(h: Handle) -> None:
        h["k"] = items

    _, run = ran(raw("s", stage))

    assert run.state["k"] is run.journal.executions()[0].writes["k"] is items
