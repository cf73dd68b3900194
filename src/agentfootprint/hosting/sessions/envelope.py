"""What is a stored session: which format it has, what its data must hold, whose it is, what was said in it?

Invariants: unreadable is never taken for absent (SES-2); a reader of one format refuses the others by name; keys that
other writers added survive; an envelope is frozen, so stores may share it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from msgspec.structs import force_setattr, replace

from agentfootprint.agent import Checkpoint, CheckpointFormatError
from agentfootprint.hosting.errors import InvalidEnvelopeError, UnknownEnvelopeFormatError, UnreadableEnvelopeError
from agentfootprint.hosting.sessions.owning import owner_key
from agentfootprint.trace import FrozenDict, JsonObject, Record, ValueRefusedError, freeze, thaw

__all__ = [
    "CONVERSATION",
    "FLOWCHART",
    "Envelope",
    "PausedSession",
    "check_envelope",
    "decode_envelope",
    "encode_envelope",
    "envelope_owner",
    "envelope_transcript",
    "envelope_user",
    "read_conversation",
    "read_paused",
]

CONVERSATION: Final = "conversation-v1"
"""The format of a turn that was answered: its data is a checkpoint of the conversation."""
FLOWCHART: Final = "flowchart-v1"
"""The format of a turn that asked: its data is `{checkpoint, conversation, pending}`."""

_KNOWN: Final = (CONVERSATION, FLOWCHART)
_PREVIEW: Final = 64  # characters
_FIX: Final = "Store what the run left, as `result.checkpoint.to_wire()` gives it."


class Envelope(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """One stored session: its format, its data, when it was saved.

    Args:
        format: `conversation-v1` or `flowchart-v1`; a store refuses others.
        data: What the format says, as JSON; keys that it does not name are kept.
        saved_at: When, in ms since 1970.
        version: What `hydrate` read, for `persist(expect=...)`; `None` in one that was made. It is never stored.

    Raises:
        InvalidEnvelopeError: A field has another type, or the data is not JSON throughout.
    """

    format: str
    data: JsonObject
    saved_at: int
    version: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.format, str):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may be unchecked
            raise _misfit("format", "a text")
        if type(self.saved_at) is not int or self.saved_at < 0:
            raise _misfit("savedAt", "a whole number of milliseconds since 1970")
        if not isinstance(self.data, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may be unchecked
            raise _misfit("data", "an object")
        try:
            force_setattr(self, "data", freeze(self.data))
        except ValueRefusedError:
            raise _misfit("data", "JSON throughout") from None  # the cause may name keys of tool results

    def __repr__(self) -> str:  # what was said stays out of logs
        return f"Envelope(format={self.format!r}, saved_at={self.saved_at}, version={self.version})"

    def to_wire(self) -> dict[str, Any]:
        """The envelope as plain JSON that the caller owns: `{format, data, savedAt}`."""
        return {"format": self.format, "data": thaw(self.data), "savedAt": self.saved_at}

    @classmethod
    def now(cls, format: str, data: JsonObject) -> Envelope:
        """An envelope saved at this moment."""
        return cls(format=format, data=data, saved_at=time.time_ns() // 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedSession:
    """A session that waits for an answer."""

    checkpoint: JsonObject
    """The engine's checkpoint as JSON, for `PauseCheckpoint.from_wire`."""
    conversation: Checkpoint
    """The conversation as it stood at the pause."""
    pending: JsonObject
    """What the caller was asked, as it went over the wire."""


def _misfit(field: str, wanted: str) -> InvalidEnvelopeError:
    return InvalidEnvelopeError(field, f"The envelope's {field!r} is not {wanted}.", fix=_FIX)


def _shape(stored: object) -> str:
    """What a value is, in words that repeat nothing of it."""
    if stored is None:
        return "null"
    if isinstance(stored, str):
        return f"a text of {len(stored)} characters"
    if isinstance(stored, (bytes, bytearray)):
        return f"{len(stored)} bytes"
    if isinstance(stored, Sequence):
        return f"a list of {len(cast('Sequence[object]', stored))}"
    return f"a value of type {type(stored).__name__}"


def _unreadable(session_id: str | None, stored: object) -> UnreadableEnvelopeError:
    text = stored if isinstance(stored, str) else repr(stored)
    return UnreadableEnvelopeError(session_id, text[:_PREVIEW], _shape(stored))


