"""The run as a whole, for the page: which steps it took, and what its recording is and how complete.

What is not known has no key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from agentfootprint.explain.reading.cost import recorded_cost
from agentfootprint.explain.reading.evidence import is_imported

if TYPE_CHECKING:
    from agentfootprint.explain.board.shape import Clock, Moment, MomentKind, RunFacts
    from agentfootprint.explain.explanation import Why
    from agentfootprint.recording import Recording, ToolUse

__all__ = ["run_facts", "timeline"]


def timeline(recording: Recording) -> Iterator[Moment]:
    """The steps that a reader follows, in order: rules, prompt, model, tools of each iteration."""
    uses: dict[int | None, list[ToolUse]] = {}
    for use in recording.tool_uses:
        uses.setdefault(use.iteration, []).append(use)
    evaluations = {each.iteration: each for each in recording.evaluations}
    timed = _clock(recording)["usable"]
    moment = _Moments(recording)
    known = {call.iteration for call in recording.calls}
    for use in recording.tool_uses:
        if use.iteration is not None and use.iteration not in known:  # asked for by the run that paused
            yield _of_use(moment, use, use.iteration, timed=timed, waits=False)
    waits = recording.ended == "paused"
    for call in recording.calls:
        rules = evaluations.get(call.iteration)
        if rules is not None:
            yield moment(rules.step, "rules", call.iteration, "Rules evaluated", f"{len(rules.active)} active")
        fresh: dict[str, int] = {}
        for piece in call.pieces:
            if piece.landed_step is not None and piece.first_iteration == call.iteration:
                fresh[piece.landed_step] = fresh.get(piece.landed_step, 0) + 1
        for step, count in fresh.items():
            records = "1 record" if count == 1 else f"{count} records"
            yield moment(step, "system", call.iteration, "System prompt composed", f"{records} appended")
        asked = ", ".join(tool.name for tool in call.tool_calls)
        said = call.content or (f"asked for {asked}" if asked else "" if call.finished else "did not answer")
        took = call.duration_ms if timed else None
        yield moment(call.step, "model", call.iteration, "Model called", said, took)
        for use in uses.get(call.iteration, ()):
            yield _of_use(moment, use, call.iteration, timed=timed, waits=waits)


def _of_use(moment: _Moments, use: ToolUse, iteration: int, *, timed: bool, waits: bool) -> Moment:
    if use.ok and not use.denied:
        became = "returned"
    elif not use.finished:
        became = "waits for a person" if waits else "did not end"
    elif use.denied:
        became = "was denied"
    else:
        became = "failed" if use.dispatched else "was not run"
    took = use.duration_ms if timed else None
    return moment(use.step, "tool", iteration, f"{use.tool_name} {became}", use.result or "", took)


class _Moments:
    """Makes moments, each with what its step read and wrote where that is on record."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._tracks = not is_imported(recording)

    def __call__(
        self, step: str, kind: MomentKind, iteration: int, title: str, text: str, took: float | None = None
    ) -> Moment:
        made: dict[str, Any] = {"step": step, "kind": kind, "iteration": iteration, "title": title, "text": text}
        wrote = self._recording.writes_of(step) if self._tracks else None
        if wrote is not None:
            made["reads"] = list(self._recording.reads_of(step))
            made["wrote"] = list(wrote)
        if took is not None:
            made["durationMs"] = round(took, 3)
        return cast("Moment", made)


def run_facts(why: Why) -> RunFacts:
    """What the recording is, and what it can't say."""
    recording, calls = why.recording, why.recording.calls
    made: dict[str, Any] = {
        "runId": recording.run_id,
        "iterations": calls[-1].iteration if calls else 0,
        "modelCalls": len(calls),
        "toolCalls": len(recording.tool_uses),
        "events": len(recording.events),
        "commits": len(recording.bundles),
        "clock": _clock(recording),
        "decisionEdges": False,
        "chart": recording.native or recording.structure is not None,
        "audit": "none",
    }
    if recording.native:
        made["complete"] = recording.ended is not None
        made["dropped"] = 0  # a native record is the run's own log: nothing is sampled and nothing is let go
    if not is_imported(recording):  # there reads are inferred, not tracked
        made["untracked"] = [step.step for step in why.evidence.steps if step.reads_input]
        redacted = dict.fromkeys(path for commit in recording.bundles for path in commit.redacted_paths)
        made["redacted"] = list(redacted)
    last = calls[-1] if calls else None
    if last is not None and last.model:
        made["model"] = last.model
    if last is not None and last.provider:
        made["provider"] = last.provider
    usage = [call.usage for call in calls]
    if usage and all(each is not None and each.known for each in usage):
        totals = [each.totals() for each in usage if each is not None]
        made["tokensIn"], made["tokensOut"] = (sum(side) for side in zip(*totals, strict=True))
    cost = recorded_cost(recording)
    if cost is not None and not cost.unpriced_calls:
        made["costUsd"] = cost.usd
    if recording.ended is not None:
        made["ended"] = recording.ended
    return cast("RunFacts", made)


def _clock(recording: Recording) -> Clock:
    """Whether durations say anything: not where all events carry one time, as in a log without clocks."""
    events = recording.events
    if recording.native:
        return {"usable": True}
    if not len(events):
        return {"usable": False, "why": "no event is on record"}
    if events[0].meta.wall_clock_ms == events[len(events) - 1].meta.wall_clock_ms:
        return {"usable": False, "why": f"all {len(events):,} events carry one clock time"}
    return {"usable": True}
