"""When a run stops to ask a person: the question, the checkpoint, the answer, and how the run goes on."""

from __future__ import annotations

__all__: list[str] = []
