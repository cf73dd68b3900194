"""State that lives between a beginning and an end, such as an open call: kept by key while it is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from agentfootprint.flow.dev import dev_warning

__all__ = ["BoundaryStateStore"]

T = TypeVar("T")

_SAID_AT: Final = (1, 10, 100)
"""At which dropped update it is said again: the first says it, the later ones how bad it is."""
_SHOWN: Final = 10


class BoundaryStateStore(Generic[T]):
    """Transient state by key. What ends is handed out and forgotten; what makes no sense is dropped and said (13).

    Example:
        >>> calls = BoundaryStateStore[int]()
        >>> calls.start("call-1", 0)
        >>> calls.update("call-1", lambda tokens: tokens + 5)
        True
        >>> calls.stop("call-1")
        5
    """

    def __init__(self) -> None:
        self._open: dict[str, T] = {}
        self._dropped = 0

    def start(self, key: str, state: T) -> None:
        """Begin; what was open under the key is overwritten, and that is said in dev mode."""
        if key in self._open:
            dev_warning(f"The state {key!r} was started again before it was stopped.")
        self._open[key] = state

    def update(self, key: str, change: Callable[[T], T]) -> bool:
        """Change what is open.

        Returns:
            Whether it was: an update without a start is dropped.
        """
        if key not in self._open:
            self._dropped += 1
            if self._dropped in _SAID_AT:
                dev_warning(f"The update of {key!r} came without a start; {self._dropped} were dropped so far.")
            return False
        self._open[key] = change(self._open[key])
        return True

    def stop(self, key: str) -> T | None:
        """End; gives the last state, or None when nothing was open."""
        return self._open.pop(key, None)

    def get(self, key: str) -> T | None:
        """What is open under a key."""
        return self._open.get(key)

    def all(self) -> dict[str, T]:
        """All that is open, by key, in the order it began."""
        return dict(self._open)

    @property
    def has_active(self) -> bool:
        """Whether anything is open."""
        return bool(self._open)

    @property
    def dropped(self) -> int:
        """How many updates came without a start."""
        return self._dropped

    def clear(self) -> None:
        """Forget everything; what is still open is said in dev mode."""
        if self._open:
            names = ", ".join(list(self._open)[:_SHOWN])
            dev_warning(f"{len(self._open)} states were open when all were forgotten: {names}.")
        self._open.clear()
        self._dropped = 0
