"""Tests of agentfootprint.flow.stage.noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agentfootprint.flow import Chart, FlowResult, Stage, Subflow
from agentfootprint.trace import MappedRow, SeededRow
from tests.flow.lambdas import one, two


def ran(input: Callable[..., Any], output: Callable[..., Any]) -> FlowResult:
    inner = Chart.of("Inner", Stage(one(lambda s: s.__setitem__("r", 1)), id="work"))
    start = Stage(one(lambda s: [s.__setitem__(key, key) for key in "abc"] and None), id="start")
    return asyncio.run(Chart.of("Test", start, Subflow(inner, id="sf", input=input, output=output)).build().run())


def noticed(result: FlowResult) -> tuple[Any, Any, Any]:
    seeded = next(row for row in result.journal.rows if isinstance(row, SeededRow))
    mapped = next(row for row in result.journal.rows if isinstance(row, MappedRow))
    return seeded.reads, mapped.reads, mapped.outer_reads


@pytest.mark.parametrize(
    ("look", "keys"),
    [
        (one(lambda state: state["b"]), ("b",)),
        (one(lambda state: state.get("b")), ("b",)),
        (one(lambda state: "b" in state and 1), ("b",)),
        (len, ()),
        (dict, ("a", "b", "c")),
        (one(lambda state: list(state.values())), ("a", "b", "c")),
    ],
)
def test_the_keys_that_a_map_looks_at_are_on_record(look: Callable[[Mapping[str, Any]], Any], keys: Any) -> None:
    result = ran(
        one(lambda parent: {"given": look(parent)}), two(lambda state, parent: {"out": look(parent) and state["r"]})
    )

    seeded, mapped, outer = noticed(result)

    assert seeded == keys
    assert mapped == ("r",)
    assert outer == keys


def test_a_parent_state_that_is_handed_on_whole_is_recorded_as_it_is() -> None:
    result = ran(one(lambda parent: parent), two(lambda state, parent: state))

    assert noticed(result) == (("a", "b", "c"), ("a", "b", "c", "r"), ())
    assert result.state["r"] == 1


def test_a_map_can_not_change_the_state_it_is_shown() -> None:
    def meddle(parent: Any) -> Any:
        parent["a"] = "changed"

    with pytest.raises(Exception, match="it raised TypeError"):
        ran(meddle, two(lambda state, parent: None))


def test_the_tree_tells_what_maps_looked_at() -> None:
    result = ran(one(lambda parent: {"x": parent["a"]}), two(lambda state, parent: {"out": (state["r"], parent["c"])}))

    mount = result.snapshot().to_wire()["executionTree"]["next"]

    assert (mount["mapReads"], mount["mapOutReads"], mount["mapParentReads"]) == (["a"], ["r"], ["c"])
