"""How a foreign log becomes a recording: read the file, know its format, say what it can't tell.

Nothing is written anywhere; a refused file leaves nothing behind.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from agentfootprint.explain.importing.conversation import Conversation
from agentfootprint.explain.importing.document import limits_of, step_of_answer, wire_document
from agentfootprint.explain.importing.errors import AlreadyRecordingError, NotJsonError
from agentfootprint.explain.importing.formats import is_recording, recognise
from agentfootprint.trace import FrozenDict, freeze

if TYPE_CHECKING:
    from agentfootprint.recording import Recording

__all__ = ["ImportedTrace", "TraceCounts", "import_trace"]

_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCounts:
    """How much a log holds."""

    messages: int
    agents: int
    model_calls: int
    """Messages of agents up to the answer: each is taken for one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTrace:
    """A foreign log as a recording, and what a reader must know about it."""

    recording: Recording
    """Ask it with `why(...)`; it can't be re-run."""
    format: str
    """What the file was known to be, and by what: "Who&When failure log (known by ...)"."""
    counts: TraceCounts
    answer_step: str
    """The step whose text is under question."""
    limits: tuple[str, ...]
    """What the log does not say, one sentence each; the recording's flags say the same."""
    annotation: FrozenDict
    """What people noted about the run in the log; nothing here reads it."""


def import_trace(source: Path | str) -> ImportedTrace:
    """Turn a failure log of another framework into a recording (06b s.25).

    The format is known by content. One message is one step; message `n` is the source `turn-n` and its step ends in
    `#n`, counted from 1; the task is the source `question`. Save it with `recording.save(path, form="wire")`.

    Args:
        source: The log, a JSON file.

    Returns:
        The recording with what it was, how much it holds and what it can't say.

    Raises:
        NotJsonError: The file holds no whole JSON document.
        AlreadyRecordingError: The file is a recording of ours.
        UnknownTraceError: The format is not known; says what stands in the file and what was looked for.
        BrokenTraceError: A part of the log is missing or of another kind; says which, by its index.
        OSError: The file can't be read.
    """
    from agentfootprint.recording import Recording

    where = str(source)
    data = Path(source).read_bytes()
    document = _decoded(data, where)
    kind, known = recognise(document, where)
    conversation = kind.read(cast("dict[str, Any]", document), where)
    limits = limits_of(conversation, kind.name)
    answer_step = step_of_answer(conversation)
    about: dict[str, Any] = {
        "format": kind.name,
        "knownBy": known,
        "messages": len(conversation.turns),
        "agents": list(conversation.agents),
        "answerStep": answer_step,
        "annotation": dict(conversation.annotation),
    }
    wire = wire_document(conversation, run_id=_run_id(data), source=about, limits=limits)
    return ImportedTrace(
        recording=Recording.from_wire(wire),
        format=f"{kind.name} (known by {known})",
        counts=_counts(conversation, wire),
        answer_step=answer_step,
        limits=limits,
        annotation=freeze(about["annotation"]),
    )


def _decoded(data: bytes, where: str) -> object:
    try:
        return msgspec.json.decode(data.removeprefix(_BOM))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as malformed:
        if _begins_a_recording(data):
            raise AlreadyRecordingError(where) from malformed
        reason = "it is nested too deeply" if isinstance(malformed, RecursionError) else _reason(malformed)
        raise NotJsonError(where, reason) from malformed


def _reason(malformed: Exception) -> str:
    if isinstance(malformed, UnicodeDecodeError):
        return "it is not UTF-8"
    said = str(malformed).rstrip(".")
    return said[:1].lower() + said[1:] if not said.startswith("JSON") else said


def _begins_a_recording(data: bytes) -> bool:
    """Whether the first line is the header of a recording with one row a line."""
    try:
        first = msgspec.json.decode(data.partition(b"\n")[0])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(first, dict) and is_recording(cast("dict[str, Any]", first))


def _run_id(data: bytes) -> str:
    return f"imported-{hashlib.sha256(data).hexdigest()[:16]}"


def _counts(conversation: Conversation, wire: dict[str, Any]) -> TraceCounts:
    return TraceCounts(
        messages=len(conversation.turns), agents=len(conversation.agents), model_calls=len(wire["events"]) // 2
    )
