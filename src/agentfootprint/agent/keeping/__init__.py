"""What outlives a run: the conversation as it may be stored, how it goes on, and what a failure leaves."""

from __future__ import annotations

__all__: list[str] = []
