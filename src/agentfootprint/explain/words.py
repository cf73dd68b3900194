"""In which words and number formats an explanation speaks, and which words it must not use.

Pure functions from values to text, one line each, no colour. Every measured rate is printed with its counts and
interval, every other number with its unit; what is not known is said as unknown and never as 0.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from agentfootprint.explain.statistics import Interval, wilson_interval

__all__ = [
    "STANDING_MARKS",
    "VERDICT_WORDS",
    "Standing",
    "counted",
    "display_width",
    "effect_text",
    "escaped",
    "evidence_text",
    "folded",
    "forbidden_words",
    "interval_text",
    "money_text",
    "quoted",
    "rate_text",
    "score_text",
    "seconds_text",
    "size_text",
    "unknown_text",
]

Standing: TypeAlias = Literal["recorded", "ranked", "proven"]

STANDING_MARKS: Final[Mapping[Standing, str]] = {
    "recorded": "[recorded]",
    "ranked": "[ranked, not proven]",
    "proven": "[PROVEN]",
}
VERDICT_WORDS: Final[Mapping[str, str]] = {
    "confirmed": "confirmed",
    "not-confirmed": "no effect found",
    "inconclusive": "inconclusive",
}
"""How a verdict's wire word is said to people (06:EXP-5: absence of an effect is no innocence)."""

_MINUTE: Final = 60
_CENT: Final = 0.01


def _percent(rate: float) -> str:
    return f"{abs(100 * rate):.0f}"


def interval_text(interval: Interval) -> str:
    """A rate's interval: `72-100 %`."""
    low, high = interval
    return f"{_percent(low)}-{_percent(high)} %"


def rate_text(count: int, samples: int, interval: Interval | None = None, *, noun: str = "") -> str:
    """A rate with its counts and its 95 % interval: `10 of 10 (72-100 %)`; never a bare percentage.

    Args:
        count: How many showed it.
        samples: Of how many.
        interval: Of the rate; Wilson's when not given.
        noun: What was counted, to stand before the interval: `10 of 10 re-runs (72-100 %)`.
    """
    counts = f"{count} of {samples} {noun}".rstrip()
    return f"{counts} ({interval_text(interval or wilson_interval(count, samples))})"


def effect_text(effect: tuple[float, float, float]) -> str:
    """A difference of rates in percentage points: `+100 points (+61 to +100)`."""
    estimate, low, high = (f"{round(100 * value) or 0:+d}" for value in effect)
    return f"{estimate} points ({low} to {high})"


def evidence_text(evidence: float, needed: float, *, alpha: float = 0.05, sources: int = 1) -> str:
    """An e-value against what it needs: `e = 66.4, needs 60: 5 % over 3 sources`."""
    over = f" over {sources} sources" if sources > 1 else ""
    return f"e = {_short(evidence)}, needs {_short(needed)}: {100 * alpha:g} %{over}"


def _short(value: float) -> str:
    """One decimal, unless it is whole: `66.4`, `60`, `0.04`."""
    if value and abs(value) < 0.1:  # noqa: PLR2004  below that one decimal says nothing
        return f"{value:.2g}"
    return f"{value:,.1f}".removesuffix(".0")


def score_text(score: float, *, alone: bool = False) -> str:
    """A proxy score, two decimals: `0.77` in a column, `0.77 of 1` in a sentence."""
    return f"{score:.2f} of 1" if alone else f"{score:.2f}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun: `1 tool call`, `5,320 tokens`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size_text(characters: int) -> str:
    """The size of a text: `98 characters`."""
    return counted(characters, "character")


def money_text(usd: float | None) -> str:
    """An amount: `$0.03`, or `not priced` when it is not known; a known nothing is `$0`."""
    if usd is None:
        return "not priced"
    if usd == 0:
        return "$0"
    return f"${usd:,.2f}" if usd >= _CENT else "under $0.01"


def seconds_text(seconds: float | None, *, why_unknown: str = "not recorded") -> str:
    """A duration: `0.01 s`, `0.9 s`, `41 s`, `2 min 5 s`, or `unusable: why`."""
    if seconds is None:
        return f"unusable: {why_unknown}"
    if seconds < _CENT / 2:
        return "under 0.01 s"
    if seconds < 0.1:  # noqa: PLR2004  the format changes where a digit would be lost
        return f"{seconds:.2f} s"
    if seconds < 9.95:  # noqa: PLR2004
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def unknown_text(why: str) -> str:
    """What is said in place of something that was not recorded."""
    return f"unknown: {why}"


