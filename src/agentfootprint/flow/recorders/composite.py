"""Several recorders attached as one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from agentfootprint.flow.errors import AsyncHookError
from agentfootprint.flow.watch.recorder import Hook, Recorder, hooks_of, id_of
from agentfootprint.flow.watch.sightings import Sighting

__all__ = ["CompositeRecorder"]

R = TypeVar("R")


class CompositeRecorder(Recorder):
    """Hands every event to its children, in order (6.2). It has the hooks that a child has, so others cost nothing.

    Args:
        id: Its own id; the children's are not looked at when it is attached.
        children: The recorders.

    Raises:
        AsyncHookError: A child has a hook that is a coroutine function.
    """

    label = "composite"

    def __init__(self, id: str | None, children: Sequence[object]) -> None:
        super().__init__(id)
        self.children = tuple(children)
        hooks: dict[str, list[Hook]] = {}
        for child in self.children:
            for name, hook in hooks_of(child):
                if inspect.iscoroutinefunction(hook):
                    raise AsyncHookError(id_of(child), name)
                hooks.setdefault(name, []).append(hook)
        for name, each in hooks.items():
            setattr(self, name, _fan(each))

    def get(self, kind: type[R]) -> R | None:
        """The first child of a type."""
        return next((child for child in self.children if isinstance(child, kind)), None)

    def clear(self) -> None:
        """A new run begins, for the children too."""
        for child in self.children:
            clear = getattr(child, "clear", None)
            if callable(clear):
                clear()

    def to_snapshot(self) -> dict[str, Any]:
        """What the children have to show."""
        shown: list[dict[str, Any]] = []
        for child in self.children:
            ask = getattr(child, "to_snapshot", None)
            if callable(ask):
                told: Any = ask()
                shown.append({"id": id_of(child), "name": told.get("name"), "data": told.get("data")})
        return {"name": "Composite", "data": {"children": shown}}


def _fan(hooks: Sequence[Hook]) -> Callable[[Sighting], None]:
    """One hook for several: all are told, then the first failure is raised for whoever counts it."""

    def hook(event: Sighting) -> None:
        failure: Exception | None = None
        for each in hooks:
            try:
                each(event)
            except Exception as raised:  # noqa: BLE001  one child's bug is not the others'
                failure = failure or raised
        if failure is not None:
            raise failure

    return hook
