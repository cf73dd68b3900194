"""What the events room refuses, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable

from agentfootprint.errors import AgentFootprintError

__all__ = ["EventFormatError", "EventPatternError", "ListenerError"]


class EventPatternError(AgentFootprintError, ValueError):
    """A pattern that no event can match (DSP-1); `pattern` is what was given."""

    code = "ERR_EVENT_PATTERN"

    def __init__(self, pattern: str, domains: Iterable[str]) -> None:
        self.pattern = pattern
        super().__init__(
            f"The event pattern {pattern!r} matches nothing.",
            fix="Use an exact type, 'agentfootprint.<domain>.*' or '*'; "
            f"the domains are {', '.join(domain.removeprefix('agentfootprint.') for domain in domains)}.",
        )


class ListenerError(AgentFootprintError, TypeError):
    """A listener that can't be called; `pattern` is what it was to listen to."""

    code = "ERR_LISTENER"

    def __init__(self, pattern: str, found: str) -> None:
        self.pattern = pattern
        super().__init__(
            f"A listener for {pattern!r} is of type {found} and can't be called.",
            fix="Give a function that takes one event.",
        )


class EventFormatError(AgentFootprintError, ValueError):
    """Something that was to be read as an event is none; its text is never quoted."""

    code = "ERR_EVENT_FORMAT"

    def __init__(self, problem: str) -> None:
        super().__init__(
            problem, fix='Give one JSON object with the keys "type" (text), "payload" and "meta" (object).'
        )
