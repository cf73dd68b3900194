"""What a stage sees and changes while it runs, and what is left of it when it has committed."""

from __future__ import annotations

__all__: list[str] = []
