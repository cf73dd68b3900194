"""Which steps did the run take? The timeline's frame, and the same in words for readers without it.

The picture is drawn by the script from the document; the table is complete up to 40 iterations and above that shows
the ends and one line for what lies between.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from agentfootprint.explain.board.markup import Html, code, el
from agentfootprint.explain.board.shape import Moment
from agentfootprint.explain.board.view import View
from agentfootprint.explain.board.words import DASH, count

__all__ = ["timeline_panel"]

WHOLE = 40
ENDS = 5


def timeline_panel(view: View) -> Html:
    """The timeline's panel; its picture is filled in by the script."""
    moments = view.board["timeline"]
    clock = view.board["recording"]["clock"]
    times = "with recorded durations" if clock["usable"] else f"durations unknown: {clock.get('why', 'not recorded')}"
    head = el(
        "div",
        el("h2", "Run timeline", id="h-timeline"),
        el("span", f"{count(len(moments), 'step')} in order; {times}", class_="sub"),
        class_="hd",
    )
    table = el("details", el("summary", "The same steps as a table"), _table(moments), class_="fold steps")
    picture = el("div", id="timeline", class_="tlbody")
    return el("section", head, picture, table, class_="panel tl", aria_labelledby="h-timeline")


def _table(moments: list[Moment]) -> Html:
    groups = [(iteration, list(group)) for iteration, group in groupby(moments, key=lambda moment: moment["iteration"])]
    heads = [el("th", name, scope="col") for name in ("it", "step", "what happened")]
    rows: list[Html] = []
    if len(groups) <= WHOLE:
        rows = [row for _, group in groups for row in map(_row, group)]
    else:
        rows += [row for _, group in groups[:ENDS] for row in map(_row, group)]
        rows.append(_block(groups[ENDS:-ENDS]))
        rows += [row for _, group in groups[-ENDS:] for row in map(_row, group)]
    return el("div", el("table", el("thead", el("tr", *heads)), el("tbody", *rows)), class_="scroll")


def _row(moment: Moment) -> Html:
    happened = f"unknown: {moment['unknown']}" if "unknown" in moment else moment["title"]
    iteration = str(moment["iteration"]) if moment["iteration"] else DASH
    return el("tr", el("td", iteration, class_="num"), el("td", code(moment["step"])), el("td", happened))


def _block(groups: list[tuple[int, list[Moment]]]) -> Html:
    moments = [moment for _, group in groups for moment in group]
    tools = Counter(moment["title"] for moment in moments if moment["kind"] == "tool")
    calls = sum(moment["kind"] == "model" for moment in moments)
    fresh = Counter(
        moment["kind"]
        for moment in moments
        if moment["kind"] in {"system", "messages", "tools"} and not moment.get("carried")
    )
    told = [count(calls, "model call"), *(f"{title} {count(number, 'time')}" for title, number in tools.most_common(5))]
    told += [f"{kind} changed {count(number, 'time')}" for kind, number in fresh.items()]
    lost = sum("unknown" in moment for moment in moments)
    if lost:
        told.append(f"{count(lost, 'step')} unknown")
    span = f"{groups[0][0]}{DASH}{groups[-1][0]}"
    return el("tr", el("td", span, class_="num"), el("td", count(len(moments), "step")), el("td", "; ".join(told)))
