"""What of a run is kept out of its record: how values are covered, what is served instead, the mark that says so."""

from __future__ import annotations

__all__: list[str] = []
