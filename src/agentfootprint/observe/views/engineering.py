"""Which pieces of context did somebody put there, and which are there anyway (05 s.5.6)?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from agentfootprint.events import ContextInjected, Event, Subscription
from agentfootprint.observe.views.reading import Observed, text_of

__all__ = ["BASELINE_SOURCES", "ENGINEERED_SOURCES", "ContextEngineering", "context_engineering"]

ENGINEERED_SOURCES: Final = frozenset(("rag", "skill", "memory", "instructions", "steering", "fact", "custom"))
"""What the application put into the context."""
BASELINE_SOURCES: Final = frozenset(("user", "tool-result", "assistant", "base", "registry"))
"""What is there without it."""


class ContextEngineering:
    """The pieces that enter the slots of a runner's calls, told apart; a source not known here is neither."""

    def __init__(self, runner: Observed) -> None:
        self._listeners: list[tuple[frozenset[str], Callable[[Event[Any]], object]]] = []
        self._subscription = runner.on(ContextInjected.type, self._heard)

    def on_engineered(self, listener: Callable[[Event[Any]], object]) -> Subscription:
        """Call a function with each piece that the application put there."""
        return self._on(ENGINEERED_SOURCES, listener)

    def on_baseline(self, listener: Callable[[Event[Any]], object]) -> Subscription:
        """Call a function with each piece that is there anyway."""
        return self._on(BASELINE_SOURCES, listener)

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()
        self._listeners.clear()

    def _on(self, sources: frozenset[str], listener: Callable[[Event[Any]], object]) -> Subscription:
        entry = sources, listener
        self._listeners.append(entry)

        def close() -> None:
            self._listeners[:] = [each for each in self._listeners if each is not entry]

        return Subscription.of(close, pattern=ContextInjected.type)

    def _heard(self, event: Event[Any]) -> None:
        source = text_of(event.payload, "source")
        for sources, listener in tuple(self._listeners):
            if source in sources:
                listener(event)


def context_engineering(runner: Observed) -> ContextEngineering:
    """Tell the pieces of a runner's context apart, from now on."""
    return ContextEngineering(runner)
