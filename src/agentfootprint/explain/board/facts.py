"""What was missing, how was it tested, and what can this recording say at all? The panels that state limits.

Every fact that the document leaves out is shown as not known (EXP-4).
"""

from __future__ import annotations

from agentfootprint.explain.board.markup import Html, badge, clipped, code, el, join, unknown
from agentfootprint.explain.board.shape import Dropped, Missing, Proof, RunFacts
from agentfootprint.explain.board.view import View
from agentfootprint.explain.board.words import BY_RULE, DROP_REASONS, count, money, percent_range, seconds

__all__ = ["facts_panel", "missing_panel", "run_line"]

LISTED = 30


def unstated(word: str) -> Html:
    """A value that the recording doesn't state, in place of one."""
    return el("span", word, class_="not-known")


def _rows(rows: list[tuple[str, list[str]]]) -> Html:
    return el("dl", *(part for name, value in rows for part in (el("dt", name), el("dd", *value))), class_="dl")


def missing_panel(view: View) -> Html:
    """What was offered and not sent, what can't be known, the report's limits and how it was tested."""
    missing = view.board["missing"]
    body: list[Html] = []
    if "unknown" in missing:
        body.append(unknown(missing["unknown"]))
    else:
        body += _dropped(missing)
    never = missing.get("neverOffered")
    if never is not None:
        body.append(el("p", el("b", "Never offered: unknown."), f" {_sentence(never)}", class_="note"))
    limits = [el("li", code(limit["flag"]), " ", limit["note"]) for limit in view.board["limits"]]
    body.append(el("h3", "Limits of this report", class_="mini"))
    body.append(el("ul", *limits, class_="limits") if limits else el("p", "None is stated.", class_="note muted"))
    proof = view.board.get("proof")
    if proof is not None:
        body += [el("h3", "How the finding was tested", class_="mini"), _rows(_proof_rows(view, proof))]
    head = el(
        "div",
        el("h2", "What was missing", id="h-missing"),
        el("span", badge("rec", "Recorded"), class_="right"),
        class_="hd",
    )
    return el("section", head, el("div", *body, class_="bd"), class_="panel", aria_labelledby="h-missing")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _dropped(missing: Missing) -> list[Html]:
    dropped = missing.get("dropped")
    by_rule = [] if dropped is None else [unit for unit in dropped if unit["reason"] in BY_RULE]
    others = [] if dropped is None else [unit for unit in dropped if unit["reason"] not in BY_RULE]
    numbers = (
        (missing.get("offered"), "offered"),
        (missing.get("sent"), "sent"),
        (len(by_rule) if dropped is not None else None, "kept out by a rule"),
        (len(others) if dropped is not None else None, "left out by a limit"),
    )
    cells = [
        el("div", el("b", f"{number:,}") if number is not None else unstated("unknown"), " ", name)
        for number, name in numbers
    ]
    out = [el("div", *cells, class_="stat")]
    if dropped is None:
        return [*out, unknown("what was dropped is not recorded")]
    if not dropped:
        return [
            *out,
            el("p", el("b", "Dropped before the call: nothing."), " So there is nothing to restore.", class_="note"),
        ]
    rows = [_unit(unit) for unit in dropped[:LISTED]]
    if len(dropped) > LISTED:
        rows.append(el("li", f"and {len(dropped) - LISTED:,} more"))
    return [*out, el("ul", *rows, class_="limits")]


def _unit(unit: Dropped) -> Html:
    why = DROP_REASONS.get(unit["reason"], unit["reason"])
    kind = f"{unit['kind']}, " if "kind" in unit else ""
    text = el("span", clipped(unit["text"], 160), class_="x") if "text" in unit else None
    return el("li", code(unit["id"]), f" {kind}{why}", text)


def _proof_rows(view: View, proof: Proof) -> list[tuple[str, list[str]]]:
    tools = {"replay": "replayed from the recording", "stub": "stubbed", "live": "called live"}[proof["tools"]]
    rows: list[tuple[str, list[str]]] = [
        ("Compared by", [proof["compare"]]),
        ("Re-runs", [f"{proof['runs']:,}; tools {tools}"]),
    ]
    for source in view.board["sources"]:
        verdict = source.get("verdict")
        if verdict is not None and "evidence" in verdict:
            needs = f", needs {verdict['needed']:.0f}" if "needed" in verdict else ""
            rows.append(("Evidence", [code(source["id"]), f" e = {verdict['evidence']:.1f}{needs}"]))
    if "alpha" in proof:
        rows.append(("Error level", [f"{proof['alpha'] * 100:g} % over {count(len(view.board['sources']), 'source')}"]))
    if "joint" in proof:
        joint = proof["joint"]
        ends = f" ({percent_range(joint['interval'])})" if "interval" in joint else ""
        rows.append(("All removed", [f"changes in {joint['flips']} of {joint['samples']}{ends}"]))
    rows.append(("Intervals", ["95 %; Wilson for a share, Newcombe for a difference of shares"]))
    spent = [f"{proof['tokens']:,} tokens" if "tokens" in proof else "tokens unknown", money(proof.get("usd"))]
    spent.append(seconds(proof["seconds"]) if "seconds" in proof else "time unknown")
    rows.append(("Spent", [", ".join(spent)]))
    rows += [("Note", [note]) for note in proof.get("notes", [])]
    return rows


