"""Values that JSON can't hold: refused where they enter, with the way to what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    CheckpointError,
    InputValidationError,
    Pausable,
    StageContext,
    State,
    StateValueError,
    Subflow,
    SubflowMappingError,
)
from agentfootprint.trace import thaw
from tests.flow.bad_input.pieces import nothing, result_of, stage, with_ctx

BAD: Any = {"a": [{"b": {1, 2}}]}
WHERE = r"set can't be recorded \(at a\[0\]\.b\)"


def write(s: Any, ctx: StageContext) -> None:
    s.k = BAD


def write_member(s: Any, ctx: StageContext) -> None:
    s["k"] = {}
    s.k.below = BAD


def append_below(s: Any, ctx: StageContext) -> None:
    s["k"] = {"below": []}
    s.k.below.append(BAD)


def write_item(s: Any, ctx: StageContext) -> None:
    s.k = [0]
    s.k[0] = BAD


@pytest.mark.parametrize(
    ("function", "key"),
    [
        (write, "k"),
        (write_member, r"k\.below"),
        (append_below, r"k\.below"),
        (write_item, "k"),
        (with_ctx(lambda s, ctx: ctx.set("k", BAD)), "k"),
        (with_ctx(lambda s, ctx: ctx.update("k", BAD)), "k"),
        (with_ctx(lambda s, ctx: ctx.emit("k", BAD)), "k"),
    ],
    ids=["write", "member", "append below", "item", "ctx.set", "ctx.update", "emit"],
)
def test_a_value_that_json_cannot_hold_is_refused_with_its_stage_key_and_place(
    function: Callable[..., Any], key: str
) -> None:
    with pytest.raises(StateValueError, match=rf"Stage 's' gave '{key}' a value.*{WHERE}"):
        result_of(stage(function))


@pytest.mark.parametrize("what", ["input", "environment", "initial state", "default state"])
def test_a_run_that_is_given_such_a_value_says_which_of_its_inputs_it_was(what: str) -> None:
    given = {"input": "input", "environment": "env"}.get(what, what.replace(" ", "_"))

    with pytest.raises(InputValidationError, match=rf"The run's {what} can't be recorded: A value of type {WHERE}"):
        result_of(stage(nothing), **{given: BAD})


@pytest.mark.parametrize("side", ["input", "output"])
def test_a_map_that_gives_such_a_value_is_named_by_its_mount_and_side(side: str) -> None:
    def given(*states: Any) -> Any:
        return BAD

    options: Any = {side: given}
    with pytest.raises(SubflowMappingError, match=rf"The {side} map of the mount 'm' failed.*{WHERE}"):
        result_of(Subflow(Chart.of("Inner", stage(nothing)), id="m", **options))


def asks_badly(s: Any) -> Any:
    return BAD


def test_a_pause_with_such_a_value_is_refused_with_its_stage_and_place() -> None:
    for part in (
        Pausable(asks_badly, with_ctx(lambda s, answer: None), id="s"),
        stage(with_ctx(lambda s, ctx: ctx.interrupt({"why": BAD}))),
    ):
        with pytest.raises(CheckpointError, match=r"Stage 's' paused with data.*type set.*a\[0\]\.b") as refused:
            result_of(part)
        assert refused.value.field == "pauseData"


def circle() -> Any:
    round_about: list[Any] = []
    round_about.append(round_about)
    return round_about


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "not finite"),
        (float("-inf"), "not finite"),
        ("half \ud800", "lone surrogate"),
        ({"\udfff": 1}, "lone surrogate"),
        ({1: 2}, "key of type int"),
        ({1, 2}, "type set"),
        (frozenset("ab"), "type frozenset"),
        (circle(), "contains itself"),
        (object(), "type object"),
        (nothing, "type function"),
        (iter([1]), "type list_iterator"),
        (1j, "type complex"),
        (ValueError("no"), "type ValueError"),
        (State, "type type"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("raw", [False, True])
def test_what_is_no_json_is_refused_and_the_stage_may_go_on(value: Any, said: str, raw: bool) -> None:
    def tries(s: Any) -> None:
        s["before"] = 1
        with pytest.raises(StateValueError, match=said):
            s["k"] = {"deep": [value]}
        s["after"] = 2

    result = result_of(stage(tries, raw=raw))

    assert thaw(result.state) == {"before": 1, "after": 2}


def test_a_diagnostic_that_json_cannot_hold_is_named_by_its_type_and_fails_nothing() -> None:
    def logs(s: Any, ctx: StageContext) -> None:
        ctx.log(object())
        ctx.debug("k", BAD)
        ctx.metric("m", float("nan"))

    tree = result_of(stage(logs)).snapshot().to_wire()["executionTree"]

    assert tree["logs"] == {"messages": ["[non-serializable: object]"], "k": "[non-serializable: dict]"}
    assert tree["metrics"] == {"m": "[non-serializable: float]"}
