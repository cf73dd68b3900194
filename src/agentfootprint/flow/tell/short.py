"""Long loops told short: which of the passes through a chart get a sentence (FLOW-NAR-23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentfootprint.flow.tell.words import LoopTold

__all__ = ["FlowSentences", "LoopStyle", "told_short"]

LoopStyle: TypeAlias = Literal[
    "all", "windowed", "adaptive", "progressive", "milestone", "run-length", "separate", "silent"
]
Told: TypeAlias = "tuple[str, LoopTold | None]"
"""A sentence, and the way back it tells of."""

_HEAD: Final = 3
_TAIL: Final = 2
_THRESHOLD: Final = 5
_EVERY: Final = 10


@dataclass(frozen=True, slots=True)
class FlowSentences:
    """What a chart did, sentence by sentence. Print it to read it."""

    texts: tuple[str, ...]
    loops: tuple[str, ...]
    """The sentences of the ways back that were kept aside."""
    suppressed: int
    """How many ways back have no sentence of their own."""
    loop_counts: dict[str, int]
    """How often each stage was gone back to, by its name."""

    def __str__(self) -> str:
        return "\n".join(self.texts)


def told_short(told: Sequence[Told], style: LoopStyle) -> FlowSentences:
    """Tell a run's sentences with its loops in one of the styles."""
    loops = [loop for _, loop in told if loop is not None]
    counts = Counter(loop.target for loop in loops)
    aside: tuple[str, ...] = ()
    if style == "run-length":
        texts, kept = _run_length(told)
    elif style == "windowed":
        texts, kept = _windowed(told, counts)
    elif style in ("separate", "silent"):
        texts, kept = [text for text, loop in told if loop is None], 0
        if style == "separate":
            aside, kept = tuple(text for text, loop in told if loop is not None), len(loops)
        else:
            texts += [f"Looped {count} times through {target}." for target, count in counts.items()]
    else:
        shown = _SHOWN[style]
        texts = [text for text, loop in told if loop is None or shown(loop.iteration)]
        kept = sum(1 for loop in loops if shown(loop.iteration))
    return FlowSentences(tuple(texts), aside, len(loops) - kept, dict(counts))


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


_SHOWN: Final[dict[str, Callable[[int], bool]]] = {
    "all": lambda _: True,
    "adaptive": lambda number: number <= _THRESHOLD or number % _EVERY == 0,
    "progressive": _is_power_of_two,
    "milestone": lambda number: number == 1 or number % _EVERY == 0,
}
"""Whether the pass of this number, from 1, is told."""


def _windowed(told: Sequence[Told], counts: Counter[str]) -> tuple[list[str], int]:
    """The first and the last passes through each stage, and between them how many there were."""
    texts: list[str] = []
    kept = 0
    seen = Counter[str]()
    for text, loop in told:
        if loop is None:
            texts.append(text)
            continue
        seen[loop.target] += 1
        number, count = seen[loop.target], counts[loop.target]
        if number <= _HEAD or number > count - _TAIL:
            texts.append(text)
            kept += 1
        elif number == _HEAD + 1:
            texts.append(f"... ({count - _HEAD - _TAIL} iterations omitted)")
    return texts, kept


def _run_length(told: Sequence[Told]) -> tuple[list[str], int]:
    """Passes through one stage that no way back to another one parts, as one sentence where the first stood."""
    texts: list[str] = []
    kept = 0
    rows = list(_rows([loop for _, loop in told if loop is not None]))
    begins = {id(row[0]): row for row in rows}
    for text, loop in told:
        if loop is None:
            texts.append(text)
        elif (row := begins.get(id(loop))) is None:
            continue
        elif len(row) == 1:
            texts.append(text)
            kept += 1
        else:
            passes = f"passes {row[0].iteration}\u2013{row[-1].iteration}"
            texts.append(f"Looped through {loop.target} {len(row)} times ({passes}).")
    return texts, kept


def _rows(loops: Sequence[LoopTold]) -> Iterator[list[LoopTold]]:
    row: list[LoopTold] = []
    for loop in loops:
        if row and row[-1].target != loop.target:
            yield row
            row = []
        row.append(loop)
    if row:
        yield row
