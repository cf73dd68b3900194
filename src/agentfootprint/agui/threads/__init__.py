"""What is known of an AG-UI thread, and where that is kept: the hosting room's session store (AGU-72)."""

from __future__ import annotations

__all__: list[str] = []
