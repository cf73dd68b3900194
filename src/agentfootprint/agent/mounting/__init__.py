"""Agents inside a larger run: what they share with it, and how one begins, ends, pauses and goes on there."""

from __future__ import annotations

__all__: list[str] = []
