"""Which sources reached the call, how alike are they to the answer, and what did re-runs say about each?

Each source is one choice of a list; without re-runs there is no verdict in it, not an empty one (EXP-3).
"""

from __future__ import annotations

from agentfootprint.explain.board.markup import Html, badge, code, el, gauge, interval_bar
from agentfootprint.explain.board.shape import Rate, Source
from agentfootprint.explain.board.view import View, name_of
from agentfootprint.explain.board.words import DASH, TESTED_WORDS, count, of_rate, score

__all__ = ["sources_panel"]

SHOWN = 6
"""As many sources stand open; the others are folded and keep their true rank (BRD-2)."""


def sources_panel(view: View) -> Html:
    """The sources in ranked order, one to choose."""
    sources = view.board["sources"]
    ranking = view.board["ranking"]
    cards = [_card(view, index, source) for index, source in enumerate(sources)]
    rest = cards[SHOWN:]
    if rest:
        more = el("summary", f"{count(len(rest), 'more source')}, lower in the list")
        folded = el("details", more, el("div", *rest, class_="cards"), class_="fold", open=view.chosen >= SHOWN)
        cards = [*cards[:SHOWN], folded]
    lead = f"lead {score(ranking['lead'])}" if ranking["ranked"] and "lead" in ranking else "no order"
    scored = any("score" in source for source in sources)
    return el(
        "section",
        el(
            "div",
            el("h2", "Sources that reached the call", id="h-sources"),
            el("span", lead, class_="sub") if scored else None,
            el("span", f"by {ranking['by']}", class_="right sub") if scored else None,
            class_="hd",
        ),
        el("div", *cards, class_="cards", role="radiogroup", aria_labelledby="h-sources"),
        el("p", "No source but the system text, the question and the offered tools.", class_="fold")
        if not cards
        else None,
        el("p", _legend(view), class_="fold"),
        _also_read(view),
        class_="panel",
        aria_labelledby="h-sources",
    )


def _legend(view: View) -> str | None:
    ranking = view.board["ranking"]
    if not any("score" in source for source in view.board["sources"]):
        return "A source without recorded words is listed, never scored."
    needs = f" An order needs a lead of {score(ranking['needs'])}." if "needs" in ranking else ""
    if view.tested:
        return "Lines: how often the decision changes, with its 95 % interval."
    return f"Dashed: resemblance to the answer.{needs}"


def _card(view: View, index: int, source: Source) -> Html:
    ordinal = str(index + 1) if view.board["ranking"]["ranked"] and "score" in source else DASH
    key = f"source-{index}"
    chosen = index == view.chosen
    return el(
        "label",
        el(
            "input",
            type="radio",
            name="source",
            id=key,
            value=index,
            checked=chosen,
            aria_labelledby=f"{key}-name",
            aria_describedby=f"{key}-more",
        ),
        el(
            "span",
            el("span", ordinal, class_="no", title=None if ordinal != DASH else "not ordered"),
            el(
                "span",
                el("span", name_of(source), class_="nm"),
                " ",
                el("span", source["kind"], class_="kind"),
                " ",
                _stamp(source, tested=view.tested),
                class_="head",
                id=f"{key}-name",
            ),
            class_="r1",
        ),
        el(
            "span",
            el("span", _words(source), class_="tx"),
            el("span", *_measures(source), class_="gauge"),
            id=f"{key}-more",
        ),
        class_=f"card{' is-hit' if view.decides(source) else ''}",
    )


def _words(source: Source) -> Html | str:
    if "text" not in source:
        return el("span", el("span", "Its words are not recorded."), class_="unknown")
    text = source["text"]
    return text if len(text) <= 300 else text[:300] + "…"  # noqa: PLR2004  two lines are shown; the whole stands in the prompt


def _stamp(source: Source, *, tested: bool) -> Html | None:
    if not tested:
        return None
    verdict = source.get("verdict")
    if verdict is None:
        return badge("open", "Not tested")
    standing = {"confirmed": "hit", "not-confirmed": "none", "inconclusive": "open"}[verdict["verdict"]]
    return badge(standing, TESTED_WORDS[verdict["verdict"]])


def _measures(source: Source) -> list[Html]:
    out: list[Html] = []
    if "score" in source:
        out += [gauge(source["score"]), _value("resembles", f"{score(source['score'])} of 1")]
    else:
        reason = source.get("unscored", "no words to score")
        out.append(el("span", el("span", f"Not scored: {reason}."), class_="unknown wide"))
    verdict = source.get("verdict")
    if verdict is None:
        if "untested" in source:
            out.append(el("span", f"Not tested: {source['untested']}.", class_="wide"))
        return out
    look = "hit" if verdict["verdict"] == "confirmed" else "plain"
    out += [_bar(verdict["removed"], look), _value("without it", of_rate(verdict["removed"]))]
    out += [_bar(verdict["baseline"], "base"), _value("with it", of_rate(verdict["baseline"]), quiet=True)]
    if "narrowedTo" in verdict:
        out.append(el("span", "narrowed to: ", el("q", verdict["narrowedTo"]), class_="wide"))
    return out


def _bar(rate: Rate, look: str) -> Html:
    if not rate["samples"]:
        return el("span", class_="ci")
    low, high = rate.get("interval", [None, None])
    return interval_bar(rate["flips"] / rate["samples"], low, high, look)


def _value(name: str, text: str, *, quiet: bool = False) -> Html:
    return el("span", el("span", name, " "), text, class_="v muted" if quiet else "v")


def _also_read(view: View) -> Html | None:
    call = view.answer_call
    known = {source["id"] for source in view.board["sources"]}
    base = 0
    if call is not None:
        slots = (call["system"], call["messages"], call["tools"])
        base = sum(record.get("source") not in known for slot in slots for record in view.records(slot))
    steps = view.board["plumbing"]
    if not steps and not base:
        return None
    rows = [el("li", code(step["step"]), el("span", step["note"])) for step in steps]
    if base:
        rows.insert(
            0, el("li", el("span", "baseline"), el("span", "system text, the user's words, the model's own, tools"))
        )
    head = f"Also read, no sources: {count(len(steps), 'plumbing step')}, {count(base, 'baseline record')}"
    return el("details", el("summary", head), el("ul", *rows), class_="fold")
