"""Stages, charts and observers that the tests of bad input share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentfootprint.flow import Chart, Executor, FlowResult, Part, Recorder, Stage, State

__all__ = ["Broken", "nothing", "result_of", "stage", "with_ctx"]


def stage(function: Callable[..., Any], id: str = "s", **more: Any) -> Stage:
    return Stage(function, id=id, **more)


def with_ctx(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of two arguments, typed."""
    return function


def nothing(s: State) -> None:
    """The body of a stage that does nothing."""


def result_of(*parts: Part, input: Any = None, env: Any = None, **options: Any) -> FlowResult:
    """Build a chart of these parts and run it."""
    return Executor(Chart.of("Bad", *parts).build(), **options).run_sync(input, env=env)


class Broken(Recorder):
    """Raises in everything it is asked."""

    def raises(self, event: object = None) -> Any:
        raise RuntimeError(type(self).__name__)

    on_run_start = on_run_end = on_run_failed = on_stage_start = on_read = on_write = on_emit = on_stage_end = raises
    on_commit = on_stage_executed = on_next = on_decision = on_selected = on_fork = on_subflow_entry = raises
    on_subflow_exit = on_loop = on_break = on_error = on_pause = on_resume = raises
    on_stage_retry = on_subflow_registered = clear = to_snapshot = raises
