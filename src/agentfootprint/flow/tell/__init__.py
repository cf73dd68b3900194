"""The same run in words."""

from __future__ import annotations

__all__: list[str] = []
