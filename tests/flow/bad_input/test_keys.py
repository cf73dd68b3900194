"""Keys of the state: any text is one, also the name of a method, and an attribute never hides one silently."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    ChartBuildError,
    StageContext,
    State,
    StateValueError,
    Subflow,
    SubflowMappingError,
)
from agentfootprint.trace import ABSENT, materialise, thaw
from tests.flow.bad_input.pieces import nothing, result_of, stage
from tests.flow.charts import Listener

METHODS = ("items", "keys", "values", "get", "update", "pop", "clear", "append", "copy", "raw", "read", "emit", "args")


@pytest.mark.parametrize("key", [1, None, ("a", "b"), b"k", "a\x1fb", "\ud800"])
def test_what_cannot_be_a_key_is_refused(key: Any) -> None:
    def tries(s: Any) -> None:
        with pytest.raises(StateValueError, match=r"Stage 's' gave .* its key"):
            s[key] = 1

    assert not result_of(stage(tries)).state


@pytest.mark.parametrize("key", [*METHODS, "", "a.b", "runs", "self", "é", "_private", "__class__", "__proto"])
def test_any_text_is_a_key_also_the_name_of_a_method(key: str) -> None:
    def writes(s: Any, ctx: StageContext) -> None:
        s[key] = {"n": 1, key: [1]}
        s[key][key].append(2)
        assert key in s

    def reads(s: Any, ctx: StageContext) -> None:
        assert s[key] == ctx.get(key) == ctx.peek(key) == {"n": 1, key: [1, 2]}
        assert ctx.keys() == [key]

    result = result_of(stage(writes), stage(reads, "reads"))

    log = result.snapshot().to_wire()["commitLog"]
    assert materialise(log, len(log), {}) == thaw(result.state) == {key: {"n": 1, key: [1, 2]}}
    assert [bundle.trace[0].path for bundle in result.snapshot().commit_log[:1]] == [key]


@pytest.mark.parametrize("merge", ["concat", "replace", "replace-all"])
@pytest.mark.parametrize("before", [ABSENT, 5, [1, 2], {"x": [0]}, {"b\x1fz": 1}], ids=repr)
@pytest.mark.parametrize("dials", [{}, {"commit_values": "delta"}, {"write_provenance": "reads-prefix"}], ids=repr)
def test_an_object_with_odd_names_comes_out_of_a_mount_as_its_log_replays_it(
    merge: Any, before: Any, dials: dict[str, Any]
) -> None:
    def has(s: Any) -> None:
        if before is not ABSENT:
            s.o = before

    def gives(s: Any) -> None:
        s.v = {"a\x1fb": 1, "constructor": 2, "x": [1]}

    inner = Chart.of("Inner", stage(gives, "gives"))
    result = result_of(stage(has), Subflow(inner, id="m", output={"o": "v"}, array_merge=merge), **dials)

    log, state = result.snapshot().to_wire()["commitLog"], thaw(result.state)
    assert materialise(log, len(log), {}) == state
    assert state["o"]["a\x1fb"] == 1


@pytest.mark.parametrize("side", ["input", "output"])
def test_a_map_that_gives_what_cannot_be_a_key_is_refused(side: str) -> None:
    def mapped(*states: Any) -> Any:
        return {"a\x1fb": 1}

    options: Any = {side: mapped}
    with pytest.raises(SubflowMappingError, match=rf"The {side} map of the mount 'm'.*U\+001F"):
        result_of(Subflow(Chart.of("Inner", stage(nothing)), id="m", **options))


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize("key", [1, None, b"k", "a\x1fb", "a\ud800", "__proto__", "constructor", "prototype"])
def test_a_declared_map_with_what_cannot_be_a_key_is_refused_when_the_chart_is_built(side: str, key: Any) -> None:
    for spec in ({key: "x"}, ["x", key]):
        options: Any = {side: spec}
        with pytest.raises(ChartBuildError) as error:
            Chart.of("Outer", Subflow(Chart.of("Inner", stage(nothing)), id="m", **options)).build()

        assert f"The {side} map of the mount 'm' has the key {key!r}" in str(error.value)
        assert error.value.ids == ("m",)


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize("key", [1, "a\x1fb", "a\udfff"])
def test_a_declared_map_cannot_take_from_what_cannot_be_a_key(side: str, key: Any) -> None:
    options: Any = {side: {"x": key}}

    with pytest.raises(ChartBuildError, match=f"The {side} map of the mount 'm' has the key"):
        Chart.of("Outer", Subflow(Chart.of("Inner", stage(nothing)), id="m", **options)).build()


@pytest.mark.parametrize("spec", ["abc", b"abc", 7])
def test_a_map_that_is_a_text_or_a_number_is_refused(spec: Any) -> None:
    with pytest.raises(ChartBuildError, match=r"The input map of the mount 'm' is a (str|bytes|int)\."):
        Chart.of("Outer", Subflow(Chart.of("Inner", stage(nothing)), id="m", input=spec)).build()


def test_a_declared_map_may_take_from_an_inert_key_and_name_anything_else() -> None:
    inner = Chart.of("Inner", stage(nothing))

    result = result_of(Subflow(inner, id="m", input={"é.b": "__proto__", "😀": ""}, output=("runs",)))

    assert not result.state


@pytest.mark.parametrize("key", METHODS)
def test_an_attribute_is_the_key_where_the_state_has_no_method_of_that_name(key: str) -> None:
    def stage_of(s: Any) -> None:
        setattr(s, key, 1)
        assert getattr(s, key) == s[key] == 1
        delattr(s, key)
        assert key not in s

    assert not result_of(stage(stage_of)).state


@pytest.mark.parametrize("name", ["items", "keys", "get", "update", "pop", "raw", "_private"])
def test_an_attribute_that_a_view_has_itself_is_never_written_over(name: str) -> None:
    def tries(s: Any) -> None:
        s.o = {name: 1}
        with pytest.raises(AttributeError, match=name):
            setattr(s.o, name, 2)
        with pytest.raises(AttributeError, match=name):
            delattr(s.o, name)
        s.o[name] = 3

    assert thaw(result_of(stage(tries)).state) == {"o": {name: 3}}


def test_a_method_of_a_state_class_is_not_written_over_and_hides_no_key() -> None:
    class Order(State):
        total: int

        def doubled(self) -> int:
            return self.total * 2

    def tries(s: Any) -> None:
        s.total = 2
        s["doubled"] = "a key"
        with pytest.raises(AttributeError, match=r"s\['doubled'\]"):
            s.doubled = 1
        assert (Order.doubled(s), s["doubled"]) == (4, "a key")

    flow = Chart.of("Order", stage(tries), state=Order).build()

    assert thaw(flow.run_sync().state) == {"total": 2, "doubled": "a key"}


def test_looking_at_a_state_or_its_views_from_outside_records_no_read() -> None:
    def looks(s: Any, ctx: StageContext) -> None:
        _ = repr(s), str(s), s == s, s != 1, hash(s), copy.copy(s), copy.deepcopy(s), dir(s), bool(s)  # noqa: PLR0124
        with pytest.raises(TypeError):
            vars(s)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="can't be pickled"):
                pickle.dumps(s, protocol)
        for name in ("_repr_html_", "__wrapped__", "__rich__", "_ipython_display_", "__len__"):
            assert not hasattr(s, name)
        _ = repr(ctx), repr(ctx.args), copy.copy(ctx)

    result = result_of(stage(looks), input={"q": 1}, initial_state={"k": {"x": [1]}})

    assert result.journal.executions()[0].reads == ()


def test_a_view_that_is_copied_or_compared_reads_nothing_more_than_its_key() -> None:
    seen: list[Any] = []

    def looks(s: Any) -> None:
        view = s.o
        seen.extend([view == {"x": [1]}, repr(view), list(view), len(view), thaw(view.raw), view["x"] == [1]])

    listener = Listener()
    result = result_of(stage(looks), initial_state={"o": {"x": [1]}}, recorders=[listener])

    assert seen == [True, "{'x': [1]}", ["x"], 1, {"x": [1]}, True]
    assert result.journal.executions()[0].reads == ("o",)
    assert listener.hooks().count("on_read") == 1
