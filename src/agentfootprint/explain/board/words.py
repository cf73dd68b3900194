"""How are numbers and standings said on the page?

Each number has its unit, each measured share its n and its interval, and what is not known is never a zero
(experience of the first hour, section 1). The words that only re-runs may earn stand in `TESTED_WORDS` and nowhere
else: a page without re-runs holds none of them, in no form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentfootprint.explain.board.shape import Rate

__all__ = [
    "DASH",
    "DROP_REASONS",
    "HOP_NAMES",
    "MINUS",
    "TESTED_WORDS",
    "characters",
    "count",
    "money",
    "of_rate",
    "percent_range",
    "points",
    "score",
    "seconds",
]

DASH: Final = "\u2013"
"""Stands between two ends of a range, and alone for "no number here"."""
MINUS: Final = "\u2212"
TESTED_WORDS: Final = {
    "proof": "Proven",
    "confirmed": "Confirmed",
    "not-confirmed": "No effect found",
    "inconclusive": "Inconclusive",
}
HOP_NAMES: Final = ("answer", "read", "landed", "allowed", "born")
DROP_REASONS: Final = {
    "window": "cut from the window",
    "budget": "over its budget",
    "top-k": "below the first k found",
    "trigger-false": "its trigger did not hold",
    "gate-denied": "a gate refused it",
    "dedupe": "same as another one",
    "ceiling": "over the ceiling of a result",
    "role-collision": "the conversation already ended on its role",
    "unanswered-tool-call": "a tool call had no result yet",
}
BY_RULE: Final = frozenset({"trigger-false", "gate-denied"})


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 message`, `3 messages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def characters(number: int) -> str:
    """`245 characters`."""
    return count(number, "character")


def score(value: float) -> str:
    """`0.77`."""
    return f"{value:.2f}"


def _percent(share: float) -> int:
    return int(abs(share) * 100 + 0.5)


def percent_range(interval: Sequence[float]) -> str:
    """`72-100 %`, with a dash."""
    return f"{_percent(interval[0])}{DASH}{_percent(interval[1])} %"


def of_rate(rate: Rate) -> str:
    """`10 of 10 · 72-100 %`, or without an interval `2 of 2`."""
    if not rate["samples"]:
        return "not run"
    interval = rate.get("interval")
    head = f"{rate['flips']:,} of {rate['samples']:,}"
    return head if interval is None else f"{head} · {percent_range(interval)}"


def points(value: float) -> str:
    """A difference of shares in percentage points, signed: `+61`, `-17` (with a minus sign)."""
    number = _percent(value)
    return "0" if number == 0 else f"{MINUS if value < 0 else '+'}{number}"


def money(usd: float | None) -> str:
    """`$0.03`, or `not priced`."""
    if usd is None:
        return "not priced"
    return "$0" if usd == 0 else f"${usd:.2f}" if usd >= 0.01 else f"${usd:.4f}"  # noqa: PLR2004  a cent


def seconds(value: float) -> str:
    """`41 s`, `0.12 s`, `3 min 5 s`."""
    if value >= 60:  # noqa: PLR2004  a minute
        return f"{int(value // 60)} min {int(value % 60)} s"
    return f"{value:.0f} s" if value >= 10 else f"{value:.2g} s"  # noqa: PLR2004  enough digits
