"""An explanation as text for people, in the words and the layout of the first hour, at most 80 columns wide.

Recorded, ranked and proven things look different and are never mixed: a text without re-runs has no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from agentfootprint.explain.reading.ending import gave_answer
from agentfootprint.explain.sequential import SequentialRule, expected_runs
from agentfootprint.explain.statistics import wilson_interval
from agentfootprint.explain.words import (
    STANDING_MARKS,
    VERDICT_WORDS,
    counted,
    display_width,
    effect_text,
    escaped,
    evidence_text,
    folded,
    interval_text,
    money_text,
    quoted,
    score_text,
    seconds_text,
)

if TYPE_CHECKING:
    from agentfootprint.explain.explanation import Why
    from agentfootprint.explain.model import CustodyHop, Suspect, VerdictStats

__all__ = ["one_line", "proof_summary", "tell", "tell_custody", "tell_proof", "unique_tested"]

_LABEL: Final = 9
_CONTEXT_LINES: Final = 2
_QUOTE_INDENT: Final = 11
_BAR: Final = 20
_SHORTEST_BAR: Final = 8
_FIXED: Final = 34
"""Columns of a row of the table beside the name and the bar."""
_MOST_ROWS: Final = 20
"""So many sources are listed, in a whole text too: the others can be read by a program."""
_WORDS: Final = re.compile(r"""(?:'[^']*'|"[^"]*"|\S)+""")
"""The words of a command, as a shell tells them apart."""
_COMMAND: Final = "agentfootprint "
"""How the way to test it begins where the text is printed by the command."""
_INNOCENT: Final = "not-confirmed"
_PROOF_FLAGS: Final = frozenset({"agent-changed", "agent-not-compared", "baseline-unstable", "proof-stopped"})
"""Limits of the re-runs, which stand beside their verdicts."""


def tell(why: Why, *, width: int = 80, whole: bool = False, to_prove: str = "result.prove_sync()") -> str:
    """The whole explanation.

    Args:
        why: The explanation.
        width: Columns.
        whole: Whether quotes are shown whole, on lines of their own, instead of cut with `...`.
        to_prove: What the last line offers as the way to test it.
    """
    parts: list[str] = []
    if why.report.mode == "causal":
        parts.append(tell_proof(why, width=width))
    parts.append(_headline(why, width, whole=whole))
    parts.append(_sources(why, width, whole=whole, all_in="--json" if to_prove.startswith(_COMMAND) else ".sources"))
    source = why.source()
    if source is not None:
        parts.append(tell_custody(source.name, why.custody(source.id), width=width))
    parts.append("\n".join([_missing(why, width), _limits(why, width)]))
    if why.report.mode != "causal" and why.sources:
        parts.append(_way_to_prove(why, to_prove, width))
    return "\n\n".join(parts)


def _way_to_prove(why: Why, to_prove: str, width: int) -> str:
    """The last line of a text without re-runs: what to do to know more, and about what it takes."""
    removable = {suspect.ablation for suspect in why.sources} - {None}
    if not removable or "agent" not in why.recording.header:
        return "Nothing here is proven, and it can't be tested: this run can't be run again."
    if why.step != why.recording.calls[-1].step or not gave_answer(why.recording):
        return "Nothing here is proven, and it can't be tested: only a run's answer can be."
    runs = expected_runs(SequentialRule(sources=len(removable)))
    said = "Nothing here is proven. To test it:"
    line = f"{said}  {to_prove}  about {runs} re-runs"
    return line if display_width(line) <= width else f"{said}  about {runs} re-runs\n{_pasted(to_prove, width)}"


