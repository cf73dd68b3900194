"""Tests of agentfootprint.flow.stage.state."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from agentfootprint.flow import (
    AbsentKeyError,
    Chart,
    ChartBuildError,
    FlowRun,
    ReadonlyInputError,
    Stage,
    State,
    StateValueError,
)
from agentfootprint.trace import Dials, thaw


class Order(State):
    total: int
    status: str = "new"
    lines: list[dict[str, Any]]


def seen_by(*stages: Callable[..., Any], state: type[State] = Order, **options: Any) -> FlowRun:
    """Run functions as stages, one after the other."""
    parts = [Stage(function, id=f"s{n}") for n, function in enumerate(stages)]
    run = FlowRun(Chart.of("Seen", *parts, state=state).build(), dials=Dials(), **options)
    asyncio.run(run.start(options.pop("args", None)))
    return run


def reads_of(run: FlowRun, index: int = 0) -> tuple[str, ...]:
    return run.journal.executions()[index].reads


def test_attributes_and_items_are_the_same() -> None:
    def stage(s: Order) -> None:
        s.total = 1
        s["status"] = "open"
        assert (s["total"], s.status, s.total) == (1, "open", 1)
        del s.total
        assert "total" not in s

    run = seen_by(stage)

    assert thaw(run.state) == {"status": "open"}


def test_keys_that_are_not_declared_work_too() -> None:
    def stage(s: Any) -> None:
        s.anything = [1]
        assert s.anything == [1]

    assert thaw(seen_by(stage).state) == {"anything": [1]}


def test_a_declared_default_is_read_but_not_held() -> None:
    def stage(s: Order) -> None:
        assert s.status == "new"

    run = seen_by(stage)

    assert thaw(run.state) == {}
    assert reads_of(run) == ("status",)


def test_an_absent_key_raises_what_attributes_and_what_items_raise() -> None:
    def stage(s: Any) -> None:
        with pytest.raises(AttributeError):
            _ = s.missing
        with pytest.raises(KeyError):
            _ = s["missing"]
        with pytest.raises(AbsentKeyError, match=r"'missing'"):
            _ = s.missing
        assert getattr(s, "missing", "default") == "default"
        assert not hasattr(s, "missing")

    assert reads_of(seen_by(stage)) == ("missing",)


def test_looking_at_the_state_object_records_nothing() -> None:
    def stage(s: Order) -> None:
        _ = (repr(s), s == s, hash(s), vars(s) if hasattr(s, "__dict__") else {}, copy.copy(s), copy.deepcopy(s))  # noqa: PLR0124
        with pytest.raises(TypeError, match=r"can't be pickled"):
            pickle.dumps(s)
        assert not hasattr(s, "_repr_html_")

    assert reads_of(seen_by(stage, initial_state={"total": 1})) == ()


def test_the_input_is_read_only_through_the_state_too() -> None:
    def stage(s: Any) -> None:
        with pytest.raises(ReadonlyInputError):
            s.q = 2
        with pytest.raises(ReadonlyInputError):
            del s.q

    run = FlowRun(Chart.of("Input", Stage(stage)).build())
    asyncio.run(run.start({"q": 1}))


def test_a_value_that_cannot_be_recorded_is_refused() -> None:
    def stage(s: Any) -> None:
        with pytest.raises(StateValueError, match=r"'k'.*at \[0\]"):
            s.k = [object()]

    seen_by(stage)


def test_a_stage_sees_its_own_writes_and_the_next_one_the_commit() -> None:
    def first(s: Order) -> None:
        s.total = 1
        s.total = s.total + 1

    def second(s: Order) -> None:
        assert s.total == 2

    seen_by(first, second)


def test_a_whole_value_is_passed_on_by_reference() -> None:
    def first(s: Any) -> None:
        s.big = list(range(100))

    def second(s: Any) -> None:
        s.again = s.big

    run = seen_by(first, second)

    assert run.state["again"] is run.state["big"]


def test_declared_fields_of_a_parent_class_are_there() -> None:
    class Special(Order):
        extra: int = 7

    def stage(s: Special) -> None:
        assert (s.status, s.extra) == ("new", 7)

    seen_by(stage, state=Special)


def test_a_method_of_the_subclass_is_no_key_by_attribute_and_one_by_item() -> None:
    class Basket(State):
        kind: ClassVar[str] = "paper"
        lines: list[int]

        def total(self) -> int:
            return sum(self.lines)

    def stage(s: Basket) -> None:
        s.lines = [1, 2]
        s["total"] = 5
        assert (s.total(), s["total"], s.kind) == (3, 5, "paper")
        for name in ("total", "kind", "_own", "__class__"):
            with pytest.raises(AttributeError, match=rf"'{name}' is an attribute of Basket itself.*s\['{name}'\]"):
                setattr(s, name, 1)
            with pytest.raises(AttributeError, match=rf"'{name}'"):
                delattr(s, name)

    assert seen_by(stage, state=Basket).state["total"] == 5


def test_a_declared_field_wins_over_what_the_parent_has_under_its_name() -> None:
    class Report(State):
        def title(self) -> str:
            return "a method"

    class Titled(Report):
        title: str  # type: ignore[assignment]  the field is to win

    def stage(s: Titled) -> None:
        s.title = "a key"
        assert s.title == "a key"

    assert seen_by(stage, state=Titled).state["title"] == "a key"


def test_a_field_that_is_a_method_of_the_same_class_is_refused() -> None:
    with pytest.raises(ChartBuildError, match=r"The field 'total' of Basket is a method of it too"):

        class Basket(State):  # pyright: ignore[reportUnusedClass]
            total: int  # pyright: ignore[reportRedeclaration]  that is the point

            def total(self) -> int:
                return 1


class Diary(State):
    lines: list[str] = []  # noqa: RUF012  a default of the state, which nobody can change
    owner: dict[str, Any] = {"name": "Dana", "pets": ["Rex"]}  # noqa: RUF012  as above


def test_a_change_of_a_default_is_staged_with_the_default_and_changes_no_other_run() -> None:
    def stage(s: Diary) -> None:
        lines = s.lines
        lines.append("a")
        lines.append("b")
        s.owner["name"] = "Kim"
        s.owner["pets"].append("Tom")
        del s.owner["name"]

    runs = [seen_by(stage, state=Diary) for _ in range(2)]

    for run in runs:
        assert thaw(run.state) == {"lines": ["a", "b"], "owner": {"pets": ["Rex", "Tom"]}}


def test_looking_at_a_default_leaves_the_state_as_it_was() -> None:
    def stage(s: Diary) -> None:
        assert (s.lines, s.owner["name"], s.owner["pets"][0]) == ([], "Dana", "Rex")
        assert "lines" not in s

    assert thaw(seen_by(stage, state=Diary).state) == {}


def test_a_default_that_the_state_could_not_hold_is_refused_with_its_field() -> None:
    with pytest.raises(ChartBuildError, match=r"'tags' of Tagged can't be recorded"):

        class Tagged(State):  # pyright: ignore[reportUnusedClass]  refused while it is made
            tags: list[Any] = [object()]  # noqa: RUF012  as above


@pytest.mark.parametrize("values", ["full", "delta"])
def test_a_change_in_place_is_one_write(values: Any) -> None:
    def stage(s: Any) -> None:
        s.l += [2]
        s["o"] |= {"b": 2}
        s.same = s.l

    executor = (
        Chart.of("Places", Stage(stage)).build().executor(commit_values=values, initial_state={"l": [1], "o": {"a": 1}})
    )

    result = executor.run_sync()

    assert thaw(result.state) == {"l": [1, 2], "o": {"a": 1, "b": 2}, "same": [1, 2]}
    (bundle,) = result.snapshot().commit_log
    assert [entry.path for entry in bundle.trace] == ["l", "o", "same"]
