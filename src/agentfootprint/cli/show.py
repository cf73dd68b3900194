"""`agentfootprint show`: what happened in a recorded run, or at one of its steps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agentfootprint.cli.call_table import CallRow, call_rows, table_text
from agentfootprint.cli.errors import NotACallError, UnknownIterationError, UsageError
from agentfootprint.cli.front import streams_of
from agentfootprint.cli.reading import open_recording
from agentfootprint.cli.run_facts import events_text, record_text, run_document, run_line, run_text
from agentfootprint.cli.steps import find_step, request_text, step_text, steps_of, tree_text
from agentfootprint.events import encode_event
from agentfootprint.explain import counted, escaped

if TYPE_CHECKING:
    from agentfootprint.cli.streams import Streams
    from agentfootprint.events import Event
    from agentfootprint.recording import ModelCall, Recording

__all__ = ["HELP", "read_range", "show"]

HELP: Final = """\
Usage: agentfootprint show RUN [STEP] [OPTIONS]

What happened in a recorded run, or at one of its steps: what it read, what it
wrote, and with --prompt the request of a model call, word for word.

View       --iteration A..B  Only these iterations.
           --tree            Every step, in the order it ran.
           --events          Every event, one line each.
           --prompt          With a STEP: the request it sent to the model.

Output     --json -q

Examples   agentfootprint show run.json
           agentfootprint show run.json call-llm#40 --prompt
"""
_RANGE: Final = re.compile(r"(\d+)(?:\.\.(\d+))?")


def show(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN")],
    step: Annotated[str | None, typer.Argument(metavar="STEP")] = None,
    *,
    iteration: Annotated[str | None, typer.Option("--iteration", metavar="A..B")] = None,
    tree: Annotated[bool, typer.Option("--tree")] = False,
    events: Annotated[bool, typer.Option("--events")] = False,
    prompt: Annotated[bool, typer.Option("--prompt")] = False,
) -> None:
    """What happened in a recorded run, or at one of its steps."""
    views = [name for name, given in (("--iteration", iteration), ("--tree", tree), ("--events", events)) if given]
    if step is not None and views:
        raise UsageError(f"{views[0]} is about the whole run, and a step is named.", fix="Leave one of them out.")
    if tree and events:
        raise UsageError("--tree and --events are two views.", fix="Ask for one at a time.")
    if prompt and step is None:
        raise UsageError("--prompt needs the step of a model call.", fix="Name it: show RUN call-llm#40 --prompt.")
    streams = streams_of(context)
    recording = open_recording(run)
    if step is not None:
        _show_step(streams, recording, step, where=str(run), prompt=prompt)
    elif tree:
        _show_tree(streams, recording)
    elif events:
        _show_events(streams, recording, iteration)
    else:
        _show_run(streams, recording, iteration)


def _show_run(streams: Streams, recording: Recording, iteration: str | None) -> None:
    rows = call_rows(recording.calls, recording.tool_uses, waits=recording.ended == "paused")
    shown = _within(rows, iteration)
    streams.give(
        text=lambda: "\n\n".join(
            (
                run_text(recording, width=streams.width),
                table_text(shown, width=streams.width, whole=not streams.is_terminal())
                if shown
                else "No model call is on record.",
                record_text(recording, width=streams.width),
            )
        ),
        line=lambda: run_line(recording),
        document=lambda: {
            "format": "agentfootprint.show/1",
            **run_document(recording),
            "calls": [row.to_wire() for row in shown],
        },
    )


def _within(rows: list[CallRow], iteration: str | None) -> list[CallRow]:
    """The rows of a range of iterations."""
    if iteration is None:
        return rows
    first, last = read_range(iteration)
    shown = [row for row in rows if first <= row.call.iteration <= last]
    if not shown:
        raise UnknownIterationError(iteration, [row.call.iteration for row in rows])
    return shown


def read_range(given: str) -> tuple[int, int]:
    """Read `40..60`, or `40` for one.

    Raises:
        UsageError: It is neither.
    """
    match = _RANGE.fullmatch(given.strip())
    if match is None:
        raise UsageError(f"--iteration {given!r} is no range.", fix="Write it as in --iteration 40..60.")
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    if last < first:
        raise UsageError(f"--iteration {given} ends before it begins.", fix=f"Write --iteration {last}..{first}.")
    return first, last


def _show_step(streams: Streams, recording: Recording, step: str, *, where: str, prompt: bool) -> None:
    facts = find_step(recording, step, where=where)
    call = facts.call
    if prompt and call is None:
        raise NotACallError(facts.line.step, [each.step for each in recording.calls], where=where)

    def text() -> str:
        told = step_text(facts, width=streams.width, whole=not streams.is_terminal())
        return told if call is None or not prompt else f"{told}\n\n{request_text(call, width=streams.width)}"

    def document() -> dict[str, Any]:
        wire = {"format": "agentfootprint.step/1", **facts.to_wire()}
        return wire if call is None or not prompt else {**wire, "request": _request_document(call)}

    streams.give(text=text, line=lambda: escaped(f"{facts.line.step}  {facts.line.name}"), document=document)


def _request_document(call: ModelCall) -> dict[str, Any]:
    return {
        "systemPrompt": call.system_text,
        "messages": list(call.messages),
        "tools": [{"name": tool.name, "description": tool.description} for tool in call.tools],
    }


def _show_tree(streams: Streams, recording: Recording) -> None:
    lines = list(steps_of(recording.snapshot))
    streams.give(
        text=lambda: tree_text(lines, width=streams.width) if lines else "No step is on record.",
        line=lambda: counted(len(lines), "step"),
        document=lambda: {
            "format": "agentfootprint.tree/1",
            "steps": [{"step": line.step, "name": line.name, "depth": line.depth} for line in lines],
        },
    )


def _show_events(streams: Streams, recording: Recording, iteration: str | None) -> None:
    chosen = list(enumerate(recording.events))
    if iteration is not None:
        first, last = read_range(iteration)
        when = _iterations(recording.events)
        chosen = [(number, event) for number, event in chosen if first <= when[number] <= last]
        if not chosen:
            raise UnknownIterationError(iteration, [call.iteration for call in recording.calls])
    streams.give(
        text=lambda: events_text(chosen, width=streams.width) if chosen else "No event is on record.",
        line=lambda: counted(len(chosen), "event"),
        document=lambda: {
            "format": "agentfootprint.events/1",
            "events": [json.loads(encode_event(event)) for _, event in chosen],
        },
    )


def _iterations(events: Iterable[Event[Any]]) -> list[int]:
    """The iteration of each event; one that does not say it belongs to the last that was said."""
    found: list[int] = []
    now = 0
    for event in events:
        said = getattr(event.payload, "iteration", None) or getattr(event.payload, "iter_index", None)
        now = said if isinstance(said, int) else now
        found.append(now)
    return found
