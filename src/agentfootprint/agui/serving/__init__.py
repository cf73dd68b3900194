"""An agent behind AG-UI: one request is one run on one thread, and its events leave as they happen."""

from __future__ import annotations

__all__: list[str] = []
