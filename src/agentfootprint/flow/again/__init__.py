"""What a paused run needs to go on: where it stood, what it had, and whether the chart is still the same."""

from __future__ import annotations

__all__: list[str] = []
