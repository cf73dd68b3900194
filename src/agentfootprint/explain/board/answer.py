"""What was answered, and what is found about it? The first panel of the page, in one sentence each.

The finding says no more than its standing allows: ranked, tested, or not known (EXP-1, EXP-5).
"""

from __future__ import annotations

from agentfootprint.explain.board.markup import Html, badge, code, el, esc, join
from agentfootprint.explain.board.shape import Proof, Source, Verdict
from agentfootprint.explain.board.view import View, name_of
from agentfootprint.explain.board.words import DASH, TESTED_WORDS, count, percent_range, points, score

__all__ = ["answer_panel"]

LONG = 600
"""An answer of more characters is set smaller and scrolls."""


def answer_panel(view: View) -> Html:
    """The answer under question and the finding beside it."""
    answer = view.board["answer"]
    question = view.board.get("question")
    expected = answer.get("expected")
    asked = el(
        "p",
        el("span", "Question: ", el("q", question)) if question is not None else None,
        " " if question is not None and expected is not None else None,
        el("span", "Expected: ", el("b", expected)) if expected is not None else None,
        class_="question",
    )
    ended = answer.get("ended")
    return el(
        "section",
        el(
            "div",
            asked,
            el("h1", "Answer under question", id="h-answer"),
            el("p", _with_shared(view), class_=f"said{' is-long' if len(answer['text']) > LONG else ''}", id="said"),
            el(
                "p",
                "Written by ",
                code(answer["step"]),
                f", iteration {answer['iteration']}. ",
                f"The run ended with: {ended}. " if ended is not None else None,
                _shared_note(view),
                class_="caption",
            ),
        ),
        _finding(view),
        class_="panel answer",
        aria_labelledby="h-answer",
    )


def _with_shared(view: View) -> Html:
    text = view.board["answer"]["text"]
    if view.chosen < 0:
        return esc(text)
    out: list[str] = []
    at = 0
    for start, end in view.board["sources"][view.chosen].get("shared", []):
        out += [text[at:start], el("u", text[start:end])]
        at = end
    return join([*out, text[at:]])


def _shared_note(view: View) -> Html | None:
    """Says what the dotted words are; the script keeps the name in step with the chosen source."""
    if view.chosen < 0 or not any("shared" in source for source in view.board["sources"]):
        return None
    source = view.board["sources"][view.chosen]
    name = el("code", name_of(source), id="shared-of")
    return el("span", "Dotted: words shared with ", name, "; the ranking counts these.", id="shared-note")


def _finding(view: View) -> Html:
    proof = view.board.get("proof")
    look, mark, say, how = _untested(view) if proof is None else _tested(view, proof)
    details = el("p", *(part for line in how for part in (*line, " ")), class_="how") if how else None
    return el("div", el("div", mark), el("p", *say, class_="say"), details, class_=f"finding {look}", id="finding")


_Finding = tuple[str, Html, list[str], list[list[str]]]


def _untested(view: View) -> _Finding:
    ranking = view.board["ranking"]
    sources = view.board["sources"]
    scored = [source for source in sources if "score" in source]
    how: list[list[str]] = []
    if "next" in ranking:
        cost = f", {ranking['nextCost']}" if "nextCost" in ranking else ""
        how = [["To test it: ", code(ranking["next"]), f"{cost}."]]
    if not sources:
        say: list[str] = ["No source reached this call beyond the system text, the question and the offered tools."]
        return "is-rank", badge("rank", "Nothing to rank"), say, []
    if not scored:
        reason = ranking.get("note", "no source has recorded words")
        return "is-rank", badge("rank", "Not ranked"), [f"Nothing is ranked: {reason}."], how
    first = scored[0]
    if not ranking["ranked"]:
        return "is-rank", badge("rank", "Ranked, no order"), [_flat(view)], how
    next_score = f"; next {score(scored[1].get('score', 0))}" if len(scored) > 1 else ""
    say = [code(name_of(first)), f" resembles the answer most ({score(first.get('score', 0))} of 1{next_score}). "]
    say += ["Resemblance alone does not show what decided it."]
    return "is-rank", badge("rank", "Ranked, not tested"), say, how


def _flat(view: View) -> str:
    ranking = view.board["ranking"]
    if "lead" not in ranking:
        return f"No order: {ranking['by']} can't separate these sources."
    needs = f"; an order needs {score(ranking['needs'])}" if "needs" in ranking else ""
    return f"No order: the top two differ by {ranking['lead']:.3f}{needs}. {ranking['by']} can't separate them."


