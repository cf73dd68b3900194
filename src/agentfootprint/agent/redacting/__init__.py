"""What an agent keeps out of its record: the policy in force, and the names under which a conversation travels."""

from __future__ import annotations

__all__: list[str] = []