def _pasted(command: str, width: int) -> str:
    """A command on lines that a shell reads as one; a word is never broken."""
    lines = [" "]
    words = _WORDS.findall(command)
    for number, word in enumerate(words, 1):
        rest = " \\" if number < len(words) else ""
        if lines[-1].strip() and display_width(f"{lines[-1]} {word}{rest}") > width:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def one_line(why: Why) -> str:
    """The explanation in one line, as `-q` prints it."""
    if why.report.mode == "causal":
        confirmed = [s for s in unique_tested(why.sources) if s.verdict and s.verdict.verdict == "confirmed"]
        if not confirmed:
            return f"no source confirmed, {counted(why.runs_used, 're-run')}"
        stats = confirmed[0].verdict.stats if confirmed[0].verdict else None
        base = stats.baseline if stats else None
        beside = f", baseline {base.flips} of {base.samples}" if base else ""
        name = escaped(confirmed[0].id)
        return f"PROVEN {name} {stats.flips if stats else 0} of {stats.samples if stats else 0}{beside}"
    sources = why.sources
    if not sources:
        return "no source reached the answer"
    first = sources[0]
    if not why.confidence.clear_winner:
        return f"no order: {counted(len(sources), 'source')} resemble it about equally; ranked, not proven"
    second = f", next {score_text(sources[1].score)}" if len(sources) > 1 else ""
    return f"{escaped(first.name)} resembles most: {score_text(first.score, alone=True)}{second}; ranked, not proven"


def _headline(why: Why, width: int, *, whole: bool) -> str:
    call = why.evidence.call
    if why.answer:
        said = quoted(why.answer, None if whole else width - 7)
    elif call.finished:
        said = "(no text: it asked for tool calls)" if call.tool_calls else "(an empty text)"
    else:
        said = "(no text: the model did not answer)"
    where = f"       {'decided' if call.finished else 'asked'} at {escaped(why.step)}, iteration {call.iteration}"
    return f"{_quote_lines('WHY    ', said, width)}\n{where}"


def _quote_lines(start: str, quote: str, width: int) -> str:
    """A quote after a label, its further lines below its beginning."""
    return "\n".join(folded(quote, width, start=start, rest=" " * len(start)))


def _wrapped(label: str, text: str, width: int) -> str:
    return "\n".join(folded(escaped(text), width, start=label.ljust(_LABEL), rest=" " * _LABEL))


def _sources(why: Why, width: int, *, whole: bool, all_in: str) -> str:
    sources = why.sources
    head = f"SOURCES that reached it: {len(sources)}"
    if not sources:
        return f"{head}\n  Nothing that somebody declared and nothing a tool returned reached this answer."
    ranked = why.confidence.clear_winner
    mark = f"[ranked by {why.ranked_by}, not proven]" if ranked else f"[{why.ranked_by} can't order these]"
    lines = [f"{head}     {mark}"] if len(head) + 5 + len(mark) <= width else [head, f"  {mark}"]
    kinds = [escaped(suspect.flavor or suspect.kind) for suspect in sources]
    kind_width = max(len(kind) for kind in kinds)
    names = [escaped(suspect.name) for suspect in sources]
    name_width = min(max(map(display_width, names)), 28)
    shown = len(sources) if len(sources) <= _MOST_ROWS + 1 else _MOST_ROWS
    for number, (suspect, kind, name) in enumerate(zip(sources[:shown], kinds, names, strict=False), 1):
        place = f"{number:>3}" if ranked else "  -"
        if display_width(name) > name_width and not whole:
            name = name[: name_width - 3] + "..."  # noqa: PLW2901  cut to its column
        row = f"{score_text(suspect.score)}  {kind:<{kind_width}}  {name:<{name_width}}"
        start = f"{place}  {row}  "
        if whole:
            lines += folded(row.rstrip(), width, start=f"{place}  ", rest=" " * _QUOTE_INDENT)
            lines.append(_quote_lines(" " * _QUOTE_INDENT, quoted(suspect.text or ""), width))
        else:
            lines.append(start + quoted(suspect.text or "", width - display_width(start)))
    if shown < len(sources):
        more, below = len(sources) - shown, score_text(sources[shown].score)
        lines.append(f"       and {more:,} more, from {below} down; {all_in} has all")
    lines += folded(_flatness(why, len(why.suspects) - len(sources)), width, start="  ", rest="  ")
    return "\n".join(lines)


def _flatness(why: Why, steps: int) -> str:
    margin = why.confidence.margin
    if len(why.sources) == 1:
        said = "The only one; a score alone says little."
    elif margin is None:
        said = "No lead."
    else:
        said = f"Lead {score_text(margin)}; an order needs {why.confidence.threshold.rpartition('=')[2]}."
    if len(why.sources) > 1 and not why.confidence.clear_winner:
        or_test = ", or test them" if "agent" in why.recording.header else ""
        return f"{said} Look at {_worklist(why)}{or_test}."
    if steps:
        said += f" On the path too, not sources: {counted(steps, 'step')}."
    return said