def _tested(view: View, proof: Proof) -> _Finding:
    tried = [(source, source["verdict"]) for source in view.board["sources"] if "verdict" in source]
    decisive = [(source, verdict) for source, verdict in tried if verdict["verdict"] == "confirmed"]
    undecided = [(source, verdict) for source, verdict in tried if verdict["verdict"] == "inconclusive"]
    if decisive:
        return _decisive(proof, decisive, _others(tried))
    how = [[f"Stopped: {proof['stopped']}."]] if "stopped" in proof else []
    if "next" in proof:
        how.append(["To go on: ", code(proof["next"]), "."])
    if undecided:
        source, verdict = undecided[0]
        return (
            "is-open",
            badge("open", TESTED_WORDS["inconclusive"]),
            _undecided(source, verdict),
            [*_effect(verdict), *how],
        )
    if not tried:
        return "is-open", badge("open", "Not tested"), ["No source was tested to an end."], how
    joint = proof.get("joint")
    if joint is not None:
        say = [f"Removing all {count(len(tried), 'source')} together: the decision changes in "]
        say += [el("b", f"{joint['flips']} of {joint['samples']}"), " re-runs."]
    else:
        say = [f"No effect found for {'the one source' if len(tried) == 1 else f'any of the {len(tried)} sources'}."]
    return "is-open", badge("none", TESTED_WORDS["not-confirmed"]), say, [*_others(tried), *how]


def _decisive(proof: Proof, decisive: list[tuple[Source, Verdict]], others: list[list[str]]) -> _Finding:
    first, verdict = decisive[0]
    change = "the decision changes"
    if "decision" in proof and "becomes" in verdict:
        change = f"the decision changes from {proof['decision']} to {verdict['becomes']}"
    removed, baseline = verdict["removed"], verdict["baseline"]
    counts: list[str] = [": in ", el("b", f"{removed['flips']} of {removed['samples']}"), " re-runs"]
    if baseline["samples"]:
        counts += [", against ", el("b", f"{baseline['flips']} of {baseline['samples']}"), " with it"]
    say: list[str] = [f"Without the {first['kind']} ", code(name_of(first)), f" {change}", *counts, "."]
    how: list[list[str]] = []
    if len(decisive) > 1:
        names = [part for source, _ in decisive[1:] for part in (", ", code(name_of(source)))][1:]
        together = {"conjunctive": "all of them were needed", "redundant": "each was enough"}
        how.append(
            ["So it does without ", *names, f": {together.get(proof.get('interaction', ''), 'see each below')}."]
        )
    if "recovered" in verdict:
        recovered = verdict["recovered"]
        how.append([f"The expected answer came back in {recovered['flips']} of {recovered['samples']} re-runs."])
    return "is-hit", badge("hit", TESTED_WORDS["proof"]), say, [*how, *_effect(verdict), *others]


def _effect(verdict: Verdict) -> list[list[str]]:
    if verdict.get("basis") == "deterministic":
        return [["Identical pairs decide (model and tools repeat themselves). No interval: a repeat can't differ."]]
    effect = verdict.get("effect")
    if effect is None:
        return []
    ends = f"{points(effect[1])} to {points(effect[2])}"
    return [[f"Effect {points(effect[0])} percentage points, 95 % interval {ends}."]]


def _undecided(source: Source, verdict: Verdict) -> list[str]:
    removed, baseline = verdict["removed"], verdict["baseline"]
    out: list[str] = []
    if baseline["samples"]:
        counts = el("b", f"{baseline['flips']} of {baseline['samples']}")
        out += ["The decision changes by itself in ", counts, " re-runs. "]
    out += [
        "Without ",
        code(name_of(source)),
        " the decision changes in ",
        el("b", f"{removed['flips']} of {removed['samples']}"),
        ": not enough to tell.",
    ]
    return out


def _others(tried: list[tuple[Source, Verdict]]) -> list[list[str]]:
    """The sources without an effect, and how large an effect is not ruled out."""
    plain = [verdict for _, verdict in tried if verdict["verdict"] == "not-confirmed"]
    if not plain:
        return []
    highs = [verdict["removed"].get("interval", [0.0, 0.0])[1] for verdict in plain]
    rest = f": up to {percent_range([0, max(highs)]).partition(DASH)[2]} is not ruled out" if max(highs) else ""
    who = "One other source" if len(plain) == 1 else f"{len(plain)} other sources"
    if len(plain) == len(tried):
        who = "All sources"
    return [[f"{who}: no effect found, which is not “no effect”{rest}."]]
