"""Small charts that several test modules of the engine use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from agentfootprint.flow import (
    Chart,
    Decider,
    FlowOutcome,
    FlowRun,
    Handle,
    Part,
    Pausable,
    Recorder,
    Selector,
    Sighting,
    Stage,
    State,
    Subflow,
)
from agentfootprint.trace import Dials, Journal

__all__ = ["Listener", "agent_shape", "always", "echoed", "log_of", "nothing", "ran", "raw", "steps_of", "taking"]


def nothing(h: Handle) -> None:
    """The body of a stage that does nothing."""


def always(value: Any) -> Callable[[Handle], Any]:
    """A function that returns the same each time."""

    def function(h: Handle) -> Any:
        return value

    return function


def raw(id: str, function: Callable[[Handle], Any] = nothing, **more: Any) -> Stage:
    return Stage(function, id=id, raw=True, **more)


def ran(*parts: Part, args: dict[str, Any] | None = None, **options: Any) -> tuple[FlowOutcome, FlowRun]:
    """Build a chart of these parts and run it."""
    run = FlowRun(Chart.of("Test", *parts).build(), **options)
    return asyncio.run(run.start(args)), run


def steps_of(journal: Journal) -> list[str]:
    """Runtime stage ids, in order."""
    return [step.runtime_stage_id for step in journal.executions().values()]


def log_of(run: FlowRun, **options: Any) -> list[dict[str, Any]]:
    from agentfootprint.trace import project_commit_log

    return [bundle.to_wire() for bundle in project_commit_log(run.journal, **options)]


def taking(key: str) -> Callable[[State], Any]:
    """A stage function that returns what a key holds."""

    def take(s: State) -> Any:
        return s[key]

    return take


def echoed(state: Any, answer: Any) -> Any:
    """The second half of a pausable stage that returns the answer."""
    return answer


class Listener(Recorder):
    """A recorder with every hook, that keeps what it was told."""

    def __init__(self) -> None:
        super().__init__("listener")
        self.seen: list[Sighting] = []

    def take(self, event: Sighting) -> None:
        self.seen.append(event)

    def hooks(self) -> list[str]:
        return [event.hook for event in self.seen]

    on_run_start = on_run_end = on_run_failed = on_stage_start = on_read = on_write = on_emit = on_stage_end = take
    on_commit = on_stage_executed = on_next = on_decision = on_selected = on_fork = on_subflow_entry = take
    on_subflow_exit = on_loop = on_break = on_error = on_pause = on_resume = take
    on_stage_retry = on_subflow_registered = take


FULL = Dials()


def agent_shape(iterations: int, *, pause_at: int = -1, call: Callable[[Handle], Any] = nothing) -> Chart:
    """The chart of a bare agent: its stages, its mounts, its branches (02 s.6.1)."""

    def seed(h: Handle) -> None:
        h.write({"history": ["hi"], "iteration": 1, "active": []})

    def route(h: Handle) -> str:
        return "tool-calls" if h["iteration"] <= iterations else "final"

    def batch(h: Handle) -> Any:
        if h["iteration"] == pause_at:
            h.append("history", ["asked"])
            return {"question": "may I?"}
        return after(h, None)

    def after(h: Handle, answer: Any) -> None:
        h.append("history", [f"call {h['iteration']}" if answer is None else answer])
        h["iteration"] += 1

    def activate(h: Handle) -> None:
        h["active"] = [f"piece {len(h['history'])}"]

    def finish(h: Handle) -> str:
        h.break_("answered")
        return f"answer after {len(h['history'])}"

    kept: dict[str, Any] = {"array_merge": "replace-all", "inputs": "mutable"}
    engine = Chart.of("Engine", raw("gather"), raw("evaluate", activate), raw("route"), raw("delta"))
    slot = Chart.of("Slot", raw("compose"))
    tools = Chart.of("Tools", raw("discover"), raw("compose"))
    gate = Decider(always("no-markers"), [raw("apply-markers"), raw("no-markers")], id="cache-gate", raw=True)
    cache = Chart.of("Cache", raw("decide-cache-markers"), gate)
    thinking = Chart.of("Thinking", raw("thinking-mock"))
    final = Chart.of("Final", raw("prepare-final"), raw("break-final", finish))
    slots = {"sf-system-prompt": slot, "sf-messages": slot, "sf-tools": tools}
    return Chart.of(
        "Agent",
        raw("seed", seed),
        Subflow(engine, id="sf-injection-engine", input=("history", "active"), output=("active",), **kept),
        Selector(
            always(tuple(slots)),
            [Subflow(chart, id=name, input=("history",), **kept) for name, chart in slots.items()],
            id="context",
            raw=True,
            fail_fast=True,
        ),
        Subflow(cache, id="sf-cache", input=("history",), output={"markers": "markers"}, **kept),
        raw("call-llm", call),
        Subflow(thinking, id="sf-thinking", **kept),
        Decider(
            route,
            [
                Pausable(batch, after, id="tool-calls", raw=True, loop_to="sf-injection-engine"),
                Subflow(final, id="final", input=("history",), propagate_break=True, **kept),
            ],
            id="sf-route",
            raw=True,
            default="final",
        ),
    )
