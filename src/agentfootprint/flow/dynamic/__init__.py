"""What a run does that its chart alone does not say: branches for items that are known at run time only."""

from __future__ import annotations

__all__: list[str] = []