def _worklist(why: Why) -> str:
    """Which sources to look at when the scores put none first: all of a few, of many those near the top (06 s.3.6)."""
    count, near = len(why.sources), len(why.confidence.shortlist)
    few = {2: "both", 3: "all three", 4: "all four"}
    return few.get(count, f"all {count}" if near >= count else f"the first {near}")


def tell_custody(
    id: str, hops: Sequence[CustodyHop], *, width: int = 80, with_prompt: bool = False, start: int = 0
) -> str:
    """The chain of custody of one source.

    Args:
        id: The source.
        hops: Its links.
        width: Columns.
        with_prompt: Whether the prompt is shown around the piece, marked with `>`.
        start: Where the piece begins in the prompt, whose text may stand there more than once.
    """
    head = f"CUSTODY of {escaped(id)}"
    mark = STANDING_MARKS["recorded"]
    room = width - 5 - display_width(head)
    lines = [f"{head}  {mark.rjust(room)}"] if room >= len(mark) else [*folded(head, width), mark.rjust(width - 3)]
    at_width = max((len(_local(hop.at)) for hop in hops), default=0)
    for hop in hops:
        at = f"{_local(hop.at):<{at_width}}  " if hop.step != "born" else ""
        is_column = at_width < width // 2  # an id that leaves too little beside it stands before the text, in its lines
        label = f"  {hop.step.upper():<7}  {at if is_column else ''}"
        detail = (
            ("" if is_column else f"{at.rstrip()}  " * bool(at))
            + escaped(hop.detail)
            + (":" if with_prompt and hop.step == "read" and hop.highlight else "")
        )
        lines += folded(detail, width, start=label, rest=" " * display_width(label))
        if with_prompt and hop.step == "read" and hop.content and hop.highlight:
            lines += _marked(hop.content, hop.highlight, start, width)
    return "\n".join(lines)


def _local(step: str | None) -> str:
    """A step without the mounts it stands in; its number alone already says which one it is."""
    return escaped((step or "").rpartition("/")[2])


def _marked(content: str, highlight: str, start: int, width: int) -> list[str]:
    """The text with the piece on lines marked `>`, and a few lines around it."""
    start = content.index(highlight, start)
    before = _lines(content[:start], width - 11)
    inside = _lines(highlight, width - 11)
    after = _lines(content[start + len(highlight) :], width - 11)
    shown = [f"           {line}" for line in before[-_CONTEXT_LINES:]]
    shown += [f"         > {line}" for line in inside]
    return shown + [f"           {line}" for line in after[:_CONTEXT_LINES]]


def _lines(text: str, width: int) -> list[str]:
    return [
        line
        for row in text.splitlines()
        if row.strip()
        for line in ([escaped(row)] if display_width(escaped(row)) <= width else folded(escaped(row), width))
    ]


def _missing(why: Why, width: int) -> str:
    dropped = why.report.dropped
    if dropped is None:
        return _wrapped("MISSING", "unknown: the recording does not say what was declared.", width)
    sent = sum(1 for piece in why.evidence.call.pieces if piece.id is not None)
    if dropped:
        shown = dropped if len(dropped) <= _MOST_ROWS + 1 else dropped[:_MOST_ROWS]
        named = ", ".join(f"{unit.id} ({unit.reason or 'why: not recorded'})" for unit in shown)
        more = len(dropped) - len(shown)
        said = f"Declared and not sent: {named}{f' and {more:,} more' if more else ''}."
    else:
        said = f"Nothing dropped: {sent} of {sent} pieces sent."
    said += " Never offered: unknown, the run had no memory and no retriever."
    return _wrapped("MISSING", said, width)


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:] + "." * (not note.endswith("."))


def _limits(why: Why, width: int) -> str:
    notes = [flag.note for flag in why.honesty_flags]
    said = " ".join(map(_sentence, notes))
    return _wrapped("LIMITS", said or "None known.", width)


def unique_tested(sources: Iterable[Suspect]) -> list[Suspect]:
    """The suspects with a verdict, one for each source."""
    seen: dict[tuple[str, str], Suspect] = {}
    for suspect in sources:
        if suspect.verdict is not None:
            seen.setdefault((suspect.kind, suspect.id), suspect)
    return list(seen.values())


