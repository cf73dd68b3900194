"""Who is told how a chart is built, before any run of it (3.4).

A recorder that raises never breaks a build; what it raised is kept.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from agentfootprint.flow.errors import AsyncHookError
from agentfootprint.flow.out.items import (
    Addition,
    DeciderCompleted,
    EdgeAdded,
    LoopEdgeAdded,
    StageAdded,
    SubflowMounted,
)
from agentfootprint.flow.parts import Decider, Part
from agentfootprint.flow.watch.recorder import id_of

__all__ = ["StructureError", "StructureRecorder", "check_hooks", "default_of", "tell_structure"]

_HOOKS: Final[dict[type[Any], str]] = {
    StageAdded: "on_stage_added",
    EdgeAdded: "on_edge_added",
    LoopEdgeAdded: "on_loop_edge_added",
    DeciderCompleted: "on_decider_complete",
    SubflowMounted: "on_subflow_mounted",
}


class StructureRecorder:
    """Base of observers of building; any object with an `id` and some of these hooks will do.

    Args:
        id: Names it in messages; a second one with the same id replaces the first.
    """

    def __init__(self, id: str) -> None:
        self.id = id

    def on_stage_added(self, event: StageAdded) -> None:
        """A node is in the chart."""

    def on_edge_added(self, event: EdgeAdded) -> None:
        """Control may go from one node to another."""

    def on_loop_edge_added(self, event: LoopEdgeAdded) -> None:
        """Control goes back to an earlier node."""

    def on_decider_complete(self, event: DeciderCompleted) -> None:
        """A decider or selector has all its branches."""

    def on_subflow_mounted(self, event: SubflowMounted) -> None:
        """A chart stands in the chart; its stages are not told one by one."""


@dataclass(frozen=True, slots=True)
class StructureError:
    """What a structure recorder raised while a chart was built."""

    recorder_id: str
    hook: str
    error: Exception


def check_hooks(recorder: object) -> None:
    """Refuse hooks that nobody would await (FLOW-REC-7).

    Raises:
        AsyncHookError: A hook is a coroutine function.
    """
    for hook in _HOOKS.values():
        if inspect.iscoroutinefunction(getattr(recorder, hook, None)):
            raise AsyncHookError(id_of(recorder), hook)


def default_of(part: Part | None) -> str | None:
    """The id of a decider's branch that runs when no other does."""
    if not isinstance(part, Decider):
        return None
    return part.default_node if part.default is None else part.default


def tell_structure(
    recorders: Iterable[object], events: Iterable[Addition], default_of: Callable[[str], str | None]
) -> list[StructureError]:
    """Tell recorders, each in turn, how a chart is built.

    Args:
        recorders: Who is told, in this order.
        events: What is in the chart, in order.
        default_of: The id of a decider's default branch, if it has one.

    Returns:
        What they raised.
    """
    listeners = list(recorders)
    errors: list[StructureError] = []
    for event in events:
        told = event
        if isinstance(event, DeciderCompleted):
            told = replace(event, default_branch=default_of(event.decider))
        hook = _HOOKS[type(event)]
        for recorder in listeners:
            listen = getattr(recorder, hook, None)
            if listen is None:
                continue
            try:
                listen(told)
            except Exception as error:  # noqa: BLE001  the observer's bug, not the chart's
                errors.append(StructureError(id_of(recorder), hook, error))
    return errors
