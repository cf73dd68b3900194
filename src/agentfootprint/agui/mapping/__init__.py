"""An agent's events as AG-UI events: one module for each concern, one mapper that owns them."""

from __future__ import annotations

__all__: list[str] = []
