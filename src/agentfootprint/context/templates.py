"""Which facts of a turn does a text ask for, and what does it read with them filled in?

The vocabulary is closed, and a text is filled whole or not at all: never a gap, a zero or a bare placeholder (04 s.3).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["TEMPLATE_FACTS", "missing_facts", "placeholders", "render", "unknown_facts"]

TEMPLATE_FACTS: Final = ("action", "actionBudget", "actionsRemaining")
"""What a template may name: the number of this model call, how many there may be, how many are left after it."""
_PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z0-9_]+)\s*\}\}")


def placeholders(template: str) -> tuple[str, ...]:
    """The names a text asks for, each once, in order of first appearance (TPL-1)."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(template)))


def unknown_facts(template: str) -> tuple[str, ...]:
    """Those of its names that no turn has (TPL-2)."""
    return tuple(name for name in placeholders(template) if name not in TEMPLATE_FACTS)


def _facts(iteration: int, max_iterations: int | None) -> dict[str, int]:
    if max_iterations is None:
        return {"action": iteration}
    remaining = max(0, max_iterations - iteration)
    return {"action": iteration, "actionBudget": max_iterations, "actionsRemaining": remaining}


def missing_facts(template: str, *, iteration: int, max_iterations: int | None) -> tuple[str, ...]:
    """Those of its names that this turn can't supply, because nothing limits it (TPL-3)."""
    facts = _facts(iteration, max_iterations)
    return tuple(name for name in placeholders(template) if name in TEMPLATE_FACTS and name not in facts)


def render(template: str, *, iteration: int, max_iterations: int | None) -> str | None:
    """The text with the facts of one pass; `None` when one of them is missing (TPL-3).

    Args:
        template: The text; what is no placeholder, and a name that is no fact, stays as it is.
        iteration: The number of the model call, from 1.
        max_iterations: How many there may be.
    """
    if missing_facts(template, iteration=iteration, max_iterations=max_iterations):
        return None
    facts = _facts(iteration, max_iterations)
    return _PLACEHOLDER.sub(lambda found: str(facts.get(found[1], found[0])), template)
