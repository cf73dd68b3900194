"""In which mounted agent did something happen?

Invariants: agents that run side by side never share a scope; what an agent is made of inside is no scope of its own
(AGU-21).
"""

from __future__ import annotations

from typing import Final

__all__ = ["mount_scope"]

_INTERNAL: Final = frozenset(
    ("sf-llm-call", "sf-tool-calls", "sf-thinking", "sf-route", "sf-injection-engine", "final")
)
_INTERNAL_PREFIX: Final = "thinking-"


def mount_scope(address: str) -> str:
    """The mount that an address stands in: its path, without the agent's own parts at its end.

    Args:
        address: A `runtimeStageId`: `[mount/...]stage#index`.

    Example:
        >>> mount_scope("step-a/sf-llm-call/call-llm#9")
        'step-a'
    """
    scope = address.rpartition("/")[0]
    while scope:
        outer, _, last = scope.rpartition("/")
        if last not in _INTERNAL and not last.startswith(_INTERNAL_PREFIX):
            break
        scope = outer
    return scope
