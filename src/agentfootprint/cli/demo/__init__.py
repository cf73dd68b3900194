"""The demo: a refunds desk with one planted wrong fact, run, traced and proven offline."""

from __future__ import annotations

__all__: list[str] = []
