"""What is known of a run as a whole: its model, its counts, its cost and time, and how much of it is on record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.explain import (
    counted,
    display_width,
    escaped,
    folded,
    money_text,
    recorded_cost,
    recorded_ending,
    recorded_limits,
    seconds_text,
)

if TYPE_CHECKING:
    from agentfootprint.events import Event
    from agentfootprint.recording import Recording

__all__ = ["events_text", "record_text", "run_document", "run_line", "run_text"]

_GAP: Final = "   "


def run_line(recording: Recording) -> str:
    """The run in one line: id, model, counts of iterations and tool calls."""
    return "  ".join(_about(recording)[:-1])


def run_text(recording: Recording, *, width: int) -> str:
    """The run in two lines: what it was, and what it took."""
    lines = _joined(_about(recording), "  ", width)
    return "\n".join([*lines, *_joined([_cost(recording), _time(recording)], _GAP, width)])


def _about(recording: Recording) -> list[str]:
    calls = recording.calls
    model, provider = _model(recording)
    parts = [escaped(recording.run_id)]
    if model:
        parts.append(f"{escaped(model)} ({escaped(provider)})" if provider else escaped(model))
    iterations = max((call.iteration for call in calls), default=0)
    parts += [counted(iterations, "iteration"), counted(len(recording.tool_uses), "tool call"), _tokens(recording)]
    return parts


def _model(recording: Recording) -> tuple[str, str]:
    called = [call for call in recording.calls if call.model]
    return (called[-1].model, called[-1].provider) if called else ("", "")


def _totals(recording: Recording) -> tuple[int, int] | None:
    """Tokens in and out over all calls; `None` when one of them did not say."""
    usages = [call.usage for call in recording.calls]
    known = [usage.totals() for usage in usages if usage is not None and usage.known]
    if not usages or len(known) < len(usages):
        return None
    return sum(taken for taken, _ in known), sum(given for _, given in known)


def _tokens(recording: Recording) -> str:
    totals = _totals(recording)
    return "tokens unknown" if totals is None else f"{totals[0]:,} tokens in, {totals[1]:,} out"


def _cost(recording: Recording) -> str:
    """What the run cost; one whose cost is not known, whole or in part, says so."""
    cost = recorded_cost(recording)
    if cost is None:
        return "cost not priced"
    if not cost.unpriced_calls:
        return f"cost {money_text(cost.usd)}"
    part = f", the others {money_text(cost.usd)}" if cost.usd else ""
    return f"cost unknown: {counted(cost.unpriced_calls, 'call')} not priced{part}"


def _time(recording: Recording) -> str:
    events = recording.events
    if not events:
        return "time not recorded"
    first, last = events[0].meta.wall_clock_ms, events[len(events) - 1].meta.wall_clock_ms
    if first == last and not recording.native:  # a native one has the run's own clock
        said = "the only event" if len(events) == 1 else f"all {len(events):,} events"
        return f"time unusable: {said} {'carries' if len(events) == 1 else 'carry'} one clock time"
    return f"time {seconds_text((last - first) / 1000)}"


def record_text(recording: Recording, *, width: int) -> str:
    """What kept the run from an answer, how much of it is on record, and what that record does not say."""
    redacted = sum(len(commit.redacted_paths) for commit in recording.bundles)
    dropped = "none" if recording.native else "not stated"
    parts = [
        f"complete: {_completeness(recording)}",
        f"events: {len(recording.events):,} kept, dropped: {dropped}",
        f"redacted: {counted(redacted, 'path')} in {counted(len(recording.bundles), 'commit')}",
        "audit chain: none",
    ]
    ending = recorded_ending(recording)
    lines = [] if ending is None else folded(escaped(ending.note), width, start="ENDED      ", rest=" " * 11)
    lines += folded(_GAP.join(parts), width, start="RECORDING  ", rest=" " * 11)
    for number, limit in enumerate(recorded_limits(recording)):
        lines += folded(escaped(limit.note), width, start=("" if number else "LIMITS").ljust(11), rest=" " * 11)
    return "\n".join(lines)


def _completeness(recording: Recording) -> str:
    if recording.ended is not None:
        return f"yes, the run ended ({escaped(str(recording.ended))})"
    return "no, the end is not on record" if recording.native else "not stated (no envelope)"


def _joined(parts: Sequence[str], gap: str, width: int) -> list[str]:
    """Parts beside one another, and below where the line ends."""
    lines: list[str] = []
    for part in parts:
        if lines and display_width(lines[-1] + gap + part) <= width:
            lines[-1] += gap + part
        else:
            lines += folded(part, width)
    return lines


def run_document(recording: Recording) -> dict[str, Any]:
    """The same as JSON; what is not known has no key."""
    model, provider = _model(recording)
    found: dict[str, Any] = {
        "runId": recording.run_id,
        "iterations": max((call.iteration for call in recording.calls), default=0),
        "toolCallCount": len(recording.tool_uses),
        "eventCount": len(recording.events),
        "commitCount": len(recording.bundles),
        "native": recording.native,
        "flags": [limit.to_wire() for limit in recorded_limits(recording)],
    }
    if model:
        found["model"] = model
    if provider:
        found["provider"] = provider
    totals = _totals(recording)
    if totals is not None:
        found["tokensIn"], found["tokensOut"] = totals
    ending = recorded_ending(recording)
    if ending is not None:
        found["ending"] = {"kind": ending.flag, "note": ending.note}
    cost = recorded_cost(recording)
    if cost is not None:
        found |= {"unpricedCalls": cost.unpriced_calls} if cost.unpriced_calls else {"costUsd": cost.usd}
    if recording.ended is not None:
        found["ended"] = recording.ended
    return found


def events_text(events: Sequence[tuple[int, Event[Any]]], *, width: int) -> str:
    """Every event on a line: when, where, what.

    Args:
        events: The events with their numbers, in order.
        width: Columns.
    """
    short = [escaped(event.type.removeprefix("agentfootprint.")) for _, event in events]
    type_width = min(max(map(display_width, short), default=0), width // 2) + 2
    lines: list[str] = []
    for (number, event), name in zip(events, short, strict=True):
        meta = event.meta
        start = f"{number:>5}  {meta.run_offset_ms:>8,} ms  "
        said = f"{name:<{type_width}}{escaped(meta.runtime_stage_id)}"
        lines += folded(said, width, start=start, rest=" " * min(len(start) + type_width, width // 2))
    return "\n".join(lines)
