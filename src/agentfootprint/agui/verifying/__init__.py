"""Whether a stream of AG-UI events is one that a client accepts."""

from __future__ import annotations

__all__: list[str] = []
