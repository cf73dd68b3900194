"""Is an event type that somebody listens for one of the library's?"""

from __future__ import annotations

from agentfootprint import events
from agentfootprint.errors import ConfigError

__all__ = ["check_event_type"]


def check_event_type(pattern: str) -> None:
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
