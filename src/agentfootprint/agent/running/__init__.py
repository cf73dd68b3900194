"""What runs beside what, and how it ends: calls side by side, a run that is stopped, an agent that is closed."""

from __future__ import annotations

__all__: list[str] = []
