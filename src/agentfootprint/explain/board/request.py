"""What was the model given, word for word, and which of its words are the source's?

One request is drawn once; the script redraws it by the same rules when another source or call is chosen.
"""

from __future__ import annotations

from agentfootprint.explain.board.markup import Html, el, esc, marked, unknown
from agentfootprint.explain.board.shape import BoardRecord, Call, Slot, SlotName
from agentfootprint.explain.board.view import SLOT_TITLES, View
from agentfootprint.explain.board.words import DASH, characters, count

__all__ = ["request_box"]

HEAD_RECORDS = 6
TAIL_RECORDS = 14
SHORT = 60
DRAWN = 100
"""A longer stretch of folded records is drawn by the script, when it is opened."""
"""Of a long slot these many records stand open at each end, and every record of the chosen source."""


def request_box(view: View, call: Call) -> Html:
    """The whole request of a call, the chosen source's words marked."""
    chosen = view.board["sources"][view.chosen]["id"] if view.chosen >= 0 else None
    order = SLOT_TITLES
    if chosen is not None and any(record.get("source") == chosen for record in view.records(call["messages"])):
        order = (order[1], order[0], order[2])
    parts = [part for name, title in order for part in _slot(view, call[name], name, title, chosen)]
    return el(
        "div", *parts, class_="req", id="request", role="region", tabindex=0, aria_label="The request, word for word"
    )


def slot_size(view: View, slot: Slot, name: SlotName) -> str:
    """What the bar above a slot says: how much is in it, and whether the recorded length agrees."""
    records = view.records(slot)
    if name == "tools":
        return f"{len(records)} offered"
    if name == "messages":
        budget = f"; {characters(slot['chars'])} recorded" if "chars" in slot else ""
        return f"{len(records)} sent{budget}"
    words = view.words_of("system", slot)
    if words is None:
        lost = sum("unknown" in record for record in records)
        length = f"{characters(slot['chars'])} recorded at the call" if "chars" in slot else "no length recorded"
        return f"{lost} of {count(len(records), 'piece')} without words; {length}"
    if "chars" not in slot:
        return f"{characters(words)}; no length recorded at the call"
    agrees = "agrees" if slot["chars"] == words else f"says {slot['chars']:,}: some words are not shown here"
    return f"{characters(words)}; the length recorded at the call {agrees}"


def _slot(view: View, slot: Slot, name: SlotName, title: str, chosen: str | None) -> list[Html]:
    if "unknown" in slot:
        return [_bar(title, ""), unknown(slot["unknown"])]
    records = view.records(slot)
    if name == "tools" and len(records) == 1 and len(records[0]["text"]) <= SHORT and "source" not in records[0]:
        return [_bar(title, f"1 offered: {_label(records[0], 0)[0]}, “{records[0]['text']}”")]
    bar = _bar(title, slot_size(view, slot, name) if records else "none")
    segments: list[Html] = []
    start = 0
    for position, record in enumerate(records):
        where = None
        if name == "system" and "joinedBy" in slot and view.words_of(name, slot) is not None:
            where = f"{start}{DASH}{max(start, start + len(record['text']) - 1)}"
            start += len(record["text"]) + len(slot["joinedBy"])
        segments.append(_segment(view, record, position, where, chosen))
    hidden = range(HEAD_RECORDS, len(records) - TAIL_RECORDS)
    if len(hidden) < HEAD_RECORDS:
        return [bar, *segments]
    open_ones = {at for at in hidden if chosen is not None and records[at].get("source") == chosen}
    return [bar, *_folded(records, segments, hidden, open_ones)]


def _folded(records: list[BoardRecord], segments: list[Html], hidden: range, open_ones: set[int]) -> list[Html]:
    out = segments[: hidden.start]
    run: list[int] = []
    for at in (*hidden, hidden.stop):
        if at < hidden.stop and at not in open_ones:
            run.append(at)
            continue
        if run:
            size = sum(len(records[index]["text"]) for index in run)
            head = f"{run[0] + 1} to {run[-1] + 1} folded: {count(len(run), 'record')}, {characters(size)}"
            inside = [segments[index] for index in run]
            if len(run) > DRAWN:
                inside = [el("p", "These records stand in the document embedded in this page.", class_="static whole")]
            later = len(run) > DRAWN
            out.append(el("details", el("summary", head), *inside, class_="between", data_later=later))
            run = []
        if at < hidden.stop:
            out.append(segments[at])
    return out + segments[hidden.stop :]


def _bar(title: str, size: str) -> Html:
    return el("div", el("b", title), el("span", size), class_="bar")


def _segment(view: View, record: BoardRecord, position: int, where: str | None, chosen: str | None) -> Html:
    is_chosen = chosen is not None and record.get("source") == chosen
    look = ""
    start = end = 0
    if is_chosen:
        look = " is-hit" if view.decides(view.board["sources"][view.chosen]) else " is-of"
        start, end = record.get("span", [0, len(record["text"])])
    name, note = _label(record, position)
    label = el("div", el("b", name), el("span", note if where is None else f"{note} · {where}"), class_="src")
    if "unknown" in record:
        words = unknown(record["unknown"])
    else:
        words = el("div", marked(record["text"], start, end), *_asked(record), class_="tx")
    return el("div", label, words, class_=f"seg{look}")


def _label(record: BoardRecord, position: int) -> tuple[str, str]:
    if record["slot"] == "messages":
        role = f"{record['kind']}, " if "id" in record else ""
        return record.get("id", record["kind"]), f"{role}message {position + 1}"
    return record.get("id", record["kind"]), record["kind"]


def _asked(record: BoardRecord) -> list[Html]:
    lead = "" if record["text"] else "(no text) "
    return [
        el("span", esc(f"{lead if at == 0 else ''}calls {call['name']}({call['arguments']})"), class_="asks")
        for at, call in enumerate(record.get("calls", []))
    ]
