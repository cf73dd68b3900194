"""Which steps does a client see, and when does each end?

Invariants (AGU-20, AGU-22): names are unique while active; an end closes the latest open step of its key, and one
without a start is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import UNSET

from agentfootprint.agui.mapping.moments import Moment, clean, label, told
from agentfootprint.agui.mapping.protocol import core

__all__ = ["Steps"]

_Key: TypeAlias = tuple[str, ...]


class Steps:
    """The steps of one run."""

    def __init__(self) -> None:
        self._active: dict[str, _Key] = {}
        """By name, in the order of starting."""
        self._open: dict[_Key, list[str]] = {}

    def iteration_start(self, moment: Moment) -> list[core.Event]:
        """An agent begins an iteration."""
        number = _part(moment.payload, "iter_index")
        name = f"iteration {number}"
        return self._start(("iteration", moment.scope, number), f"{moment.scope} {name}".lstrip(), moment)

    def iteration_end(self, moment: Moment) -> list[core.Event]:
        """An agent ends an iteration, perhaps one that began before a pause."""
        return self._finish(("iteration", moment.scope, _part(moment.payload, "iter_index")), moment)

    def enter(self, moment: Moment) -> list[core.Event]:
        """A composition begins."""
        kind, name = _part(moment.payload, "kind"), _part(moment.payload, "id")
        return self._start(("composition", name), f"{kind}:{name}", moment)

    def exit(self, moment: Moment) -> list[core.Event]:
        """A composition ends."""
        return self._finish(("composition", _part(moment.payload, "id")), moment)

    def pass_start(self, moment: Moment) -> list[core.Event]:
        """A loop begins a pass."""
        loop, number = _part(moment.payload, "loop_id"), _part(moment.payload, "iteration")
        return self._start(("pass", loop, number), f"Loop:{loop}#{number}", moment)

    def pass_end(self, moment: Moment) -> list[core.Event]:
        """A loop ends a pass."""
        loop, number = _part(moment.payload, "loop_id"), _part(moment.payload, "iteration")
        return self._finish(("pass", loop, number), moment)

    def close_all(self, stamp: Mapping[str, Any]) -> list[core.Event]:
        """What is open ends, innermost first."""
        names = list(reversed(self._active))
        self._active, self._open = {}, {}
        return [core.StepFinishedEvent(step_name=name, **stamp) for name in names]

    def _start(self, key: _Key, wanted: str, moment: Moment) -> list[core.Event]:
        name, twin = wanted, 1
        while name in self._active:
            twin += 1
            name = f"{wanted}~{twin}"
        self._active[name] = key
        self._open.setdefault(key, []).append(name)
        return [core.StepStartedEvent(step_name=name, **moment.stamp)]

    def _finish(self, key: _Key, moment: Moment) -> list[core.Event]:
        names = self._open.get(key)
        if not names:
            return []
        name = names.pop()
        if not names:
            del self._open[key]
        del self._active[name]
        return [core.StepFinishedEvent(step_name=name, **moment.stamp)]


def _part(payload: object, name: str) -> str:
    """What names a step: a text or a number, or the placeholder that hides it."""
    found = told(payload, name)
    if found is UNSET or found is None:
        return label(payload, name) or "?"
    return clean(str(found))