def check_envelope(stored: object, *, session_id: str | None = None, version: int | None = None) -> Envelope:
    """Take what a store holds, or is about to hold, as an envelope whose data fits its format.

    The messages of the conversation are not looked at one by one: `read_conversation` does that.

    Args:
        stored: An `Envelope`, or JSON.
        session_id: Named in the error.
        version: The version it was read at.

    Raises:
        UnreadableEnvelopeError: It is no object (SES-2).
        UnknownEnvelopeFormatError: Its format is not known (SES-1).
        InvalidEnvelopeError: Its data is not what its format says (SES-3).
    """
    envelope = stored if isinstance(stored, Envelope) else _from_wire(stored, session_id)
    if envelope.format == CONVERSATION:
        _check_conversation(envelope.data, "data")
    elif envelope.format == FLOWCHART:
        _check_paused(envelope.data)
    else:
        raise UnknownEnvelopeFormatError(envelope.format, _KNOWN)
    return envelope if version is None else replace(envelope, version=version)


def _from_wire(stored: object, session_id: str | None) -> Envelope:
    if not isinstance(stored, Mapping):
        raise _unreadable(session_id, stored)
    wire = cast("JsonObject", stored)
    found: object = wire.get("format")
    if not isinstance(found, str) or found not in _KNOWN:
        raise UnknownEnvelopeFormatError(found if isinstance(found, str) else None, _KNOWN)
    saved_at: object = wire.get("savedAt")
    if isinstance(saved_at, float) and saved_at.is_integer():  # another implementation has one kind of number
        saved_at = int(saved_at)
    return Envelope(format=found, data=cast("JsonObject", wire.get("data")), saved_at=cast("int", saved_at))


def _check_conversation(data: object, path: str) -> None:
    if not isinstance(data, Mapping):
        raise _misfit(path, "an object")
    wire = cast("JsonObject", data)
    version: object = wire.get("version")
    if type(version) not in (int, float) or version != 1:
        raise _misfit(f"{path}.version", "1, the one that this release reads")
    if not isinstance(wire.get("runId"), str):
        raise _misfit(f"{path}.runId", "a text")
    history: object = wire.get("history")
    if isinstance(history, str) or not isinstance(history, Sequence):
        raise _misfit(f"{path}.history", "a list of messages")
    for index, message in enumerate(cast("Sequence[object]", history)):
        role: object = cast("JsonObject", message).get("role") if isinstance(message, Mapping) else _role(message)
        if not isinstance(role, str):
            raise _misfit(f"{path}.history[{index}].role", "a text")


def _role(message: object) -> object:
    """The role of a message that is a record already; `None` of anything else."""
    return getattr(message, "role", None) if isinstance(message, Record) else None


def _check_paused(data: JsonObject) -> None:
    checkpoint: object = data.get("checkpoint")
    if not isinstance(checkpoint, Mapping):
        raise _misfit("data.checkpoint", "an object")
    engine = cast("JsonObject", checkpoint)
    if not isinstance(engine.get("pausedStageId"), str):
        raise _misfit("data.checkpoint.pausedStageId", "a text")
    if not isinstance(engine.get("sharedState"), Mapping):
        raise _misfit("data.checkpoint.sharedState", "an object")
    path: object = engine.get("subflowPath")
    if isinstance(path, str) or not isinstance(path, Sequence):
        raise _misfit("data.checkpoint.subflowPath", "a list")
    if not isinstance(data.get("pending"), Mapping):
        raise _misfit("data.pending", "an object")
    _check_conversation(data.get("conversation"), "data.conversation")


def read_conversation(stored: object, *, session_id: str | None = None) -> Checkpoint:
    """The conversation of a turn that was answered.

    Args:
        stored: An `Envelope`, or JSON.
        session_id: Named in the error.

    Raises:
        UnreadableEnvelopeError: It is no object.
        UnknownEnvelopeFormatError: Its format is not known.
        InvalidEnvelopeError: It waits for an answer (read it with `read_paused`), or its data can't be read.
    """
    envelope = check_envelope(stored, session_id=session_id)
    if envelope.format != CONVERSATION:
        raise InvalidEnvelopeError(
            "format",
            f"The session waits for an answer: its format is {envelope.format!r}, not {CONVERSATION!r}.",
            fix="Read it with read_paused, and resume the run with the answer.",
        )
    return _conversation(envelope.data, "data")


