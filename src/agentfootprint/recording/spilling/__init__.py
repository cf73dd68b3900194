"""A record that goes to a file while its run goes on: where the file is, what it is written from, who reads it back."""

from __future__ import annotations

__all__: list[str] = []
