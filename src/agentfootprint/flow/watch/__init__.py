"""Who is told what happens in a run, and in which words."""

from __future__ import annotations

__all__: list[str] = []