def read_paused(stored: object, *, session_id: str | None = None) -> PausedSession:
    """What is kept of a turn that asked.

    Args:
        stored: An `Envelope`, or JSON.
        session_id: Named in the error.

    Raises:
        UnreadableEnvelopeError: It is no object.
        UnknownEnvelopeFormatError: Its format is not known.
        InvalidEnvelopeError: It waits for nothing (read it with `read_conversation`), or its data can't be read.
    """
    envelope = check_envelope(stored, session_id=session_id)
    if envelope.format != FLOWCHART:
        raise InvalidEnvelopeError(
            "format",
            f"The session waits for no answer: its format is {envelope.format!r}, not {FLOWCHART!r}.",
            fix="Read it with read_conversation, and run the next message on it.",
        )
    data = envelope.data
    return PausedSession(
        checkpoint=data["checkpoint"],
        conversation=_conversation(data["conversation"], "data.conversation"),
        pending=data["pending"],
    )


def _conversation(wire: JsonObject, path: str) -> Checkpoint:
    try:
        return Checkpoint.from_wire(wire)
    except CheckpointFormatError as misfit:
        raise InvalidEnvelopeError(
            f"{path}.{misfit.field}", f"The envelope's conversation can't be read at {misfit.field!r}.", fix=_FIX
        ) from misfit


def _conversation_inside(stored: object) -> JsonObject | None:
    """The conversation in a stored value, whatever else is wrong with it."""
    if isinstance(stored, Envelope):
        form, data = stored.format, cast("object", stored.data)
    elif isinstance(stored, Mapping):
        wire = cast("JsonObject", stored)
        form, data = wire.get("format"), wire.get("data")
    else:
        return None
    if form == FLOWCHART and isinstance(data, Mapping):
        data = cast("object", cast("JsonObject", data).get("conversation"))
    elif form != CONVERSATION:
        return None
    return cast("JsonObject", data) if isinstance(data, Mapping) else None


def envelope_user(stored: object) -> tuple[str, str | None] | None:
    """The user and the tenant that the conversation inside names; never raises.

    Only the identity of the conversation counts: an `owner` or `userId` planted beside it does not.
    """
    conversation = _conversation_inside(stored)
    identity: object = None if conversation is None else conversation.get("identity")
    if isinstance(identity, Record):
        principal, tenant = getattr(identity, "principal", None), getattr(identity, "tenant", None)
    elif isinstance(identity, Mapping):
        wire = cast("JsonObject", identity)
        principal, tenant = wire.get("principal"), wire.get("tenant")
    else:
        return None
    if not isinstance(principal, str) or not principal:
        return None
    return principal, tenant if isinstance(tenant, str) else None


def envelope_owner(stored: object) -> str | None:
    """Whose the conversation inside is, as `owner_key` writes it; never raises (SES-4)."""
    user = envelope_user(stored)
    return None if user is None else owner_key(user[0], tenant=user[1])


def envelope_transcript(stored: object) -> tuple[FrozenDict, ...]:
    """What was said: the texts of user and assistant in order, `{role, content}` only; never raises (SES-4)."""
    conversation = _conversation_inside(stored)
    history: object = None if conversation is None else conversation.get("history")
    if isinstance(history, str) or not isinstance(history, Sequence):
        return ()
    said: list[FrozenDict] = []
    for message in cast("Sequence[object]", history):
        if isinstance(message, Mapping):
            wire = cast("JsonObject", message)
            role, content = wire.get("role"), wire.get("content")
        else:
            role, content = _role(message), getattr(message, "content", None)
        if role in ("user", "assistant") and isinstance(content, str) and content:
            said.append(FrozenDict({"role": role, "content": content}))
    return tuple(said)


def encode_envelope(envelope: Envelope) -> str:
    """The envelope as the text that stores keep: JSON that every implementation reads (SES-5).

    Raises:
        InvalidEnvelopeError: A number in it has more digits than can be written.
    """
    try:
        return json.dumps(envelope.to_wire(), ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        raise _misfit("data", "JSON that can be written") from None


def decode_envelope(text: object, *, session_id: str | None = None, version: int | None = None) -> Envelope:
    """Read what `encode_envelope` wrote.

    Raises:
        UnreadableEnvelopeError: It is no text, no JSON, or no object.
        UnknownEnvelopeFormatError: Its format is not known.
        InvalidEnvelopeError: Its data is not what its format says.
    """
    if not isinstance(text, str):
        raise _unreadable(session_id, text)
    try:
        stored: object = json.loads(text)
    except (ValueError, RecursionError):
        raise _unreadable(session_id, text) from None  # the cause quotes it
    if not isinstance(stored, dict):
        raise _unreadable(session_id, text)
    return check_envelope(cast("object", stored), session_id=session_id, version=version)