def display_width(text: str) -> int:
    """How many columns a terminal gives a text: wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def escaped(text: str) -> str:
    """Model text made harmless for a terminal: control and direction characters become visible escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_harmless, text))


def _harmless(character: str) -> str:
    return character if unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Cs") else _escape(character)


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004  one byte
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  two bytes


def quoted(text: str, width: int | None = None) -> str:
    """Model text as a one-line quote, cut to a width with `...`.

    Args:
        text: Any text; runs of white space become one space, control characters visible escapes.
        width: Most columns, quotes included; `None` for the whole text.
    """
    line = " ".join(text.split())
    if width is None:
        return f'"{escaped(line)}"'
    room, room_cut = width - len('""'), width - len('"..."')
    kept: list[str] = []
    used = fitting = 0
    for character in line:  # no further than what is shown: a text may be as long as a book
        shown = _harmless(character)
        used += display_width(shown)
        if used > room:
            return f'"{"".join(kept[:fitting]).rstrip()}..."'
        kept.append(shown)
        if used <= room_cut:
            fitting = len(kept)
    return f'"{"".join(kept)}"'


def folded(text: str, width: int, *, start: str = "", rest: str = "") -> list[str]:
    """A text in lines of at most `width` columns, broken at blanks; a longer word is broken where the line ends.

    Each character is measured once or twice, so that the time is linear in the text, whatever its words are like.

    Args:
        text: One paragraph; blanks inside a line are kept.
        width: Columns, as a terminal counts them: wide characters take two.
        start: Stands before the first line.
        rest: Stands before every further line.
    """
    lines: list[str] = []
    line, columns, empty = start, display_width(start), True
    rest_columns = display_width(rest)
    for word in " ".join(text.splitlines()).split(" "):
        size = display_width(word)
        if not empty and columns + 1 + size <= width:
            line += f" {word}"
            columns += 1 + size
            continue
        if not empty:
            lines.append(line.rstrip())
            line, columns = rest, rest_columns
        at = 0
        while at < len(word) and columns + size > width:
            end, taken = _beginning(word, at, max(1, width - columns))
            lines.append(line + word[at:end])
            at, size = end, size - taken
            line, columns = rest, rest_columns
        line += word[at:]
        columns += size
        empty = at == len(word)
    return lines if empty and lines else [*lines, line.rstrip()]


def _beginning(word: str, at: int, columns: int) -> tuple[int, int]:
    """Where as much of a word as so many columns hold ends, one character at least, and the columns it takes."""
    if word.isascii():
        end = min(len(word), at + columns)
        return end, end - at
    used, end = _columns(word[at]), at + 1
    while end < len(word) and used + (more := _columns(word[end])) <= columns:
        used += more
        end += 1
    return end, used


_FORBIDDEN: Final = re.compile(
    r"\b(root[ -]?causes?|causes?|caused|causing|causal|culprits?|proven|proves?|proved|confirm(?:s|ed)?"
    r"|convict(?:s|ed)?|guilty|responsible|because of|probably|innocent|cleared|to blame|blamed)\b|%",
    re.IGNORECASE,
)
_ALLOWED: Final = re.compile(
    r"\b(?:not|never|nothing(?: here)? is|nothing) (?:yet )?(?:proven|confirmed)|\bto prove\b|\bprove(?:_sync)?\("
    r"|--prove\b|\bnot-confirmed\b",
    re.IGNORECASE,
)
_QUOTE: Final = re.compile(r'"(?:[^"\n]|\\")*"')


def forbidden_words(text: str) -> list[str]:
    """Words that claim more than an explanation without re-runs knows (06:EXP-1), as they stand in a text.

    Quotes are data and are passed over; so is saying that nothing is proven, and naming the way to prove it.

    Returns:
        The words, in order; empty when the text keeps to its standing.

    Example:
        >>> forbidden_words("vip-override-fact is the root cause")
        ['root cause']
        >>> forbidden_words("resembles most: 0.77 of 1; ranked, not proven")
        []
    """
    said = _ALLOWED.sub(" ", _QUOTE.sub('""', text))
    return [match.group(0) for match in _FORBIDDEN.finditer(said)]
