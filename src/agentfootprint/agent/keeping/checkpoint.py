"""What must be kept of a conversation so that it goes on tomorrow, anywhere?

Its messages, and little else: JSON throughout, the wire's own form (02 s.16.2), no secrets. In memory the messages are
the run's own, shared and unchangeable; JSON is made when it is asked for. What can't be read is refused by field and
place, never by content (AGT-107).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self, TypeAlias, cast

import msgspec

from agentfootprint.agent.errors import CheckpointFormatError
from agentfootprint.agent.pausing.approvals import is_approval
from agentfootprint.agent.signing import read_signed, refuse_signed, signed
from agentfootprint.errors import AgentFootprintError
from agentfootprint.identity import Identity
from agentfootprint.llm import (
    BrokenPair,
    InvalidMessageError,
    LLMMessage,
    ToolCall,
    message_from_wire,
    verify_pairs,
)
from agentfootprint.trace import FrozenDict, FrozenList, JsonObject, ValueRefusedError, freeze, thaw

__all__ = ["Checkpoint", "FailurePoint", "InFlight", "Phase", "TurnFacts"]

Phase: TypeAlias = Literal["llm", "tool", "iteration", "unknown"]
"""What was going on when a run failed."""

_VERSION: Final = 1
_KEY: Final = "agentfootprint"
_SCHEMA: Final = 1
_FIX: Final = "Give the checkpoint as `result.checkpoint` was, or as its `to_json()` was stored."
_PHASES: Final = ("llm", "tool", "iteration", "unknown")
_KNOWN: Final = frozenset(
    (
        *("version", "runId", "history", "lastCompletedIteration", "originalInput", "checkpointedAt", "identity"),
        *("agent", "skillCursor", "folded", "failurePoint", "inFlight", _KEY),
    )
)
_NOTHING: Final = FrozenDict({})


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePoint:
    """Where a run failed (AGT-104)."""

    iteration: int
    """The iteration that was under way."""
    phase: Phase
    stage: str | None = None
    """The step, or the tool's name, when it was seen and not guessed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """A batch of tool calls that a failure interrupted; nothing of it is in the history (AGT-108)."""

    tool_calls: tuple[ToolCall, ...]
    """All that were proposed."""
    landed: tuple[LLMMessage, ...]
    """The results of those that had run; they may have acted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFacts:
    """What a turn that did not end is taken up with, beside its messages."""

    origin_run_id: str = ""
    """The first run of the turn, from which idempotency keys are made (DEC-37)."""
    call_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each call of the history was dispatched in the turn; the keys are digests."""
    session_id: str | None = None
    approvals: tuple[FrozenDict, ...] = ()
    """The approvals that hold for the whole conversation; of a turn that ended, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A conversation as it stands: give it to `run(continue_from=...)`, `resume_on_error` or `conversation`.

    `to_json` writes it, `from_json` reads it, here and in another implementation. It holds what was said: keep it
    where the conversation may be kept.
    """

    run_id: str
    """The run that left it."""
    window: FrozenList = field(repr=False)
    """The messages, shared with the run; `history` is the same as a tuple."""
    last_completed_iteration: int
    message: str = field(repr=False)
    """What the user had said in that run."""
    checkpointed_at: int = 0
    """When, in ms since 1970."""
    identity: Identity | None = field(default=None, repr=False)
    """Whom the caller named; `None` when nobody was."""
    agent_id: str | None = None
    """The agent's id, if it was given one."""
    failure_point: FailurePoint | None = None
    """Where the run failed, if it did."""
    in_flight: InFlight | None = field(default=None, repr=False)
    """The batch of tool calls that the failure interrupted."""
    dropped: tuple[BrokenPair, ...] = ()
    """Tool messages that answered nothing and were left out when it was read with `repair=True` (DEC-10)."""
    facts: TurnFacts = field(default_factory=TurnFacts, repr=False)
    """What the library adds, under the wire's key `agentfootprint`."""
    others: FrozenDict = field(default_factory=lambda: _NOTHING, repr=False)
    """Members that other writers added; they are written again as they were."""

    @property
    def history(self) -> tuple[LLMMessage, ...]:
        """The messages, oldest first; the answer is the last of them, when there was one."""
        return tuple(self.window)

    @property
    def size_bytes(self) -> int:
        """How many bytes `to_json` takes."""
        return len(self.to_json().encode())

    def to_wire(self) -> dict[str, Any]:
        """The checkpoint as plain JSON that the caller owns."""
        wire: dict[str, Any] = {
            "version": _VERSION,
            "runId": self.run_id,
            "history": [thaw(message) for message in self.window],
            "lastCompletedIteration": self.last_completed_iteration,
            "originalInput": {"message": self.message},
            "checkpointedAt": self.checkpointed_at,
        }
        if self.identity is not None:
            wire["identity"] = thaw(self.identity)
        if self.agent_id is not None:
            wire["agent"] = {"id": self.agent_id}
        point = self.failure_point
        if point is not None:
            stage = {} if point.stage is None else {"stage": point.stage}
            wire["failurePoint"] = {"iteration": point.iteration, "phase": point.phase, **stage}
        if self.in_flight is not None:
            wire["inFlight"] = {
                "toolCalls": [thaw(call) for call in self.in_flight.tool_calls],
                "landed": [thaw(message) for message in self.in_flight.landed],
            }
        facts = _facts_to_wire(self.facts)
        if facts:
            wire[_KEY] = {"schema": _SCHEMA, **facts}
        return wire | {key: thaw(value) for key, value in self.others.items()}

    def to_json(self, *, key: str | bytes | None = None) -> str:
        """The checkpoint as a text to store.

        Args:
            key: Signs it, so that `from_json` with the same key refuses a text that was edited meanwhile.
        """
        wire = self.to_wire()
        return json.dumps(
            wire if key is None else signed(wire, "checkpoint", key), ensure_ascii=False, separators=(",", ":")
        )

    @classmethod
    def from_json(cls, text: str | bytes, *, key: str | bytes | None = None, repair: bool = False) -> Checkpoint:
        """Read what `to_json` wrote, here or in another implementation.

        Args:
            text: The text.
            key: The key that it was signed with; a text that is not signed is then refused.
            repair: Leave out tool messages that answer no call, instead of refusing them where the conversation is
                taken up; `dropped` says which.

        Raises:
            CheckpointFormatError: It is no conversation, is signed and no key was given, or was edited since it was
                signed; `field` is what is at fault, `index` which message.
        """
        return cls.from_wire(read_signed(text, "checkpoint", key, fix=_FIX), repair=repair)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any], *, repair: bool = False) -> Self:
        """Read what `to_wire` gave, here or in another implementation.

        Raises:
            CheckpointFormatError: It is no conversation; `field` is what is at fault, `index` which message.
        """
        if not isinstance(wire, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  it comes from a store
            raise _malformed("checkpoint", "an object")
        refuse_signed(wire, "Checkpoint.from_json(text, key=...)")
        version = wire.get("version")
        if type(version) is not int or version != _VERSION:
            raise _malformed("version", f"{_VERSION}, the one that this release reads")
        made_by = _object(wire, "agent")
        agent_id = None if made_by is None else made_by.get("id")
        if agent_id is not None and not isinstance(agent_id, str):
            raise _malformed("agent.id", "a text")
        if wire.get("skillCursor") is not None:
            _text(wire, "skillCursor")
        run_id = _text(wire, "runId")
        window = _messages(wire, "history")
        dropped: tuple[BrokenPair, ...] = ()
        if repair:
            report = verify_pairs(tuple(window), repair=True)
            dropped, kept = report.dropped, report.messages
            window = FrozenList(list(kept), len(kept))
        original = _object(wire, "originalInput")
        at = wire.get("checkpointedAt", 0)
        if type(at) not in (int, float):
            raise _malformed("checkpointedAt", "a number")
        return cls(
            run_id=run_id,
            window=window,
            last_completed_iteration=_number(wire, "lastCompletedIteration"),
            message=_text({} if original is None else original, "message", "originalInput."),
            checkpointed_at=int(at),
            identity=_identity(wire),
            agent_id=agent_id,
            failure_point=_failure_point(wire),
            in_flight=_in_flight(wire),
            dropped=dropped,
            facts=_facts(_object(wire, _KEY)),
            others=_frozen({key: value for key, value in wire.items() if key not in _KNOWN or key in _KEPT_AS_IS}),
        )

    def with_history(self, window: FrozenList, **changes: Any) -> Self:  # noqa: ANN401  members of a checkpoint
        """The same conversation with other messages."""
        return replace(self, window=window, **changes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Checkpoint.from_wire, (self.to_wire(),)


_KEPT_AS_IS: Final = ("skillCursor", "folded")


def now_ms() -> int:
    """The clock of checkpoints: ms since 1970."""
    return int(time.time() * 1000)


def _malformed(field: str, wanted: str, index: int | None = None) -> CheckpointFormatError:
    return CheckpointFormatError(field, f"The checkpoint's {field!r} is not {wanted}.", fix=_FIX, index=index)


def _text(wire: Mapping[str, Any], key: str, path: str = "") -> str:
    found = wire.get(key)
    if not isinstance(found, str):
        raise _malformed(path + key, "a text")
    return found


def _number(wire: Mapping[str, Any], key: str, path: str = "") -> int:
    found = wire.get(key)
    if type(found) not in (int, float):
        raise _malformed(path + key, "a number")
    return int(cast("float", found))


def _object(wire: Mapping[str, Any], key: str) -> JsonObject | None:
    found = wire.get(key)
    if found is not None and not isinstance(found, Mapping):
        raise _malformed(key, "an object")
    return cast("JsonObject | None", found)


def _items(wire: Mapping[str, Any], key: str, path: str = "") -> list[Any]:
    found: Any = wire.get(key)
    if not isinstance(found, (list, tuple, FrozenList)):
        raise _malformed(path + key, "a list")
    return list(cast("list[Any]", found))


def _messages(wire: Mapping[str, Any], key: str, path: str = "") -> FrozenList:
    messages: list[LLMMessage] = []
    for index, item in enumerate(_items(wire, key, path)):
        try:
            messages.append(message_from_wire(item))
        except InvalidMessageError as misfit:
            where = "" if misfit.field == "message" else f".{misfit.field}"
            raise _malformed(f"{path}{key}[{index}]{where}", misfit.wanted, index) from misfit
        except (ValueRefusedError, TypeError, KeyError, RecursionError, msgspec.ValidationError) as misfit:
            raise _malformed(f"{path}{key}[{index}]", "a message", index) from misfit
    return FrozenList(messages, len(messages))


def _identity(wire: Mapping[str, Any]) -> Identity | None:
    found = wire.get("identity")
    if found is None or isinstance(found, Identity):
        return found
    try:
        return msgspec.convert(thaw(found), Identity)
    except (msgspec.ValidationError, AgentFootprintError, TypeError):
        raise _malformed("identity", "an identity") from None  # the cause may quote it


def _failure_point(wire: Mapping[str, Any]) -> FailurePoint | None:
    found = _object(wire, "failurePoint")
    if found is None:
        return None
    phase, stage = found.get("phase"), found.get("stage")
    if phase not in _PHASES:
        raise _malformed("failurePoint.phase", "llm, tool, iteration or unknown")
    if stage is not None and not isinstance(stage, str):
        raise _malformed("failurePoint.stage", "a text")
    return FailurePoint(iteration=_number(found, "iteration", "failurePoint."), phase=phase, stage=stage)


def _in_flight(wire: Mapping[str, Any]) -> InFlight | None:
    found = _object(wire, "inFlight")
    if found is None:
        return None
    turn = {"role": "assistant", "content": "", "toolCalls": _items(found, "toolCalls", "inFlight.")}
    try:
        calls = tuple(message_from_wire(turn).tool_calls)
    except (InvalidMessageError, ValueRefusedError, TypeError) as misfit:
        raise _malformed("inFlight.toolCalls", "a list of tool calls") from misfit
    return InFlight(tool_calls=calls, landed=tuple(_messages(found, "landed", "inFlight.")))


def _facts_to_wire(facts: TurnFacts) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    if facts.origin_run_id:
        wire["originRunId"] = facts.origin_run_id
    if facts.call_counts:
        wire["callCounts"] = dict(facts.call_counts)
    if facts.session_id is not None:
        wire["sessionId"] = facts.session_id
    if facts.approvals:
        wire["approvals"] = [thaw(row) for row in facts.approvals]
    return wire


def _facts(found: JsonObject | None) -> TurnFacts:
    if found is None:
        return TurnFacts()
    schema = found.get("schema")
    if type(schema) is not int or schema > _SCHEMA:
        raise _malformed(f"{_KEY}.schema", f"a whole number up to {_SCHEMA}")
    counts: object = found.get("callCounts", {})
    if not isinstance(counts, Mapping) or not all(type(n) is int for n in cast("JsonObject", counts).values()):
        raise _malformed(f"{_KEY}.callCounts", "an object of whole numbers")
    origin = found.get("originRunId")
    session = found.get("sessionId")
    approvals = [freeze(row) for row in _items(found, "approvals", f"{_KEY}.")] if "approvals" in found else []
    for index, row in enumerate(approvals):
        if not is_approval(row):
            raise _malformed(f"{_KEY}.approvals[{index}]", "an approval", index)
    return TurnFacts(
        origin_run_id="" if origin is None else _text(found, "originRunId", f"{_KEY}."),
        call_counts=dict(cast("Mapping[str, int]", counts).items()),
        session_id=None if session is None else _text(found, "sessionId", f"{_KEY}."),
        approvals=tuple(approvals),
    )


def _frozen(found: dict[str, Any]) -> FrozenDict:
    try:
        return freeze(found)
    except (ValueRefusedError, RecursionError) as refused:
        raise _malformed("checkpoint", "JSON throughout") from refused
