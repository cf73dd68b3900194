"""Why did an answer come out so? Asked of a recording, answered from it alone: no model, no embedder, no agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentfootprint.errors import ConfigError
from agentfootprint.explain.explanation import Why
from agentfootprint.explain.model import ContextBugReport, DroppedUnit, Suspect
from agentfootprint.explain.reading.evidence import (
    Evidence,
    Source,
    Step,
    call_at,
    evaluation_of,
    find_evidence,
    output_text,
    placed_ids,
)
from agentfootprint.explain.scoring.influence import Evidence as Scored
from agentfootprint.explain.scoring.lexical import score_lexical
from agentfootprint.explain.scoring.ranking import ranking_confidence
from agentfootprint.trace import as_list, as_object

if TYPE_CHECKING:
    from agentfootprint.recording import ModelCall, Recording

__all__ = ["dropped_units", "rank", "why"]

_RANKED_BY: Final = "lexical-overlap"
_CONTRASTED_BY: Final = "lexical-contrast"
MAX_STEPS: Final = 12


def why(
    recording: Recording, *, at: str | None = None, of: str | None = None, reference: Recording | None = None
) -> Why:
    """Which context reached an answer, and where each piece came from.

    Args:
        recording: The run, in either form.
        at: The model call to ask about, as a step id; the last one when not given.
        of: The source whose custody is shown; the first of the ranking when not given.
        reference: A good run of the same question: scores then count what tells the two answers apart.

    Returns:
        The explanation, correlational: it has no verdicts. Costs one pass over the log.

    Raises:
        NoTriggerError: The run made no model call.
        UnknownStepError: `at` is no model call of the run.
        UnknownSourceError: `of` is no source of the answer.
        ConfigError: It is a run of several agents, read from a file of the wire form.
    """
    call = call_at(recording, at)
    if "composition" in recording.header and not recording.native:
        raise ConfigError(
            "recording",
            "A run of several agents can't be explained from the wire form, which does not say who was given what.",
            fix="Save it in the native form: recording.save(path).",
        )
    if recording.layout is None:
        evidence = find_evidence(recording, call)
    else:
        from agentfootprint.explain.reading.across import evidence_across  # where several agents ran

        evidence = evidence_across(recording, call, of_the_whole=at is None)
    against = None if reference is None else output_text(call_at(reference, None))
    suspects = rank(evidence, against=against)
    sources = [suspect for suspect in suspects if suspect.is_source]
    best: dict[str, float] = {}
    for suspect in sources:
        best[suspect.id] = max(suspect.score, best.get(suspect.id, suspect.score))
    report = ContextBugReport(
        step=call.step,
        step_name=call.step.rpartition("#")[0],
        ranked_by=_RANKED_BY if reference is None else _CONTRASTED_BY,
        suspects=suspects,
        dropped=dropped_units(recording.around(call.step), call),
        slice_stats=evidence.stats,
        honesty_flags=evidence.flags,
        confidence=ranking_confidence(list(best.items())),
    )
    return Why(recording, evidence, report, of=of)


def rank(evidence: Evidence, *, against: str | None = None) -> tuple[Suspect, ...]:
    """Score the sources of a call by the words they share with what it said; steps on the way follow unscored.

    Args:
        evidence: What reached the call.
        against: What a good run said; overlap with it is taken off.
    """
    said = output_text(evidence.call)
    items = [
        Scored(str(number), source.text, source.ancestors)
        for number, source in enumerate(evidence.sources)
        if source.text is not None and source.text not in evidence.kept_out  # an empty text is known, and shares none
    ]
    if evidence.call.content in evidence.kept_out and not evidence.call.tool_calls:
        items = []  # what was said is not known
    scores = {int(score.id): score.score for score in score_lexical(items, said)}
    if against is not None:
        for score in score_lexical(items, against):
            scores[int(score.id)] -= score.score
    suspects = [_suspect(source, scores.get(number)) for number, source in enumerate(evidence.sources)]
    suspects.sort(key=lambda suspect: -suspect.score)
    return (*suspects, *(_step(step) for step in evidence.steps[:MAX_STEPS]))


def _suspect(source: Source, score: float | None) -> Suspect:
    semantic = None if score is None else min(1.0, max(0.0, score))
    is_tool = source.kind == "tool"
    return Suspect(
        kind=source.kind,
        step=source.landed,
        stage_name=source.landed.rpartition("#")[0],
        injection_id=None if is_tool else source.id,
        tool_name=source.id if is_tool else None,
        tool_call_id=source.tool_call_id,
        flavor=source.flavor,
        speaker=source.speaker,
        text=source.text,
        score=1.0 if semantic is None else semantic,
        semantic_score=semantic,
        has_content_evidence=semantic is not None,
        edge_path=source.path,
    )


def _step(step: Step) -> Suspect:
    return Suspect(
        kind="arg" if step.reads_input else "stage",
        step=step.step,
        stage_name=step.stage_name,
        score=1.0,
        edge_path=step.path,
    )


def dropped_units(recording: Recording, call: ModelCall) -> tuple[DroppedUnit, ...] | None:
    """Pieces that were declared and that a call was not sent, with why (06:MISS-4); `None` when nobody can say."""
    agent = recording.header.get("agent")
    if not agent or "context" not in agent:
        return None
    sent = {piece.id for piece in call.pieces}
    left = [piece["id"] for piece in agent["context"] if piece["id"] not in sent]
    if not left:
        return ()
    evaluation = evaluation_of(recording, call.iteration)
    reasons: dict[str, str | None] = {}
    if evaluation is not None:
        reasons = {each.id: each.reason for each in evaluation.skipped}
        reasons |= {each.id: _not_said(recording, call, each.id) for each in evaluation.active if each.id in left}
    elsewhere = placed_ids(recording, call) | _with_tools(recording, call)
    return tuple(
        DroppedUnit(id=piece, reason=reasons.get(piece, "trigger-false")) for piece in left if piece not in elsewhere
    )


def _not_said(recording: Recording, call: ModelCall, piece: str) -> str | None:
    """Why a piece that was in is in no message of a call: it had to wait, or the window has lost it."""
    record = as_object(recording.value_at("messagesDelivery", call.position)) or {}
    for row in as_list(record.get("deferred")) or ():
        waiting = as_object(row) or {}
        if waiting.get("injectionId") == piece:
            return str(waiting.get("reason"))
    ledger = as_list(recording.value_at("deliveredMessageKeys", call.position)) or ()
    return "window" if any(str(key).rpartition(":")[0] == piece for key in ledger) else None


def _with_tools(recording: Recording, call: ModelCall) -> frozenset[str]:
    """The pieces that stand in the tools slot of a call."""
    rows = [as_object(row) or {} for row in as_list(recording.value_at("toolsInjections", call.position)) or ()]
    return frozenset(str(row.get("sourceId")) for row in rows if row.get("source") != "registry")
