"""How does a view read events, whoever hands them over: an agent as they happen, or a recording afterwards?

Invariants: a view never changes what it reads and never raises for what an event says: a payload that a policy
redacted whole, or that an older file holds in part, tells nothing (BRG-5). Each event is looked at once, when it comes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, Self, TypeAlias, cast

import msgspec
from msgspec import UNSET

from agentfootprint.events import CONSUMER_RUN_ID, Event, Subscription
from agentfootprint.recording import Recording
from agentfootprint.trace import FrozenDict, wire_key

__all__ = ["Events", "Observed", "View", "address_of", "events_of", "run_of", "text_of", "told"]

Events: TypeAlias = Recording | Iterable[Event[Any]]
"""What a view reads afterwards: a recording, of this process or of a file, or events from anywhere."""


class Observed(Protocol):
    """What a view can be attached to: an agent, a model call, a composition."""

    def on(self, pattern: str, listener: Callable[[Event[Any]], object], /) -> Subscription:
        """Listen to events."""
        ...


class View(ABC):
    """Base of the readers of events.

    A view is also what `agent.attach` takes: it has a `name`, and `export` gives it an event.
    """

    name: str = "view"
    default_tier: Literal["minimal", "standard", "firehose"] = "firehose"
    relevant_types: tuple[str, ...] | None = None
    """The event types it looks at; `None` for all."""

    def __init__(self) -> None:
        self._attached: dict[int, tuple[Observed, Subscription]] = {}

    @property
    def patterns(self) -> tuple[str, ...]:
        """What it listens to when it is attached."""
        return ("*",) if self.relevant_types is None else self.relevant_types

    @abstractmethod
    def hear(self, event: Event[Any]) -> None:
        """Take one event into account."""

    def export(self, event: Event[Any]) -> None:
        """The same, as an exporter is given it."""
        self.hear(event)

    @classmethod
    def of(cls, events: Events, **options: Any) -> Self:  # noqa: ANN401  those of the subclass
        """The view of something that has happened already.

        Args:
            events: A recording, or events in order.
            options: Those of the constructor.
        """
        view = cls(**options)
        view.hear_all(events)
        return view

    def hear_all(self, events: Events) -> None:
        """Take events into account, in order."""
        for event in events_of(events):
            self.hear(event)

    def attach(self, runner: Observed) -> Subscription:
        """Look at the events of all runs of a runner from now on; attaching again to the same one changes nothing.

        Args:
            runner: An agent, a model call or a composition.

        Returns:
            Close it, or use it as a context manager, to look no longer.
        """
        known = self._attached.get(id(runner))
        if known is not None and known[1].active:
            return known[1]
        each = [runner.on(pattern, self.hear) for pattern in self.patterns]

        def close() -> None:
            self._attached.pop(id(runner), None)
            for subscription in each:
                subscription.close()

        whole = Subscription.of(close)
        self._attached[id(runner)] = runner, whole
        return whole


def events_of(events: Events) -> Iterable[Event[Any]]:
    """The events of a recording, or the events themselves."""
    return events.events if isinstance(events, Recording) else events


def told(payload: Any, name: str) -> Any:  # noqa: ANN401  any payload, any value
    """What a payload says under a name; `None` when it does not.

    Args:
        payload: A payload, or a part of one: a record, a JSON object, or a text that stands for either.
        name: The attribute, in snake_case.
    """
    if isinstance(payload, msgspec.Struct) and not isinstance(payload, FrozenDict):
        value = getattr(payload, name, None)
        return None if value is UNSET else value
    if isinstance(payload, (Mapping, FrozenDict)):
        return cast("Mapping[str, Any]", payload).get(wire_key(name))
    return None


def text_of(payload: Any, name: str) -> str:  # noqa: ANN401  any payload
    """What a payload says under a name if that is a text, else `""`."""
    value = told(payload, name)
    return value if isinstance(value, str) else ""


def run_of(event: Event[Any]) -> str:
    """The id of an event's run; `""` when it belongs to none (EVT-31)."""
    run_id = event.facts.run_id or event.meta.run_id
    return "" if run_id == CONSUMER_RUN_ID else run_id


def address_of(event: Event[Any]) -> str:
    """The address an event happened at."""
    execution = event.execution
    if execution is None:
        return event.meta.runtime_stage_id
    return execution if isinstance(execution, str) else execution.runtime_stage_id
