"""What does a chart look like as a Mermaid drawing, and which way did a run take through it (FLOW-SPC-2, 24.10).

Each stage is drawn once, mounts as one box; nothing here recurses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agentfootprint.flow.out.spec import local_name
from agentfootprint.trace import Journal, StageInfo

__all__ = ["drawn"]

_KEYWORDS: Final = frozenset(
    ("call", "class", "classDef", "click", "end", "flowchart", "graph", "href", "linkStyle", "style", "subgraph")
)
"""Ids that Mermaid reads as a word of its own; they are drawn with `_` behind them."""
_STYLE: Final = "classDef executed fill:#d3f2df,stroke:#1a7f4b,stroke-width:2px,color:#10321f"


def drawn(stages: Sequence[StageInfo], executed: Journal | None = None) -> str:
    """The drawing of a chart.

    Args:
        stages: Its stages by number; the first is its start.
        executed: A run of it: the stages it ran are highlighted, and loop edges say how often they were taken.
    """
    names = _Names()
    lines = ["flowchart TD"]
    done: set[int] = set()
    counts, ran = _what_ran(executed)
    waiting: list[tuple[int, int]] = [(-1, 0)]
    while waiting:
        origin, number = waiting.pop()
        info = stages[number]
        if origin >= 0:
            is_loop = stages[origin].loop_to == number and number in done
            times = counts.get((origin, number), 0) if is_loop else 0
            arrow = f'-->|"{times}x"|' if times else "-->"
            lines.append(f"{names.of(stages[origin])} {arrow} {names.of(info)}")
        if number in done:
            continue
        done.add(number)
        lines.append(f'{names.of(info)}["{_escaped(local_name(info))}"]')
        after = info.loop_to if info.loop_to >= 0 else info.next
        targets = [*info.children, *([after] if after >= 0 else [])]
        waiting += [(number, target) for target in reversed(targets)]
    shown = [names.of(stages[number]) for number in sorted(ran & done)]
    if shown:
        lines += [_STYLE, f"class {','.join(shown)} executed"]
    return "\n".join(lines)


class _Names:
    """What stages are called in the drawing: ids that become the same one get a number."""

    def __init__(self) -> None:
        self._of: dict[int, str] = {}
        self._used: set[str] = set()

    def of(self, info: StageInfo) -> str:
        known = self._of.get(info.number)
        if known is not None:
            return known
        plain = re.sub(r"[^A-Za-z0-9_]", "_", info.local_id)
        name = plain = f"{plain}_" if plain in _KEYWORDS else plain
        number = 1
        while name in self._used:
            number += 1
            name = f"{plain}_{number}"
        self._used.add(name)
        self._of[info.number] = name
        return name


def _escaped(name: str) -> str:
    return name.replace('"', "#quot;")


def _what_ran(journal: Journal | None) -> tuple[dict[tuple[int, int], int], set[int]]:
    """How often each loop edge of the top was taken, and which stages of the top ran."""
    counts: dict[tuple[int, int], int] = {}
    ran: set[int] = set()
    if journal is None:
        return counts, ran
    executions = journal.executions()
    for step in executions.values():
        if step.mount != -1:
            continue
        ran.add(step.info.number)
        before = executions.get(step.parent)
        if step.loop and before is not None:
            edge = before.info.number, step.info.number
            counts[edge] = counts.get(edge, 0) + 1
    return counts, ran
