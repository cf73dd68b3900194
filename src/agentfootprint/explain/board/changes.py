"""What came into the context, what went, and what stayed, between two model calls?

Two records are the same one exactly when they have one index in the document; texts are not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agentfootprint.explain.board.markup import Html, clipped, code, el, unknown
from agentfootprint.explain.board.shape import Call, Slot, SlotName
from agentfootprint.explain.board.view import SLOT_TITLES, View
from agentfootprint.explain.board.words import DASH, MINUS, count

__all__ = ["Change", "changes_between", "changes_panel"]

LISTED = 40
"""As many records of a change are listed; the number of the others is said."""
NAMED = 6


@dataclass(frozen=True, slots=True)
class Change:
    """One slot of two calls, as indices of records."""

    came: tuple[int, ...]
    went: tuple[int, ...]
    carried: int


def changes_between(before: Sequence[int], after: Sequence[int]) -> Change:
    """What differs between two lists of record indices; an index that stands twice counts twice."""
    old, new = Counter(before), Counter(after)
    return Change(_more(after, old), _more(before, new), (old & new).total())


def _more(indices: Sequence[int], known: Counter[int]) -> tuple[int, ...]:
    left = Counter(known)
    out: list[int] = []
    for index in indices:
        if left[index]:
            left[index] -= 1
        else:
            out.append(index)
    return tuple(out)


def changes_panel(view: View) -> Html:
    """The change into the call that wrote the answer; the script offers every other pair."""
    call = view.answer_call
    head = el("div", el("h2", "What changed in the context", id="h-changes"), class_="hd")
    if call is None:
        body: list[Html | None] = [unknown("the prompt of the call that wrote the answer is not in the document")]
    else:
        before = view.call_before(call)
        body = [
            el("p", "from ", _call_name(before), " to ", _call_name(call), id="changes-between", class_="small muted"),
            el("div", *_pair(view, before, call), id="changes-pair"),
            *_overview(view),
            el("p", "Compared by recorded identity: records · characters of text.", class_="small muted"),
        ]
    return el("section", head, el("div", *body, class_="bd"), class_="panel", aria_labelledby="h-changes", id="changes")


def _call_name(call: Call | None) -> Html:
    return (
        el("span", "before the run")
        if call is None
        else el("span", f"iteration {call['iteration']}, ", code(call["step"]))
    )


def _pair(view: View, before: Call | None, after: Call) -> list[Html]:
    rows: list[Html] = []
    lines: list[Html] = []
    for name, title in SLOT_TITLES:
        old: Slot = before[name] if before is not None else {"records": []}
        new = after[name]
        if "unknown" in old or "unknown" in new:
            why = old.get("unknown") or new.get("unknown", "")
            cell = el("td", el("span", f"{why}: can't be compared"), class_="unknown", colspan=3)
            rows.append(el("tr", el("th", title, scope="row"), cell))
            continue
        change = changes_between(tuple(view.indices(old)), tuple(view.indices(new)))
        cells = [el("td", _size(view, name, slot), class_="num") for slot in (old, new)]
        rows.append(el("tr", el("th", title, scope="row"), *cells, el("td", _summary(change), class_="num")))
        lines += [_line(view, index, title, came=True) for index in change.came]
        lines += [_line(view, index, title, came=False) for index in change.went]
    rows.append(_tokens(before, after))
    heads = [el("th", head, scope="col") for head in ("slot", "from", "to", "change")]
    table = el("table", el("thead", el("tr", *heads)), el("tbody", *rows))
    if not lines:
        return [table, el("p", "Nothing came and nothing went.", class_="note")]
    more = el("li", f"and {len(lines) - LISTED:,} more", class_="rest") if len(lines) > LISTED else None
    return [table, el("ul", *lines[:LISTED], more, class_="diff", aria_label="Records that came and went")]


def _size(view: View, name: SlotName, slot: Slot) -> str:
    records = view.records(slot)
    words = view.words_of(name, slot)
    return f"{len(records):,} · {'unknown' if words is None else f'{words:,}'} ch"


def _summary(change: Change) -> str:
    signs = [f"+{len(change.came)}" if change.came else "", f"{MINUS}{len(change.went)}" if change.went else ""]
    return " ".join(sign for sign in signs if sign) or "no change"


def _tokens(before: Call | None, after: Call) -> Html:
    old = before.get("tokensIn") if before is not None else None
    new = after.get("tokensIn")
    cells = [
        DASH if before is None else "unknown" if old is None else f"{old:,}",
        "unknown" if new is None else f"{new:,}",
    ]
    change = DASH if old is None or new is None else f"{'+' if new >= old else MINUS}{abs(new - old):,}"
    return el("tr", el("th", "Tokens in", scope="row"), *(el("td", cell, class_="num") for cell in (*cells, change)))


def _line(view: View, index: int, title: str, *, came: bool) -> Html:
    record = view.board["records"][index]
    sign, look, word = ("+", "came", "came") if came else (MINUS, "went", "went")
    asked = "; ".join(f"calls {call['name']}({call['arguments']})" for call in record.get("calls", []))
    text = record["text"] or asked or f"unknown: {record.get('unknown', 'no text')}"
    return el(
        "li",
        el("span", sign, class_="m", aria_hidden="true"),
        el("span", el("span", f"{word}, {title}: ", class_="sr"), record["kind"], _id(record.get("id")), class_="w"),
        el("span", clipped(text), class_="x"),
        class_=look,
    )


def _id(name: str | None) -> Html | None:
    return None if name is None else el("code", name)


def _overview(view: View) -> list[Html]:
    """In which iterations each slot changed, when there are more calls than the pair."""
    calls = view.board["calls"]
    if len(calls) < 3:  # noqa: PLR2004  a pair is shown already
        return []
    rows: list[Html] = []
    for name, title in SLOT_TITLES:
        at = [new["iteration"] for old, new in pairwise(calls) if old[name]["records"] != new[name]["records"]]
        where = ", ".join(str(number) for number in at[:NAMED])
        more = f" and {len(at) - NAMED} more" if len(at) > NAMED else ""
        text = f"changed before iteration {where}{more}" if at else "never changed"
        if len(at) == len(calls) - 1:
            text = f"changed before every call ({count(len(at), 'time')})"
        if all("unknown" in call[name] for call in calls):
            text = "not known"
        rows.append(el("li", el("b", title), " ", text))
    whole = view.board["recording"]["modelCalls"]
    over = (
        f"Over all {whole:,} calls"
        if len(calls) >= whole
        else f"Over the {len(calls):,} calls shown here, of {whole:,}"
    )
    return [el("h3", over, class_="mini"), el("ul", *rows, class_="overview")]
