"""How does recorded text become HTML that can't be anything but text?

Every child of `el` is escaped unless it is `Html`, and only the functions here make `Html`. Characters that would
change how a text reads without being seen (controls, bidirectional marks, zero-width ones) are shown by their number.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Final

__all__ = ["Html", "badge", "clipped", "code", "el", "esc", "gauge", "interval_bar", "join", "marked", "unknown"]

_VOID: Final = frozenset({"input", "br", "hr", "meta"})
_HIDDEN: Final = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
FOLD_LINES: Final = 40
FOLD_CHARS: Final = 4_000
HEAD_LINES: Final = 12
HEAD_CHARS: Final = 1_200


class Html(str):
    """Markup that is safe to stand in the page; made by this module only."""

    __slots__ = ()


def esc(text: str) -> Html:
    """Recorded text as markup: nothing in it acts, and nothing in it stays unseen."""
    out: list[str] = []
    end = 0
    for found in _HIDDEN.finditer(text):
        out.append(html.escape(text[end : found.start()], quote=True))
        out.append(f'<span class="ctl">U+{ord(found.group()):04X}</span>')
        end = found.end()
    out.append(html.escape(text[end:], quote=True))
    return Html("".join(out))


def el(name: str, /, *children: str | None, **attributes: str | float | bool | None) -> Html:
    """One element. Text children are escaped; `None` children and `None` or false attributes are left out.

    Args:
        name: The tag.
        children: `Html` stands as it is, other text is escaped.
        attributes: `class_` is `class`, an underscore within a name is a hyphen. True is an attribute without value.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        parts.append(f" {attribute}" if value is True else f' {attribute}="{html.escape(str(value), quote=True)}"')
    parts.append(">")
    if name not in _VOID:
        parts.append(join(children))
        parts.append(f"</{name}>")
    return Html("".join(parts))


def join(children: Iterable[str | None]) -> Html:
    """Children one after the other, as `el` takes them."""
    return Html("".join(child if isinstance(child, Html) else esc(child) for child in children if child is not None))


def code(text: str) -> Html:
    """A name, an id, a command."""
    return el("code", text)


def unknown(reason: str, **attributes: str | None) -> Html:
    """What is not known, hatched, with its reason."""
    return el("p", el("span", f"Unknown: {reason}"), class_="unknown", **attributes)


_LINE: Final = 'fill="none" stroke="currentColor"'
_MARKS: Final = {
    "rec": '<circle cx="5" cy="5" r="4.5"/>',
    "rank": f'<circle cx="5" cy="5" r="3.6" {_LINE} stroke-width="1.6" stroke-dasharray="2.2 1.6"/>',
    "hit": f'<path d="M1 5.2 3.8 8 9 2" {_LINE} stroke-width="2"/>',
    "none": f'<path d="M1.5 5h7" {_LINE} stroke-width="2"/>',
    "open": f'<path d="M3 3.6C3 1 7.4 1.2 7 3.6 6.8 4.8 5 4.9 5 6.4M5 8.2v1" {_LINE} stroke-width="1.5"/>',
}


def badge(standing: str, word: str) -> Html:
    """The mark of a standing: a shape, a colour and, always, the word.

    Args:
        standing: `rec` recorded, `rank` ranked, `hit` decided by re-runs, `none` tested and nothing seen, `open`.
        word: What it says.
    """
    shape = Html(f'<svg viewBox="0 0 10 10" fill="currentColor" aria-hidden="true">{_MARKS[standing]}</svg>')
    return el("span", shape, word, class_=f"std {standing}")


def _share(value: float) -> str:
    return f"{value * 100:.2f}".rstrip("0").rstrip(".") + "%"


def gauge(score: float) -> Html:
    """A score of 0 to 1 as a dashed bar; the number stands beside it as text."""
    return Html(
        '<svg class="track" aria-hidden="true"><rect class="edge" width="100%" height="100%" rx="3"/>'
        f'<line x1="0" x2="{_share(score)}" y1="50%" y2="50%"/></svg>'
    )


def interval_bar(rate: float, low: float | None, high: float | None, look: str) -> Html:
    """A rate with its interval on a line from 0 to 100 %; the numbers stand beside it as text.

    Args:
        rate: The share, 0 to 1.
        low: Low end of the interval, or `None`.
        high: High end of the interval, or `None`.
        look: `hit`, `plain` or `base`.
    """
    band = ""
    if low is not None and high is not None:
        band = f'<rect class="band" x="{_share(low)}" y="3.5" width="{_share(high - low)}" height="7" rx="3.5"/>'
    ticks = "".join(f'<line class="tick" x1="{at}" x2="{at}" y1="2" y2="12"/>' for at in ("0", "50%", "100%"))
    return Html(
        f'<svg class="ci {look}" aria-hidden="true"><line class="axis" x1="0" x2="100%" y1="7" y2="7"/>{ticks}{band}'
        f'<circle cx="{_share(rate)}" cy="7" r="4.5"/></svg>'
    )


def marked(text: str, start: int, end: int) -> Html:
    """A text with one part of it marked (`start == end`: none), and what is long folded, never the marked part.

    A text of at most 40 lines and 4,000 characters stands whole. Of a longer one the first lines and the marked part
    with what surrounds it stand; each stretch left out is one fold that says how much is in it.
    """
    if text.count("\n") < FOLD_LINES and len(text) <= FOLD_CHARS:
        return _with_mark(text, 0, len(text), start, end)
    head = min(len("".join(text.splitlines(keepends=True)[:HEAD_LINES])), HEAD_CHARS)
    shown = [(0, head)] + ([(max(0, start - 200), min(len(text), end + 200))] if start < end else [])
    out: list[Html] = []
    at = 0
    for first, last in shown:
        out.append(_fold(text, at, first))
        out.append(_with_mark(text, max(at, first), max(at, last), start, end))
        at = max(at, last)
    out.append(_fold(text, at, len(text)))
    return join(out)


def clipped(text: str, head: int = 400) -> Html:
    """The first characters of a text, and how many there are more."""
    rest = len(text) - head
    if rest <= head // 4:
        return esc(text)
    return join((text[:head], el("span", f" … {rest:,} characters more", class_="cut")))


def _with_mark(text: str, first: int, last: int, start: int, end: int) -> Html:
    if start >= end or start < first or end > last:
        return esc(text[first:last])
    return join((text[first:start], el("mark", text[start:end]), text[end:last]))


def _fold(text: str, first: int, last: int) -> Html:
    folded = text[first:last]
    if len(folded) <= HEAD_CHARS // 4:
        return esc(folded)
    lines = folded.count("\n") + 1
    size = f"{lines:,} lines, {len(folded):,} characters" if lines > 1 else f"{len(folded):,} characters"
    return el("details", el("summary", f"{size} more"), folded, class_="more")
