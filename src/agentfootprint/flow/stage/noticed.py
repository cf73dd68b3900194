"""Which keys of a state does a map look at? A view that notes them, so that slices can cross what code declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Noticed"]


class Noticed(Mapping[str, Any]):
    """A state as a mapping that can't be changed; `keys_read` are those that were asked for, in order.

    Args:
        state: The state, which the caller leaves as it is meanwhile.
    """

    __slots__ = ("_seen", "_state")

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._state = state
        self._seen: dict[str, None] = {}

    @property
    def keys_read(self) -> tuple[str, ...]:
        """Keys that were looked up; all of them once somebody went through the whole."""
        return tuple(self._seen)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401  a value of the state
        self._seen[key] = None
        return self._state[key]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self._seen[key] = None
        return key in self._state

    def __iter__(self) -> Iterator[str]:
        self._seen.update(dict.fromkeys(self._state))
        return iter(self._state)

    def __len__(self) -> int:
        return len(self._state)

    def __repr__(self) -> str:
        return f"Noticed({', '.join(self._state)})"
