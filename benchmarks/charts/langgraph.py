"""The charts on LangGraph's `StateGraph`, run with `ainvoke`; saved: `InMemorySaver` with the default durability."""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from benchmarks.charts.shapes import MARKS

Run = Callable[[], Awaitable[Any]]


class Count(TypedDict):
    """What the charts work on."""

    n: int
    items: Annotated[list[int], operator.add]


async def _add(state: Count) -> dict[str, Any]:
    return {"n": state["n"] + 1}


async def _nothing(_: Count) -> dict[str, Any]:
    return {}


def _chain(size: int) -> StateGraph[Any]:
    builder = StateGraph(Count)
    names = [f"s{number}" for number in range(size)]
    for name in names:
        builder.add_node(name, _add)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder


def _loop(size: int) -> StateGraph[Any]:
    async def step(state: Count) -> dict[str, Any]:
        return {"n": state["n"] + 1, "items": [state["n"]]}

    def more(state: Count) -> str:
        MARKS.passed(state["n"])
        return "again" if state["n"] < size else END

    builder = StateGraph(Count)
    builder.add_node("step", step)
    builder.add_node("again", _nothing)
    builder.add_edge(START, "step")
    builder.add_conditional_edges("step", more)
    builder.add_edge("again", "step")
    return builder


def _ran(builder: StateGraph[Any], steps: int, *, saved: bool) -> Run:
    saver = InMemorySaver() if saved else None
    graph = builder.compile(checkpointer=saver)
    config: Any = {"recursion_limit": steps + 10, "configurable": {"thread_id": "run"}}

    async def run() -> object:
        return saver, await graph.ainvoke({"n": 0, "items": []}, config)

    return run


def chain(size: int, *, saved: bool = False) -> Run:
    """The line of stages."""
    return _ran(_chain(size), size, saved=saved)


def loop(size: int, *, saved: bool = False) -> Run:
    """The loop with a growing list."""
    return _ran(_loop(size), 2 * size, saved=saved)
