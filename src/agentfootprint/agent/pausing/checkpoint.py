"""What must be kept of a paused run so that any process can go on with it?

It is the engine's checkpoint with what an agent adds under one key; JSON throughout. Of the process that paused it
holds, beside that, what only this process can use: cleanups, and options given to the run. They are never written.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Self, cast

import msgspec

from agentfootprint.agent.errors import CheckpointFormatError
from agentfootprint.agent.signing import read_signed, refuse_signed, signed
from agentfootprint.flow import CheckpointError
from agentfootprint.flow import PauseCheckpoint as EngineCheckpoint
from agentfootprint.identity import Identity
from agentfootprint.trace import FrozenDict, JsonObject, ValueRefusedError, thaw

if TYPE_CHECKING:
    from agentfootprint.agent.options import Gates, Limits, ModelSettings
    from agentfootprint.tools import Teardown

__all__ = ["LiveParts", "PartFacts", "PauseCheckpoint", "PauseFacts"]

_KEY: Final = "agentfootprint"
_SCHEMA: Final = 1
_FIX: Final = "Give the checkpoint as `result.paused.checkpoint` was, or as its `to_json()` was stored."


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFacts:
    """What an agent adds that waits inside a composition."""

    origin_run_id: str = ""
    call_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """As those of `PauseFacts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseFacts:
    """What an agent adds to the engine's checkpoint."""

    run_id: str = ""
    """The run that paused."""
    origin_run_id: str = ""
    """The first run of the turn, from which idempotency keys are made (DEC-37)."""
    call_counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each call was dispatched in the turn; the keys are digests."""
    agent_id: str | None = None
    """The agent's id, if it was given one."""
    identity: Identity | None = field(default=None, repr=False)
    """Whom the caller named."""
    session_id: str | None = field(default=None, repr=False)
    parts: Mapping[str, PartFacts] = field(default_factory=dict[str, "PartFacts"])
    """The agents that wait inside a composition, by the id of their mount."""

    def to_wire(self) -> dict[str, Any]:
        """The facts as plain JSON."""
        wire: dict[str, Any] = {"schema": _SCHEMA, "runId": self.run_id, "originRunId": self.origin_run_id}
        if self.call_counts:
            wire["callCounts"] = dict(self.call_counts)
        if self.agent_id is not None:
            wire["agentId"] = self.agent_id
        if self.identity is not None:
            wire["identity"] = thaw(self.identity)
        if self.session_id is not None:
            wire["sessionId"] = self.session_id
        if self.parts:
            wire["parts"] = {
                mount: {"originRunId": part.origin_run_id, "callCounts": dict(part.call_counts)}
                for mount, part in self.parts.items()
            }
        return wire


@dataclass(slots=True)
class LiveParts:
    """What only the process that paused can use; taken by the first resume, so that no cleanup runs twice."""

    teardown: Teardown | None = None
    """Cleanups at the end of the run, which is not over (AGT-74)."""
    call: Teardown | None = None
    """Those of the call that asked."""
    groups: tuple[ModelSettings | None, Limits | None, Gates | None] = (None, None, None)
    """Options that were given to the run over the agent's own."""
    parts: dict[str, LiveParts] = field(default_factory=dict[str, "LiveParts"])
    """The same of the agents that wait inside a composition, by the id of their mount."""

    def take(self) -> LiveParts:
        """The parts, which are here no more; the options stay."""
        taken = LiveParts(self.teardown, self.call, self.groups)
        self.teardown = self.call = None
        return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseCheckpoint(EngineCheckpoint):
    """A run in the middle: give it to `agent.resume`, in this process or in another.

    `to_json` writes it, `from_json` reads it. It holds what the run knew: keep it where the conversation may be kept.
    """

    facts: PauseFacts = field(default_factory=PauseFacts)
    """What the agent adds, under the wire's key `agentfootprint`."""
    live: LiveParts = field(default_factory=LiveParts, repr=False, compare=False)

    @classmethod
    def of(cls, checkpoint: EngineCheckpoint, facts: PauseFacts, live: LiveParts | None = None) -> Self:
        """An agent's checkpoint from the engine's."""
        parts = {each.name: getattr(checkpoint, each.name) for each in fields(EngineCheckpoint)}
        return cls(**parts, facts=facts, live=live or LiveParts())

    @property
    def run_id(self) -> str:
        """The run that paused; empty when another implementation wrote it."""
        return self.facts.run_id

    @property
    def size_bytes(self) -> int:
        """How many bytes `to_json` takes."""
        return len(self.to_json().encode())

    def to_wire(self, *, seal: Callable[[bytes], bytes] | None = None) -> dict[str, Any]:
        """The checkpoint as plain JSON that the caller owns.

        Args:
            seal: Encrypts it, so that it may be kept where others read: gets and gives bytes.
        """
        facts = self.facts.to_wire()
        if seal is not None:  # it names people
            text = base64.b64encode(seal(msgspec.json.encode(facts))).decode()
            facts = {"schema": _SCHEMA, "sealed": text}
        return {**EngineCheckpoint.to_wire(self, seal=seal), _KEY: facts}

    def to_json(self, *, key: str | bytes | None = None) -> str:
        """The checkpoint as a text to store.

        Args:
            key: Signs it, so that `from_json` with the same key refuses a text that was edited meanwhile.
        """
        wire = self.to_wire()
        return json.dumps(
            wire if key is None else signed(wire, "pause", key), ensure_ascii=False, separators=(",", ":")
        )

    @classmethod
    def from_json(cls, text: str | bytes, *, key: str | bytes | None = None) -> PauseCheckpoint:
        """Read what `to_json` wrote.

        Args:
            text: The text.
            key: The key that it was signed with; a text that is not signed is then refused.

        Raises:
            CheckpointFormatError: It is no checkpoint of a paused run, is signed and no key was given, or was edited
                since it was signed.
        """
        return cls.from_wire(read_signed(text, "pause", key, fix=_FIX))

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any], *, unseal: Callable[[bytes], bytes] | None = None) -> Self:
        """Read what `to_wire` gave, here or in another implementation.

        Args:
            wire: The object.
            unseal: Decrypts a sealed one.

        Raises:
            CheckpointFormatError: It is no checkpoint of a paused run; `field` is the member at fault.
        """
        if isinstance(wire, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  it comes from a store
            refuse_signed(wire, "PauseCheckpoint.from_json(text, key=...)")
        try:
            engine = EngineCheckpoint.from_wire(wire, unseal=unseal)
        except CheckpointError as refused:
            raise CheckpointFormatError(refused.field, refused.problem, fix=_FIX) from refused
        except ValueRefusedError as refused:
            raise CheckpointFormatError("checkpoint", refused.problem, fix=_FIX) from refused
        return cls.of(engine, _facts(_opened(wire.get(_KEY), unseal)))

    def with_state(self, state: FrozenDict) -> Self:
        """The same with another state."""
        return replace(self, state=state)

    def __copy__(self) -> Self:
        return self  # a copy would leave behind what is open

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return PauseCheckpoint.from_wire, (self.to_wire(),)


def _opened(found: object, unseal: Callable[[bytes], bytes] | None) -> object:
    if unseal is None or not isinstance(found, Mapping) or "sealed" not in found:
        return cast("object", found)  # the engine has refused a sealed one without a key
    sealed = cast("JsonObject", found)["sealed"]
    try:
        return msgspec.json.decode(unseal(base64.b64decode(sealed, validate=True)))
    except Exception as broken:
        raise _malformed(".sealed", "what this key opens") from broken


def _facts(found: object) -> PauseFacts:
    """What the agent added; a checkpoint without it is read too (12.3)."""
    if found is None:
        return PauseFacts()
    if not isinstance(found, Mapping):
        raise _malformed("", "an object")
    wire = cast("JsonObject", found)
    schema = wire.get("schema")
    if type(schema) is not int or schema > _SCHEMA:
        raise _malformed(".schema", f"a whole number up to {_SCHEMA}")
    parts: object = wire.get("parts", {})
    if not isinstance(parts, Mapping) or not all(isinstance(x, Mapping) for x in cast("JsonObject", parts).values()):
        raise _malformed(".parts", "an object of objects")
    return PauseFacts(
        run_id=_text(wire, "runId") or "",
        origin_run_id=_text(wire, "originRunId") or _text(wire, "runId") or "",
        call_counts=_counts(wire, ""),
        agent_id=_text(wire, "agentId"),
        identity=_identity(wire.get("identity")),
        session_id=_text(wire, "sessionId"),
        parts={
            mount: PartFacts(
                origin_run_id=_text(part, "originRunId") or "", call_counts=_counts(part, f".parts.{mount}")
            )
            for mount, part in cast("Mapping[str, JsonObject]", parts).items()
        },
    )


def _counts(wire: JsonObject, where: str) -> dict[str, int]:
    counts: object = wire.get("callCounts", {})
    if not isinstance(counts, Mapping) or not all(type(n) is int for n in cast("JsonObject", counts).values()):
        raise _malformed(f"{where}.callCounts", "an object of whole numbers")
    return dict(cast("Mapping[str, int]", counts).items())


def _identity(found: object) -> Identity | None:
    if found is None:
        return None
    try:
        return msgspec.convert(thaw(found), Identity)
    except msgspec.ValidationError as misfit:
        raise _malformed(".identity", "an identity") from misfit


def _text(wire: JsonObject, key: str) -> str | None:
    found = wire.get(key)
    if found is not None and not isinstance(found, str):
        raise _malformed(f".{key}", "a text")
    return found


def _malformed(where: str, wanted: str) -> CheckpointFormatError:
    return CheckpointFormatError(f"{_KEY}{where}", f"The checkpoint's {_KEY + where!r} is not {wanted}.", fix=_FIX)
