"""The document behind the page: an explanation as `agentfootprint.board/1`, made from the record alone.

It adds nothing: no score, no interval and no verdict that the explanation does not have. What is not known has no key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.explain.board import RecordPool, render_board
from agentfootprint.explain.reading.evidence import is_imported
from agentfootprint.explain.running import run_facts, timeline
from agentfootprint.explain.scoring.lexical import lexical_tokens
from agentfootprint.explain.telling import unique_tested
from agentfootprint.recording import write_file
from agentfootprint.trace import compact_json

if TYPE_CHECKING:
    from agentfootprint.explain.board.shape import Board, Call, Hop, Proof, Slot, Source, Verdict
    from agentfootprint.explain.explanation import Why
    from agentfootprint.explain.model import Verdict as Judged
    from agentfootprint.recording import ModelCall

__all__ = ["board_document", "write_page"]

_SHOWN_CALLS: Final = 60
"""At most so many calls stand in a document: the first ones, and those up to the answer."""
_FIRST_CALLS: Final = 5


def board_document(why: Why) -> Mapping[str, Any]:
    """Make the document of an explanation.

    Args:
        why: The explanation.

    Returns:
        Plain JSON; cost and size are linear in the calls that are shown and the sources.
    """
    call = why.evidence.call
    pool = RecordPool()
    names = {source.id for source in why.evidence.sources}
    shown = _shown(why.recording.calls, call)
    placed = {source.message_index: source.id for source in why.evidence.sources if source.kind != "tool"}
    foreign = is_imported(why.recording)
    calls = [_call(pool, each, names, placed, is_foreign=foreign) for each in shown]
    sources = list(_sources(why))
    document: dict[str, Any] = {
        "format": "agentfootprint.board/1",
        "answer": {"text": why.answer, "step": call.step, "iteration": call.iteration},
        "records": pool.records,
        "calls": calls,
        "sources": sources,
        "plumbing": [
            {"step": step.step, "note": "also read untracked run input" if step.reads_input else step.stage_name}
            for step in why.evidence.steps
        ],
        "ranking": _ranking(why),
        "custody": {source["id"]: _custody(why, source["id"]) for source in sources},
        "timeline": list(timeline(why.recording)),
        "missing": _missing(why),
        "limits": [{"flag": flag.flag, "note": flag.note} for flag in why.honesty_flags],
        "recording": run_facts(why),
    }
    if why.recording.user_message is not None:
        document["question"] = why.recording.user_message
    leading = why.leading
    if leading is not None:
        document["of"] = leading.id
    if why.mode == "causal" and why.plan is not None:
        document["proof"] = _proof(why)
    return cast("Board", document)


def write_page(why: Why, path: Path | str) -> Path:
    """Render the page and write it as a whole: a crash leaves the old file or none.

    Raises:
        FileProblemError: It can't be written; an `OSError` of the system's own kind.
    """
    return write_file(path, render_board(board_document(why)).encode())


def _shown(calls: Sequence[ModelCall], call: ModelCall) -> list[ModelCall]:
    upto = list(calls[: call.index + 1])
    if len(upto) <= _SHOWN_CALLS:
        return upto
    return [*upto[:_FIRST_CALLS], *upto[-(_SHOWN_CALLS - _FIRST_CALLS) :]]


def _call(
    pool: RecordPool, call: ModelCall, names: set[str], placed: Mapping[int | None, str], *, is_foreign: bool
) -> Call:
    made: dict[str, Any] = {
        "step": call.step,
        "iteration": call.iteration,
        "system": _system(pool, call, names, is_foreign=is_foreign),
        "messages": _messages(pool, call, names, placed),
        "tools": _tools(pool, call, is_foreign=is_foreign),
        "finished": call.stop_reason not in (None, "max_tokens"),
    }
    if call.stop_reason is not None:
        made["stop"] = call.stop_reason
    if call.model:
        made["model"] = call.model
    if call.usage is not None and call.usage.known:
        made["tokensIn"], made["tokensOut"] = call.usage.totals()
    return cast("Call", made)


def _system(pool: RecordPool, call: ModelCall, names: set[str], *, is_foreign: bool) -> Slot:
    if is_foreign and not call.system_text:
        return {"records": [], "unknown": "the imported log does not hold it"}
    indices: list[int] = []
    if not call.pieces and call.system_text:  # the text is on record, what it was made of is not
        indices.append(pool.add({"slot": "system", "kind": "base", "text": call.system_text}))
    for piece in call.pieces:
        record: dict[str, Any] = {"slot": "system", "kind": piece.source, "text": piece.text}
        if piece.id is not None:
            record["id"] = piece.id
            if piece.id in names:
                record["source"] = piece.id
        indices.append(pool.add(cast("Any", record)))
    slot: dict[str, Any] = {"records": pool.ranges(indices), "joinedBy": "\n\n"}
    slot["chars"] = len(call.system_text)
    return cast("Slot", slot)


def _messages(pool: RecordPool, call: ModelCall, names: set[str], placed: Mapping[int | None, str]) -> Slot:
    indices: list[int] = []
    for position, message in enumerate(call.messages):
        record: dict[str, Any] = {"slot": "messages", "kind": message.role, "text": message.content}
        if message.tool_calls:
            record["calls"] = [{"name": each.name, "arguments": compact_json(each.args)} for each in message.tool_calls]
        if message.role == "tool" and message.tool_name is not None:
            record["id"] = message.tool_name
            if message.tool_name in names:
                record["source"] = message.tool_name
        if position in placed:
            record["id"] = record["source"] = placed[position]
        indices.append(
            pool.add(
                cast("Any", record),
                key=("message", position, message.role, message.content, compact_json(record.get("calls", []))),
            )
        )
    return cast("Slot", {"records": pool.ranges(indices)})


def _tools(pool: RecordPool, call: ModelCall, *, is_foreign: bool) -> Slot:
    if is_foreign and not call.tools:
        return {"records": [], "unknown": "the imported log does not say which were offered"}
    indices = [
        pool.add(cast("Any", {"slot": "tools", "kind": "tool", "id": tool.name, "text": tool.description or ""}))
        for tool in call.tools
    ]
    return cast("Slot", {"records": pool.ranges(indices)})


def _sources(why: Why) -> Iterator[Source]:
    """One entry a source id, in rank order; a tool that was called often is shown by its best call."""
    tested = {suspect.id: suspect for suspect in unique_tested(why.sources)}
    seen: set[str] = set()
    for suspect in why.sources:
        if suspect.id in seen:
            continue
        seen.add(suspect.id)
        made: dict[str, Any] = {"id": suspect.id, "kind": suspect.speaker or suspect.flavor or suspect.kind}
        if suspect.text is not None:
            made["text"] = suspect.text
        if suspect.semantic_score is None:
            made["unscored"] = "its text is not recorded"
        else:
            made["score"] = suspect.score
            made["shared"] = _shared(why.answer, suspect.text or "")
        if why.mode == "causal":
            verdict = tested[suspect.id].verdict if suspect.id in tested else None
            if verdict is None:
                made["untested"] = "it was not tested"
            else:
                made["verdict"] = _verdict(verdict, why.change)
        yield cast("Source", made)


def _shared(answer: str, text: str) -> list[list[int]]:
    """Where the answer uses words that the source has too, as the lexical score counts them."""
    words = lexical_tokens(text)
    spans: list[list[int]] = []
    start = None
    for position in range(len(answer) + 1):
        inside = position < len(answer) and answer[position].isascii() and answer[position].isalnum()
        if inside and start is None:
            start = position
        elif not inside and start is not None:
            if lexical_tokens(answer[start:position]) & words:
                spans.append([start, position])
            start = None
    return spans


def _verdict(verdict: Judged, change: tuple[str, str] | None) -> Verdict:
    stats, base = verdict.stats, verdict.stats.baseline
    made: dict[str, Any] = {
        "verdict": verdict.verdict,
        "removed": _rate(stats.samples, stats.flips, stats.interval),
        "baseline": _rate(base.samples, base.flips, base.interval) if base else {"samples": 0, "flips": 0},
        "basis": verdict.basis,
    }
    if stats.effect is not None:
        made["effect"] = list(stats.effect)
    if stats.evidence is not None and stats.needed is not None:
        made["evidence"], made["needed"] = stats.evidence, stats.needed
    if change is not None and verdict.verdict == "confirmed":
        made["becomes"] = change[1]
    if stats.recovered is not None:
        made["recovered"] = {"samples": stats.samples, "flips": stats.recovered}
    return cast("Verdict", made)


def _rate(samples: int, flips: int, interval: tuple[float, float] | None) -> dict[str, Any]:
    rate: dict[str, Any] = {"samples": samples, "flips": flips}
    return rate if interval is None else {**rate, "interval": list(interval)}


def _ranking(why: Why) -> dict[str, Any]:
    confidence = why.confidence
    made: dict[str, Any] = {"by": why.ranked_by, "ranked": confidence.clear_winner}
    if confidence.margin is not None:
        made["lead"] = confidence.margin
        made["needs"] = float(confidence.threshold.rpartition("=")[2])
    if why.mode == "correlational" and "agent" in why.recording.header:
        made["next"] = "result.prove_sync()"
    return made


def _custody(why: Why, id: str) -> list[Hop]:
    hops: list[dict[str, Any]] = []
    for hop in why.custody(id):
        if hop.step == "through":  # the page's chain has five links; the way between calls stands in the first
            hops[0]["detail"] += f"; through {hop.at}, {hop.detail}"
            continue
        made = {
            "step": hop.step,
            "detail": hop.detail,
            "at": hop.at,
            "variable": hop.variable,
            "content": hop.content,
            "highlight": hop.highlight,
            "unknown": hop.unknown,
        }
        hops.append({key: value for key, value in made.items() if value is not None})
    return cast("list[Hop]", hops)


def _missing(why: Why) -> dict[str, Any]:
    dropped = why.report.dropped
    if dropped is None:
        return {"unknown": "the recording does not say what was declared"}
    sent = sum(piece.id is not None for piece in why.evidence.call.pieces)
    return {
        "offered": sent + len(dropped),
        "sent": sent,
        "dropped": [{"id": unit.id, "reason": unit.reason or "not recorded"} for unit in dropped],
        "neverOffered": "the run had no memory and no retriever",
    }


def _proof(why: Why) -> Proof:
    plan, spent = why.plan, why.spent
    assert plan is not None  # noqa: S101  a causal explanation has one
    made: dict[str, Any] = {"compare": plan.compare, "runs": why.runs_used, "tools": plan.tools}
    if why.change is not None:
        made["decision"] = why.change[0]
    if spent is not None:
        took = {"tokens": spent.tokens, "usd": spent.usd, "seconds": spent.seconds}
        made |= {key: value for key, value in took.items() if value is not None}
    alpha = next((s.verdict.stats.alpha for s in why.sources if s.verdict and s.verdict.stats.alpha), None)
    if alpha is not None:
        made["alpha"] = alpha
    return cast("Proof", made)
