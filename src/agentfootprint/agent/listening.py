"""Who is told of the runs of an agent, a model call or a composition?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from agentfootprint import events
from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.events import Event, Subscription
    from agentfootprint.recording import Recording

__all__ = ["Listened"]


class Listened:
    """What has runs that others listen to."""

    def __init__(self) -> None:
        self.bus = events.EventBus()
        self.wire_bus = events.EventBus()
        self.run_watchers: list[Callable[[Recording], object]] = []
        """Called with the recording of each run that begins, before its first event."""
        self.recorders: tuple[object, ...] = ()
        """Who is told what the engine does, in the runs that begin from now on."""

    def on(
        self,
        pattern: str,
        listener: Callable[[Event[Any]], object],
        *,
        once: bool = False,
        form: Literal["native", "wire"] = "native",
    ) -> Subscription:
        """Listen to the events of all runs; of a composition, at any depth.

        Args:
            pattern: An event type, `agentfootprint.<domain>.*`, or `*`.
            listener: Called at once with each event; one that raises is counted and logged, and changes nothing.
            once: Only for the first event.
            form: `"native"`: what is new. `"wire"`: also what every iteration carries over (LIN-19).

        Returns:
            Close it, or use it as a context manager, to stop listening.

        Raises:
            ConfigError: The type is written as one of the library's, which has none of this name.
            EventPatternError: Nothing can match the pattern.
        """
        _check_event_type(pattern)
        return (self.bus if form == "native" else self.wire_bus).on(pattern, listener, once=once)


def _check_event_type(pattern: str) -> None:
    """Refuse an event type that is written as one of the library's and is none.

    Raises:
        ConfigError: Names the nearest.
    """
    if "*" in pattern or not pattern.startswith("agentfootprint.") or pattern in events.EVENT_TYPES:
        return
    import difflib  # for the refusal only

    prefix = "agentfootprint."
    known = [each.removeprefix(prefix) for each in events.EVENT_TYPES]
    near = difflib.get_close_matches(pattern.removeprefix(prefix), known, n=1)
    raise ConfigError(
        "on",
        f"There is no event type {pattern!r}.",
        fix=f"Did you mean {prefix + near[0]!r}?"
        if near
        else "Listen to '*' once to see the types, or read EVENT_TYPES.",
    )
