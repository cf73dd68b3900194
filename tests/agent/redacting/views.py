"""Every way in which others see a run, as texts: one list that the marker tests go through.

Whoever adds a view (a front end, an exporter, a command) adds it here: to `LIVE` what is attached before the run, to
`KEPT` what is made of the recording.
"""

from __future__ import annotations

import io
import json
import logging
import pickle
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agentfootprint import Agent, RunResult
from agentfootprint.agui import AgUiOptions, map_events
from agentfootprint.events import Event, encode_event
from agentfootprint.explain import why
from agentfootprint.observe import (
    AuditExporter,
    BoundaryLog,
    ConsoleExporter,
    FileExporter,
    OtelExporter,
    attach_exporter,
)
from agentfootprint.recording import Recording, RunFacts, build_recording_envelope
from agentfootprint.trace import thaw
from tests.cli.commands import afp
from tests.observe.otel.tracing import Tracing, texts_of

__all__ = ["KEPT", "LIVE", "Watched", "watched"]


@dataclass
class Watched:
    """A run that was looked at in every way."""

    views: dict[str, str] = field(default_factory=dict[str, str])
    """What each view showed."""
    types: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The event types that listeners, streams and recordings gave, in order."""
    results: list[RunResult[Any]] = field(default_factory=list[RunResult[Any]])
    """What the runs came to: the first, and what it was resumed to."""

    def showing(self, marker: str) -> list[str]:
        """The views in which a text stands."""
        return [name for name, text in self.views.items() if marker in text]


def written(events: list[Event[Any]]) -> str:
    return "\n".join([*(encode_event(event).decode() for event in events), *map(repr, events)])


_ALL_CONTENT: Final[Mapping[str, Any]] = {"capture_content": True, "capture_tool_content": True}

# what is attached before the run: gives a function that tells afterwards what was shown

Shown = Callable[[], Awaitable[str]]


def listening(form: Any) -> Callable[[Agent[Any, Any], Path], Shown]:
    def attach(agent: Agent[Any, Any], _: Path) -> Shown:
        heard: list[Event[Any]] = []
        agent.on("*", heard.append, form=form)

        async def shown() -> str:
            steps = [event.execution for event in heard]  # what hangs on an event is served as well
            return written(heard) + repr([(step, getattr(step, "writes", None)) for step in steps])

        return shown

    return attach


def auditing(mode: Any) -> Callable[[Agent[Any, Any], Path], Shown]:
    def attach(agent: Agent[Any, Any], _: Path) -> Shown:
        audit = AuditExporter(agent="desk", payload_mode=mode, include_token_events=True)
        agent.on("*", audit.export)

        async def shown() -> str:
            return json.dumps(audit.bundle())

        return shown

    return attach


def to_a_file(agent: Agent[Any, Any], folder: Path) -> Shown:
    exporter = FileExporter(folder / "events.ndjson")
    agent.attach(exporter)

    async def shown() -> str:
        await agent.aclose(stop=False)
        return (folder / "events.ndjson").read_text()

    return shown


def to_the_console(agent: Agent[Any, Any], _: Path) -> Shown:
    said = io.StringIO()
    logger = logging.Logger("redacting")  # noqa: LOG001  of this run alone
    logger.addHandler(logging.StreamHandler(said))
    attach_exporter(agent.on, ConsoleExporter(logger=logger))

    async def shown() -> str:
        return said.getvalue()

    return shown


def tracing(agent: Agent[Any, Any], _: Path) -> Shown:
    spans = Tracing()
    attach_exporter(agent.on, OtelExporter("shop", tracer=spans.tracer, **_ALL_CONTENT))

    async def shown() -> str:
        return texts_of(spans.spans)

    return shown


LIVE: Mapping[str, Callable[[Agent[Any, Any], Path], Shown]] = {
    "listeners": listening("native"),
    "listeners of the wire's form": listening("wire"),
    "audit, bounded": auditing("bounded"),
    "audit, verbatim": auditing("verbatim"),
    "file exporter": to_a_file,
    "console exporter": to_the_console,
    "OpenTelemetry": tracing,
}
"""Add here what is attached to an agent: AWS, a status line."""


# what is made of the recording afterwards


def native_file(recording: Recording, folder: Path) -> str:
    return recording.save(folder / "native.json").read_text()


def wire_file(recording: Recording, folder: Path) -> str:
    return recording.save(folder / "wire.json", form="wire").read_text()


def envelope(recording: Recording, _: Path) -> str:
    made = build_recording_envelope(recording, run=RunFacts(complete=True, dropped_events=0))
    return json.dumps(made) + json.dumps(
        build_recording_envelope(recording, run=RunFacts(complete=True), form="native")
    )


def read_back(recording: Recording, folder: Path) -> str:
    stored = Recording.load(recording.save(folder / "again.json"))
    return written(list(stored.events)) + json.dumps(stored.to_wire()) + answers(stored, folder)


def answers(recording: Recording, _: Path) -> str:
    """What the questions to a recording give."""
    calls = [
        (call.system_text, call.pieces, list(call.messages), call.content, call.tool_calls, list(call.tools))
        for call in recording.calls
    ]
    uses = [(use.tool_call_id, use.args, use.value, use.result, use.gates) for use in recording.tool_uses]
    bundles = [bundle.to_wire() for bundle in recording.bundles]
    return repr([calls, uses, bundles, recording.answer, recording.user_message, recording.header])


def parts(recording: Recording, _: Path) -> str:
    journal = recording.journal
    assert journal is not None
    return json.dumps(thaw({key: thaw(recording.snapshot[key]) for key in recording.snapshot})) + repr(journal.rows)


def pickled(recording: Recording, _: Path) -> str:
    return pickle.dumps(recording).decode("latin-1")


def boundaries(recording: Recording, _: Path) -> str:
    return json.dumps(BoundaryLog(recording).to_snapshot())


def explained(recording: Recording, folder: Path) -> str:
    if not any(call.finished for call in recording.calls):
        return ""
    found = why(recording)
    page = found.to_html(folder / "why.html").read_text()
    return "\n".join([found.to_text(whole=True), json.dumps(found.to_wire()), page])


def shown_on_the_command_line(recording: Recording, folder: Path) -> str:
    path = str(recording.save(folder / "run.json"))
    ran = [afp("show", path), afp("show", path, "--json"), afp("why", path), afp("why", path, "--json")]
    return "\n".join(text for each in ran for text in (each.out, each.err))


def mapped_to_agui(recording: Recording, _: Path) -> str:
    options = AgUiOptions(reasoning="full", state="live", messages_snapshot="always", custom=["*"], custom_unsafe=True)
    events = map_events(recording.events, thread_id="thread-1", run_id="run-1", options=options)
    return "\n".join(event.model_dump_json(by_alias=True) for event in events)


KEPT: Mapping[str, Callable[[Recording, Path], str]] = {
    "native file": native_file,
    "wire file": wire_file,
    "envelope": envelope,
    "file read back": read_back,
    "answers of the recording": answers,
    "snapshot and rows": parts,
    "pickle": pickled,
    "boundaries": boundaries,
    "why": explained,
    "command line": shown_on_the_command_line,
    "AG-UI": mapped_to_agui,
}
"""Add here what is made of a recording: a page, an importer's output, a bug report."""


