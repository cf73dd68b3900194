"""How did a source get from its declaration into the answer? Five links, the newest first.

Every chain of the document is in the page; a link that was not recorded stands there and says why (CUS-3). The chain
opens at READ, with the request word for word.
"""

from __future__ import annotations

import re

from agentfootprint.explain.board.markup import Html, badge, code, el, join, marked, unknown
from agentfootprint.explain.board.request import request_box
from agentfootprint.explain.board.shape import Hop
from agentfootprint.explain.board.view import View, name_of
from agentfootprint.explain.board.words import HOP_NAMES

__all__ = ["custody_panel"]


def custody_panel(view: View) -> Html:
    """The chain of each source; the script shows one at a time, without it they stand one below the other."""
    sources = view.board["sources"]
    head = el(
        "div",
        el("h2", "Chain of custody", id="h-custody"),
        el("span", *_subject(view), class_="sub"),
        el("span", badge("rec", "Recorded"), class_="right"),
        class_="hd",
    )
    order = sorted(range(len(sources)), key=lambda index: index != view.chosen)
    chains = [_chain(view, index) for index in order]
    return el("section", head, *(chains or [_only_request(view)]), class_="panel custody", aria_labelledby="h-custody")


def _subject(view: View) -> list[str]:
    if view.chosen < 0:
        return ["no source to follow"]
    name = el("code", name_of(view.board["sources"][view.chosen]), id="custody-of")
    return ["of ", name, ", from the answer back to its origin"]


def _only_request(view: View) -> Html:
    call = view.answer_call
    body = unknown("the prompt of this call is not in the document") if call is None else request_box(view, call)
    return el("div", body, class_="hop-body")


def _chain(view: View, index: int) -> Html:
    source = view.board["sources"][index]
    hops = view.board["custody"][source["id"]]
    ordered = sorted(hops, key=lambda hop: HOP_NAMES.index(hop["step"]))
    known = {hop["step"] for hop in ordered}
    links = [_link(view, index, hop) for hop in ordered]
    links += [_gap(name) for name in HOP_NAMES if name not in known]
    title = el("h3", "Custody of ", code(name_of(source)), class_="static")
    return el("div", title, *links, class_="chain", data_source=index)


def _gap(name: str) -> Html:
    body = el("div", unknown("this link is not in the report"), class_="hop-body")
    return el("section", _heading(name, None), body, class_="hop is-unknown", data_hop=name)


def _heading(name: str, at: str | None) -> Html:
    return el("h4", el("b", name.upper()), " ", code(at) if at is not None else None)


def _link(view: View, index: int, hop: Hop) -> Html:
    if "unknown" in hop:
        detail = el("p", hop["detail"], class_="hopsay") if hop["detail"] else None
        body = [detail, unknown(hop["unknown"])]
    else:
        body = [_sentence(hop), _evidence(view, index, hop)]
    return el(
        "section",
        _heading(hop["step"], hop.get("at")),
        el("div", *body, class_="hop-body"),
        class_=f"hop{' is-unknown' if 'unknown' in hop else ''}",
        data_hop=hop["step"],
        data_at=hop.get("at"),
    )


def _sentence(hop: Hop) -> Html:
    at = hop.get("at")
    head = join((el("b", at, class_="mono"), " ")) if at is not None else None
    return el("p", head, *_with_names(hop["detail"], hop.get("variable")), class_="hopsay")


def _with_names(text: str, variable: str | None) -> list[str]:
    """A sentence with its step ids, and the state key it is about, set as names."""
    names = r"[\w./-]*\w#\d+" if variable is None else rf"[\w./-]*\w#\d+|\b{re.escape(variable)}\b"
    parts = re.split(f"({names})", text)
    return [code(part) if at % 2 else part for at, part in enumerate(parts)]


def _evidence(view: View, index: int, hop: Hop) -> Html | None:
    call = view.answer_call
    if hop["step"] == "read" and call is not None and hop.get("at") == call["step"]:
        if index == view.chosen:
            return el("div", _not_found(view, index), request_box(view, call), class_="request-here")
        link = el("a", "the request, word for word", href="#request")
        return el("div", _not_found(view, index), el("p", "See ", link, ".", class_="static"), class_="request-here")
    if "content" not in hop:
        return None
    content, highlight = hop["content"], hop.get("highlight", "")
    start = _place_of(view, index, hop)
    if start < 0:  # it stands there more than once, and nothing says which one it is (CUS-4)
        highlight, start = "", 0
    end = start + len(highlight)
    look = ""
    if highlight:
        look = " is-hit" if view.decides(view.board["sources"][index]) else " is-of"
    bar = el("div", el("b", hop.get("variable", hop["step"])), class_="bar")
    words = el("div", marked(content, start, end), class_="tx")
    return el("div", bar, el("div", words, class_=f"seg whole{look}"), class_="req")


def _place_of(view: View, index: int, hop: Hop) -> int:
    """Where the marked text begins in a hop's content; -1 when it stands there often and which one is not known.

    A prompt is its records put together, so where the source's own record begins says which of two equal texts it is.
    """
    content, highlight = hop.get("content", ""), hop.get("highlight", "")
    start = content.find(highlight)
    if not highlight or content.find(highlight, start + 1) < 0:
        return start
    source = view.board["sources"][index]["id"]
    for call in view.board["calls"]:
        joint = call["system"].get("joinedBy")
        if call["step"] != hop.get("at") or joint is None:
            continue
        place = 0
        for record in view.records(call["system"]):
            if record.get("source") == source and content.startswith(highlight, place) and record["text"] == highlight:
                return place
            place += len(record["text"]) + len(joint)
    return -1


def _not_found(view: View, index: int) -> Html | None:
    """Highlight nothing rather than something near it (CUS-4)."""
    call = view.answer_call
    source = view.board["sources"][index]["id"]
    slots = () if call is None else (call["system"], call["messages"], call["tools"])
    if any(record.get("source") == source for slot in slots for record in view.records(slot)):
        return None
    return el(
        "p", el("span", "Its recorded words were not found in this request, so nothing is marked."), class_="unknown"
    )
