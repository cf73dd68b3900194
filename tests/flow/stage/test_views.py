"""Tests of agentfootprint.flow.stage.views."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.flow import Chart, DictView, FlowRun, ListView, Stage
from agentfootprint.trace import Dials, project_commit_log, thaw

OBJECT = {"a": {"b": 1, "tags": ["x"]}, "n": 1}


def changed(function: Callable[[Any], object], **values: Any) -> tuple[Any, dict[str, Any]]:
    """The state after a function changed it, and the bundle of the change (in delta form)."""

    def stage(s: Any) -> None:
        function(s)

    run = FlowRun(Chart.of("Views", Stage(stage)).build(), dials=Dials(values="delta"), initial_state=values)
    asyncio.run(run.start())
    return thaw(run.state), project_commit_log(run.journal)[0].to_wire()


def entries(bundle: dict[str, Any]) -> list[tuple[str, str]]:
    return [(entry["path"], entry["verb"]) for entry in bundle["trace"]]


def test_a_nested_assignment_is_a_merge_that_keeps_the_siblings() -> None:
    def change(s: Any) -> None:
        s.o.a.b = 2
        s.o["m"] = {"new": True}

    state, bundle = changed(change, o=OBJECT)

    assert state["o"] == {"a": {"b": 2, "tags": ["x"]}, "n": 1, "m": {"new": True}}
    assert entries(bundle) == [("o", "merge")]
    assert bundle["updates"] == {"o": {"a": {"b": 2}, "m": {"new": True}}}


def test_a_nested_list_that_is_assigned_is_united_with_the_one_there() -> None:
    def change(s: Any) -> None:
        s.o.a.tags = ["x", "y"]

    state, _ = changed(change, o=OBJECT)

    assert state["o"]["a"]["tags"] == ["x", "y"]


def test_a_nested_list_that_is_changed_is_replaced() -> None:
    def change(s: Any) -> None:
        s.o.a.tags.append("x")

    state, bundle = changed(change, o=OBJECT)

    assert state["o"]["a"]["tags"] == ["x", "x"]
    assert entries(bundle) == [("o\x1fa\x1ftags", "append")]


def test_deleting_a_member_leaves_the_others() -> None:
    def change(s: Any) -> None:
        del s.o.a.b
        del s.o["n"]

    state, bundle = changed(change, o=OBJECT)

    assert state["o"] == {"a": {"tags": ["x"]}}
    assert entries(bundle) == [("o\x1fa\x1fb", "delete"), ("o\x1fn", "delete")]


LIST_CHANGES: dict[str, Callable[[Any], object]] = {
    "append": lambda items: items.append(9),
    "extend": lambda items: items.extend([8, 9]),
    "insert": lambda items: items.insert(1, 9),
    "set": lambda items: items.__setitem__(0, 9),
    "set slice": lambda items: items.__setitem__(slice(0, 2), [7]),
    "delete": lambda items: items.__delitem__(0),
    "pop": lambda items: items.pop(),
    "remove": lambda items: items.remove(1),
    "sort": lambda items: items.sort(),
    "reverse": lambda items: items.reverse(),
    "clear": lambda items: items.clear(),
    "add in place": lambda items: items.__iadd__([5]),
}


@pytest.mark.parametrize("name", LIST_CHANGES)
@pytest.mark.parametrize("place", ["root", "nested", "in a list"])
def test_list_changes_are_those_of_a_list(name: str, place: str) -> None:
    expected = [3, 1, 2]
    LIST_CHANGES[name](expected)
    values: dict[str, Any] = {"l": [3, 1, 2], "o": {"l": [3, 1, 2]}, "ll": [0, [3, 1, 2]]}

    def change(s: Any) -> None:
        items = {"root": lambda: s.l, "nested": lambda: s.o.l, "in a list": lambda: s.ll[1]}[place]()
        LIST_CHANGES[name](items)
        assert items == expected

    state, _ = changed(change, **values)

    assert {"root": state["l"], "nested": state["o"]["l"], "in a list": state["ll"][1]}[place] == expected


def test_a_list_that_grows_is_logged_as_an_append_and_copied_never() -> None:
    def change(s: Any) -> None:
        before = s.l.raw
        s.l.append(3)
        s.l.extend([4])
        assert s.l.raw.buf is before.buf

    _, bundle = changed(change, l=[1, 2])

    assert entries(bundle) == [("l", "append")]
    assert bundle["overwrite"] == {"l": [3, 4]}


def test_a_member_of_an_element_stages_the_list() -> None:
    def change(s: Any) -> None:
        s.lines[1].price = 5
        del s.lines[0]["note"]

    state, bundle = changed(change, lines=[{"note": "n", "price": 1}, {"price": 2}])

    assert state["lines"] == [{"price": 1}, {"price": 5}]
    assert entries(bundle) == [("lines", "set")]


def test_mappings_methods_work() -> None:
    def change(s: Any) -> None:
        assert s.o.pop("n") == 1
        s.o.update({"m": 1})
        assert s.o.setdefault("k", 4) == 4
        assert dict(s.o.a) == {"b": 1, "tags": ["x"]}
        assert list(s.o) == ["a", "m", "k"]
        assert ("m" in s.o, "n" in s.o, len(s.o)) == (True, False, 3)
        with pytest.raises(KeyError):
            s.o["n"]
        with pytest.raises(AttributeError):
            _ = s.o.n

    state, _ = changed(change, o=OBJECT)

    assert state["o"] == {"a": {"b": 1, "tags": ["x"]}, "m": 1, "k": 4}


def test_reading_below_a_key_records_the_key_once_for_each_time_it_is_fetched() -> None:
    def stage(s: Any) -> None:
        assert isinstance(s.o, DictView)
        order = s.o
        _ = (order.a.b, order["n"], list(order.items()), repr(order), order == OBJECT)

    run = FlowRun(Chart.of("Views", Stage(stage)).build(), dials=Dials(), initial_state={"o": OBJECT})
    asyncio.run(run.start())

    execution = run.journal.executions()[0]
    assert execution.reads == ("o",)
    assert execution.untracked == ()


def test_views_compare_print_and_iterate_like_what_they_show() -> None:
    def look(s: Any) -> None:
        assert s.o == OBJECT
        assert s.l == [1, {"k": 2}]
        assert isinstance(s.l, ListView)
        assert repr(s.l) == "[1, {'k': 2}]"
        assert [type(item).__name__ for item in s.l] == ["int", "DictView"]
        assert s.l[-1].k == 2
        assert s.l[:1] == [1]
        assert s.l is s.l

    changed(look, o=OBJECT, l=[1, {"k": 2}])


def test_an_unchanged_list_is_no_change() -> None:
    def change(s: Any) -> None:
        s.l.append(3)
        s.l.pop()

    _, bundle = changed(change, l=[1])

    assert bundle["trace"] == []


def test_a_member_with_the_name_of_a_method_is_reached_by_item() -> None:
    def change(s: Any) -> None:
        s.o["items"] = 1
        assert s.o["items"] == 1
        assert list(s.o.items())
        with pytest.raises(AttributeError, match=r"'items' is a method of every object.*\['items'\]"):
            s.o.items = 2
        with pytest.raises(AttributeError, match=r"'items' is a method"):
            del s.o.items

    state, _ = changed(change, o=OBJECT)

    assert state["o"]["items"] == 1


def test_an_index_before_the_beginning_of_a_list_is_no_element() -> None:
    def look(s: Any) -> None:
        assert s.l[-3] == 1
        for index in (-4, -5, 3):
            with pytest.raises(IndexError):
                _ = s.l[index]

    changed(look, l=[1, 2, 3])


@pytest.mark.parametrize("values", ["full", "delta"])
def test_what_a_stage_merged_and_took_back_does_not_come_back_with_the_commit(values: Any) -> None:
    def change(s: Any) -> None:
        s.o["x"] = 1
        s.o["l"] = [1, 2]
        s.o.l.pop()
        del s.o["x"]
        s.o["y"] = 2

    stage = Stage(change, id="s")
    executor = Chart.of("Views", stage).build().executor(commit_values=values, initial_state={"o": {"k": 1}})

    assert thaw(executor.run_sync().state["o"]) == {"k": 1, "l": [1], "y": 2}


names = st.sampled_from(["a", "b", "c"])
small = st.integers(0, 3)
values = st.one_of(small, st.lists(small, max_size=3), st.dictionaries(names, small))
changes = st.one_of(
    st.tuples(st.sampled_from(["set", "inner", "append"]), names, small),
    st.tuples(st.sampled_from(["del", "undo", "pop"]), names, st.none()),
)
"""Nothing sets a list or an object in place of something else: what was merged before meets it again (FLOW-MEM-24)."""


def change_once(o: Any, what: str, name: str, value: Any) -> None:
    """One change of an object, where it can be made."""
    member = o.get(name)
    if what == "set":
        o[name] = value
    elif what == "inner" and isinstance(member, DictView):
        member["a"] = value
    elif what == "undo" and isinstance(member, DictView):
        member.pop("a", None)
    elif what == "del":
        o.pop(name, None)
    elif what == "append" and isinstance(member, ListView):
        member.append(value)
    elif what == "pop" and isinstance(member, ListView) and len(member):
        member.pop()


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(names, values), st.lists(changes, max_size=8), st.sampled_from(["full", "delta"]))
def test_what_a_stage_saw_last_is_what_was_committed(
    first: dict[str, Any], every: list[tuple[str, str, Any]], mode: Any
) -> None:
    seen: list[Any] = []

    def change(s: Any) -> None:
        for one in every:
            change_once(s.o, *one)
        seen.append(thaw(s.o.raw))

    flow = Chart.of("Views", Stage(change, id="s")).build()

    result = flow.executor(commit_values=mode, initial_state={"o": first}).run_sync()

    assert thaw(result.state["o"]) == seen[0]


def test_views_are_joined_with_what_they_stand_for() -> None:
    def look(s: Any) -> None:
        more = [3]
        assert s.l + more == [1, 2, 3]
        assert more + s.l == [3, 1, 2]
        assert s.o | {"b": 3} == {"a": 1, "b": 3}
        assert {"a": 0, "c": 4} | s.o == {"a": 1, "b": 2, "c": 4}
        assert (s.l, s.o) == ([1, 2], {"a": 1, "b": 2})

    state, bundle = changed(look, l=[1, 2], o={"a": 1, "b": 2})

    assert (state, bundle["trace"]) == ({"l": [1, 2], "o": {"a": 1, "b": 2}}, [])