async def watched(
    agent: Agent[Any, Any], message: str, folder: Path, *, answer: object = None, **options: Any
) -> Watched:
    """Run an agent, and go on when it asks; look at it in every way.

    Args:
        agent: The agent.
        message: What the user says.
        folder: For files; empty.
        answer: What a person answers, or a function of the question.
        options: Of the run.
    """
    found = Watched()
    live = {name: attach(agent, folder) for name, attach in LIVE.items()}
    heard: list[Event[Any]] = []
    agent.on("*", heard.append)
    streamed: list[Event[Any]] = []
    recordings: list[Recording] = []
    async with agent.stream(message, **options) as run:
        streamed.extend([event async for event in run])
        result = await run.result()
        recordings.append(run.recording)
        found.views["handle"] = repr(dict(run.snapshot.items()))
    found.results.append(result)
    if result.paused is not None:
        said = answer(result.paused) if callable(answer) else answer
        result = await agent.resume(result.paused, said)
        found.results.append(result)
        recordings.append(result.recording)
    for name, shown in live.items():
        found.views[name] = await shown()
    found.views["stream"] = written(streamed)
    for recording in recordings:
        for name, look in KEPT.items():
            found.views[name] = found.views.get(name, "") + look(recording, folder)
    found.types["heard"] = [event.type for event in heard]
    found.types["streamed"] = [event.type for event in streamed]
    found.types["recorded"] = [event.type for each in recordings for event in each.events]
    found.types["stored"] = [
        event.type for each in recordings for event in Recording.load(each.save(folder / "stored.json")).events
    ]
    return found
