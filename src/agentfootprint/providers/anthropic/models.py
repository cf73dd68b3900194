"""How does a Claude model think?

Invariants: one table (ANT-12), matched on the id from `claude-` on, so that the ids of other clouds are known too; an
id that is not in it is taken for a newer model than the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

__all__ = ["ThinkingMode", "thinking_mode"]

ThinkingMode: TypeAlias = Literal["budget", "adaptive", "none"]
"""Whether a model takes a budget of tokens, decides by itself, or does not think."""

_BUDGET: Final = (
    *("claude-3-7-sonnet", "claude-sonnet-4", "claude-opus-4", "claude-opus-4-1", "claude-sonnet-4-5"),
    *("claude-opus-4-5", "claude-haiku-4-5", "claude-sonnet-4-6", "claude-opus-4-6"),
)
_NONE: Final = ("claude-3-5-sonnet", "claude-3-5-haiku", "claude-3-opus", "claude-3-sonnet", "claude-3-haiku")
_MODES: Final[Mapping[str, ThinkingMode]] = {
    **dict.fromkeys(_BUDGET, "budget"),
    **dict.fromkeys(_NONE, "none"),
}
# what may follow the family: `-0`, a date, `-latest`, a cloud's version; never another number of the family
_ID: Final = re.compile(r"(claude-[a-z0-9-]+?)(?:-0)?(?:[-@]\d{8})?(?:-latest)?(?:-v\d+(?::\d+)*)?", re.ASCII)


def thinking_mode(model: str) -> ThinkingMode:
    """The mode of a model.

    Args:
        model: Its id, as the vendor or another cloud writes it.

    Example:
        >>> thinking_mode("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
        'budget'
        >>> thinking_mode("claude-opus-5")
        'adaptive'
    """
    at = model.find("claude-")
    found = _ID.fullmatch(model[at:].replace(".", "-")) if at >= 0 else None
    return _MODES.get(found[1], "adaptive") if found is not None else "adaptive"