def tell_proof(why: Why, *, width: int = 80) -> str:
    """What the re-runs decided, source by source, with counts and intervals."""
    tested = unique_tested(why.sources)
    confirmed = [s for s in tested if s.verdict and s.verdict.verdict == "confirmed"]
    lines = [_verdict_line(why, tested, confirmed, width)]
    names = [suspect.id for suspect in tested]
    left = [] if why.plan is None else [name for name in why.plan.sources if name not in names]
    words = [f" {VERDICT_WORDS[s.verdict.verdict]}" for s in tested if s.verdict]
    longest = max((display_width(escaped(name)) for name in (*names, *left, *words)), default=0)
    column = min(longest, width - _FIXED - _SHORTEST_BAR)
    bar = min(_BAR, width - column - _FIXED)
    table = [line for suspect in tested for line in _rates(suspect, column, bar)]
    table += [line for name in left for line in _row(name, column, "not tested")]
    if table:
        scaled = any(suspect.verdict and suspect.verdict.basis != "deterministic" for suspect in tested)
        lines += ["", *(_scale(column + 4, bar) if scaled else ()), *table]
    lines += ["", *_proof_notes(why, confirmed, tested, width)]
    return "\n".join(lines)


def _scale(column: int, bar: int) -> list[str]:
    """What the bars below show, from the column where they are named."""
    start = " " * column
    return [f"{start}how often it changes, 95 % interval", f"{start}{' ' * 9}0 %{'100 %':>{bar - 2}}"]


def _verdict_line(why: Why, tested: list[Suspect], confirmed: list[Suspect], width: int) -> str:
    if confirmed:
        names = " or ".join(suspect.id for suspect in confirmed)
        return _wrapped_plain(f"PROVEN Without {names} the decision changes{_direction(why)}", width, indent=7)
    if not tested:
        return "NOT TESTED  No source was tested."
    unclear = [s for s in tested if s.verdict and s.verdict.verdict == "inconclusive"]
    if unclear:
        return _wrapped_plain(f"INCONCLUSIVE  {_unclear(why, unclear[0])}", width, indent=14)
    removed = f"any of {len(tested):,} sources alone" if len(tested) > 1 else tested[0].id
    return _wrapped_plain(f"NOT FOUND  Removing {removed} showed no effect.", width, indent=11)


def _unclear(why: Why, suspect: Suspect) -> str:
    """Why nothing can be said about a source: what was seen, and what ended the looking."""
    verdict = suspect.verdict
    assert verdict is not None  # noqa: S101  its verdict is what is told
    stats, base = verdict.stats, verdict.stats.baseline
    if base is None or not stats.samples:
        return verdict.claim.removeprefix("INCONCLUSIVE: ")
    said: list[str] = []
    if base.flips:
        said.append(f"The decision changes by itself in {_share(base.flips, base.samples, 're-runs', base.interval)}.")
    changed = _share(stats.flips, stats.samples, "" if said else "re-runs", stats.interval)
    said.append(f"Without {suspect.id} it changes in {changed}. Not enough to tell.")
    if stats.stopped in ("budget", "limit"):
        limit = "a limit was reached" if stats.stopped == "budget" else f"the limit of {counted(stats.samples, 'pair')}"
        said.append(f"Stopped: {counted(why.runs_used, 're-run')}, {limit}.")
    return " ".join(said)


def _direction(why: Why) -> str:
    return f": {why.change[0]} -> {why.change[1]}" if why.change else "."


def _wrapped_plain(text: str, width: int, *, indent: int) -> str:
    return "\n".join(folded(escaped(text), width, rest=" " * indent))


def _row(name: str, column: int, said: str) -> list[str]:
    """A row of the table; a name that is too long for its column has a line of its own."""
    shown = f"  {escaped(name)}"
    room = column + 2 - display_width(shown)
    return [f"{shown}{' ' * room}  {said}"] if room >= 0 else [shown, f"{' ' * (column + 2)}  {said}"]


def _rates(suspect: Suspect, column: int, bar: int) -> list[str]:
    verdict = suspect.verdict
    if verdict is None:
        return []
    stats = verdict.stats
    base = stats.baseline
    word = VERDICT_WORDS[verdict.verdict]
    exact = verdict.basis == "deterministic"
    lines = _row(suspect.id, column, f"without  {_rate(stats.flips, stats.samples, bar, exact=exact)}")
    if base is None:
        return [*lines, f"   {word}"]
    return [*lines, *_row(f" {word}", column, f"with     {_rate(base.flips, base.samples, bar, exact=exact)}")]


