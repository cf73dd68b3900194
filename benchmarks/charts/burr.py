"""The charts on Burr's `Application`, run with `arun`; tracked: its `LocalTrackingClient`, writing to a folder."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Awaitable, Callable
from typing import Any

from burr.core import ApplicationBuilder, Condition, State, action, default, expr
from burr.tracking import LocalTrackingClient

from benchmarks.charts.shapes import MARKS

Run = Callable[[], Awaitable[Any]]


@action(reads=["n"], writes=["n"])
async def _add(state: State) -> State:
    return state.update(n=state["n"] + 1)


@action(reads=["n"], writes=["n", "items"])
async def _step(state: State) -> State:
    MARKS.passed(state["n"] + 1)
    return state.append(items=state["n"]).update(n=state["n"] + 1)


@action(reads=[], writes=[])
async def _nothing(state: State) -> State:
    return state


def _ran(names: dict[str, Any], edges: list[tuple[str, str, Condition]], first: str, last: str, *, saved: bool) -> Run:
    builder = (
        ApplicationBuilder()
        .with_actions(**names)
        .with_transitions(*edges)
        .with_state(n=0, items=[])
        .with_entrypoint(first)
    )
    if saved:
        builder = builder.with_tracker(LocalTrackingClient("bench", storage_dir=tempfile.mkdtemp()))
    application = builder.build()

    async def run() -> object:
        await application.arun(halt_after=[last], inputs={})
        return application

    return run


def chain(size: int, *, saved: bool = False) -> Run:
    """The line of stages."""
    names = [f"s{number}" for number in range(size)]
    edges = [(before, after, default) for before, after in itertools.pairwise(names)]
    return _ran(dict.fromkeys(names, _add), edges, names[0], names[-1], saved=saved)


def loop(size: int, *, saved: bool = False) -> Run:
    """The loop with a growing list."""
    actions = {"step": _step, "again": _nothing, "stop": _nothing}
    edges = [("step", "again", expr(f"n < {size}")), ("step", "stop", default), ("again", "step", default)]
    return _ran(actions, edges, "step", "stop", saved=saved)