def facts_panel(view: View) -> Html:
    """What the recording is, how complete, and what it can't say."""
    facts = view.board["recording"]
    rows = [*_run_rows(facts), *_record_rows(facts)]
    for fact in facts.get("facts", []):
        value: list[str] = [fact["text"]] if "text" in fact else []
        if "unknown" in fact:
            value = [*value, "; " if value else "", unstated(fact["unknown"])]
        rows.append((fact["name"], value))
    head = el("div", el("h2", "What this recording can say", id="h-facts"), class_="hd")
    return el("section", head, el("div", _rows(rows), class_="bd"), class_="panel", aria_labelledby="h-facts")


def _run_rows(facts: RunFacts) -> list[tuple[str, list[str]]]:
    tokens = _tokens(facts)
    return [
        ("Run", [code(facts["runId"]), f", {_model(facts)}"]),
        ("Tokens", [f"{tokens[0]} in, {tokens[1]} out"]),
        ("Cost", [money(facts["costUsd"])] if "costUsd" in facts else [unstated("not priced")]),
    ]


def _tokens(facts: RunFacts) -> tuple[str, str]:
    counts = (facts.get("tokensIn"), facts.get("tokensOut"))
    given, said = ("unknown" if number is None else f"{number:,}" for number in counts)
    return given, said


def _model(facts: RunFacts) -> str:
    model = facts.get("model", "model not recorded")
    return f"{model} ({facts['provider']})" if "provider" in facts else model


def _record_rows(facts: RunFacts) -> list[tuple[str, list[str]]]:
    complete = facts.get("complete")
    kept = [f"{facts['events']:,} kept; "] if "events" in facts else [unstated("number not stated"), "; "]
    lost = facts.get("dropped")
    redacted = facts.get("redacted")
    untracked = facts.get("untracked")
    clock = facts["clock"]
    done = "yes" if complete else "no, stated by the recorder"
    late = ["order is real; durations are ", unstated("unusable"), f": {clock.get('why', 'not recorded')}"]
    return [
        ("Complete", [unstated("not stated") if complete is None else done]),
        ("Events", [*kept, unstated("dropped: not stated") if lost is None else f"{lost:,} dropped"]),
        ("Commits", [f"{facts['commits']:,}" if "commits" in facts else unstated("number not stated")]),
        ("Redacted", [unstated("not stated")] if redacted is None else _names(redacted, "nothing")),
        ("Clock", ["usable"] if clock["usable"] else late),
        ("Reads", [unstated("not tracked")] if untracked is None else ["tracked", *_untracked(untracked)]),
        ("Decisions", [_stated(facts.get("decisionEdges"), "recorded, with their edges", "no decision edges")]),
        ("Chart", [_stated(facts.get("chart"), "in the file", "not in the file")]),
        ("Audit chain", _audit(facts.get("audit"))),
    ]


def _stated(value: bool | None, yes: str, no: str) -> str:
    if value is None:
        return unstated("not stated")
    return yes if value else unstated(no)


def _audit(state: str | None) -> list[str]:
    if state is None:
        return [unstated("not stated")]
    return [unstated("none"), ": edits would not be noticed"] if state == "none" else [state]


def _names(names: list[str], none: str) -> list[str]:
    if not names:
        return [none]
    return [count(len(names), "key"), ": ", join(part for name in names for part in (" ", code(name)))]


def _untracked(steps: list[str]) -> list[str]:
    if not steps:
        return []
    more = f" and {len(steps) - 3} more" if len(steps) > 3 else ""  # noqa: PLR2004  enough to see which
    names = join(part for step in steps[:3] for part in (" ", code(step)))
    return [f"; {count(len(steps), 'step')} also read untracked run input:", names, more]


def run_line(view: View) -> Html:
    """The run in one line, for the top of the page."""
    facts = view.board["recording"]
    tokens = _tokens(facts)
    model = el(
        "span",
        "model ",
        el("b", facts.get("model", "not recorded")),
        f" ({facts['provider']})" if "provider" in facts else "",
    )
    parts = [
        el("span", "run ", el("b", facts["runId"], class_="mono")),
        model,
        *(
            _counted(number, one)
            for number, one in ((facts["iterations"], "iteration"), (facts["toolCalls"], "tool call"))
        ),
        el("span", el("b", tokens[0]), " tokens in, ", el("b", tokens[1]), " out"),
        el("span", "cost ", el("b", money(facts.get("costUsd")))),
        el("span", "ended ", el("b", facts["ended"])) if "ended" in facts else None,
    ]
    return join(parts)


def _counted(number: int, one: str) -> Html:
    return el("span", el("b", f"{number:,}"), f" {one}" if number == 1 else f" {one}s")