def _rate(flips: int, samples: int, bar: int, *, exact: bool) -> str:
    counts = f"{flips:>2} of {samples:<2}"
    if exact:
        return f"{counts}  no interval: a repeat can't differ"
    interval = wilson_interval(flips, samples)
    return f"{_bar(flips / samples if samples else 0, interval, bar)}  {counts}  {interval_text(interval):>8}"


def _bar(rate: float, interval: tuple[float, float], size: int) -> str:
    cells = ["."] * (size + 1)
    low, high = (round(value * size) for value in interval)
    cells[low : high + 1] = ["-"] * (high - low + 1)
    cells[round(rate * size)] = "*"
    return "".join(cells)


def _proof_notes(why: Why, confirmed: list[Suspect], tested: list[Suspect], width: int) -> list[str]:
    notes: list[str] = []
    for suspect in confirmed:
        stats = suspect.verdict.stats if suspect.verdict else None
        if stats is not None:
            notes += _numbers(stats)
    spent = why.spent
    if spent is not None:
        tokens = "tokens unknown" if spent.tokens is None else counted(spent.tokens, "token")
        notes.append(
            f"spent  {counted(spent.runs, 're-run')}, {tokens}, {money_text(spent.usd)}, {seconds_text(spent.seconds)}."
        )
    spared = [s for s in tested if s.verdict and s.verdict.verdict == _INNOCENT and s.verdict.stats.interval]
    if spared:
        most = max(s.verdict.stats.interval[1] for s in spared if s.verdict and s.verdict.stats.interval)
        notes.append(f'"No effect found" is not "no effect": up to {100 * most:.0f} % is not ruled out.')
    if any(s.verdict and s.verdict.basis == "deterministic" for s in tested):
        notes.append("Deterministic: identical pairs decide. No interval: a repeat can't differ.")
    notes += [_sentence(flag.note) for flag in why.honesty_flags if flag.flag in _PROOF_FLAGS]
    return [line for note in notes for line in folded(escaped(note), width - 2, start="  ", rest="  ")]


def _numbers(stats: VerdictStats) -> list[str]:
    notes: list[str] = []
    if stats.effect is not None:
        said = f"effect {effect_text(stats.effect)}"
        if stats.evidence is not None and stats.needed is not None:
            said += "; " + evidence_text(
                stats.evidence, stats.needed, alpha=stats.alpha or 0.05, sources=stats.sources or 1
            )
        notes.append(said)
    if stats.recovered is not None:
        notes.append(f"right now? the expected answer came in {stats.recovered} of {stats.samples}")
    return notes


def proof_summary(why: Why) -> list[str]:
    """The verdicts in a few lines, as the demo prints them."""
    tested = unique_tested(why.sources)
    lines: list[str] = []
    for suspect in tested:
        verdict = suspect.verdict
        if verdict is None or verdict.verdict != "confirmed":
            continue
        to = f" to {escaped(why.change[1])}" if why.change else ""
        stats, base = verdict.stats, verdict.stats.baseline
        lines.append(f"PROVEN Without {escaped(suspect.id)} the decision changes{to}:")
        beside = f", against {_share(base.flips, base.samples, 'with it', base.interval)}" if base else ""
        lines.append(f"       {_share(stats.flips, stats.samples, 're-runs', stats.interval)}{beside}.")
    if not lines:
        return tell_proof(why).splitlines()
    spared = [s.verdict.stats for s in tested if s.verdict and s.verdict.verdict == _INNOCENT]
    if spared:
        each = " each" if len(spared) > 1 else ""
        interval = f" ({interval_text(spared[0].interval)})" if spared[0].interval else ""
        pairs = counted(spared[0].samples, "pair")
        lines.append(f"       The other {counted(len(spared), 'source')}: no effect found in {pairs}{each}{interval}.")
    return lines


def _share(count: int, samples: int, what: str, interval: tuple[float, float] | None) -> str:
    return f"{count} of {samples} {what}".rstrip() + (f" ({interval_text(interval)})" if interval else "")
