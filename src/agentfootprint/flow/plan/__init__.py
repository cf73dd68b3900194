"""From parts to what a run walks over: nodes, connected and checked."""

from __future__ import annotations

__all__: list[str] = []
