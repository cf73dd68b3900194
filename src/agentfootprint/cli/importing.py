"""`agentfootprint import`: a trace of another framework becomes a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agentfootprint.cli.front import streams_of
from agentfootprint.cli.reading import check_file, check_target, pasteable, writing
from agentfootprint.errors import AgentFootprintError
from agentfootprint.explain import counted, escaped, folded

if TYPE_CHECKING:
    from agentfootprint.explain import ImportedTrace

__all__ = ["HELP", "import_file"]

HELP: Final = """\
Usage: agentfootprint import FILE --to RUN [OPTIONS]

Turn a trace of another framework into a recording. The format is known by the
content. What the trace does not say stays unknown, and is said to be.

Formats    multi-agent failure logs (Who&When): one step a message

Output     --to RUN          The recording to write.
           --json -q

Examples   agentfootprint import log.json --to run.json
           agentfootprint why run.json
"""
_LABEL: Final = 8


def import_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    to: Annotated[Path, typer.Option("--to", metavar="RUN")],
) -> None:
    """Turn a trace of another framework into a recording."""
    from agentfootprint.explain import import_trace

    streams = streams_of(context)
    check_file(file)
    check_target(to)
    try:
        trace = import_trace(file)
    except AgentFootprintError as error:
        error.fix = error.fix.replace(f"agentfootprint why {file}", f"agentfootprint why {pasteable(file)}")
        raise
    with writing(to):
        trace.recording.save(to, form="native" if trace.recording.native else "wire")
    streams.give(
        text=lambda: _told(trace, to, streams.width),
        line=lambda: f"{to}: {_held(trace)}, {trace.format}",
        document=lambda: _document(trace, to),
    )
    streams.note(f"NEXT    agentfootprint why {pasteable(to)}")


def _told(trace: ImportedTrace, to: Path, width: int) -> str:
    read = f"{counted(trace.counts.messages, 'message')}, {trace.format}"
    lines = folded(escaped(read), width, start="READ    ", rest=" " * _LABEL)
    lines += folded(escaped(f"{to}: {_held(trace)}"), width, start="WROTE   ", rest=" " * _LABEL)
    for number, limit in enumerate(trace.limits):
        lines += folded(escaped(limit), width, start=("" if number else "LIMITS").ljust(_LABEL), rest=" " * _LABEL)
    return "\n".join(lines)


def _held(trace: ImportedTrace) -> str:
    calls = counted(trace.counts.model_calls, "model call")
    return f"{calls}, {counted(trace.counts.agents, 'agent')}"


def _document(trace: ImportedTrace, to: Path) -> dict[str, Any]:
    counts = trace.counts
    return {
        "format": "agentfootprint.import/1",
        "from": trace.format,
        "wrote": str(to),
        "counts": {"messages": counts.messages, "agents": counts.agents, "modelCalls": counts.model_calls},
        "answerStep": trace.answer_step,
        "limits": list(trace.limits),
    }
