"""What does a thread remember beside its conversation: what the client shows, which runs there were, what is open?

It stands under one key of the stored envelope's data (AGU-72), as JSON. What is not as it was written is refused as a
whole: a thread is never continued on a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import msgspec

from agentfootprint.agui.errors import AgUiThreadError
from agentfootprint.agui.mapping.calls import OpenCall
from agentfootprint.trace import JsonObject, thaw

__all__ = ["FACTS_KEY", "Claim", "OpenInterrupt", "PastRun", "ThreadFacts"]

FACTS_KEY: Final = "agui"
_SCHEMA: Final = 1
_REPLAYED: Final = 16
"""How many of the last runs can be answered again, when a client asks twice (AGU-63)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who runs on the thread now (AGU-63, AGU-78)."""

    run_id: str
    token: str
    """Made anew for every claim, so that a run knows its own."""
    until: int
    """Ms since 1970; a process that died holds a thread no longer than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenInterrupt:
    """A question that a client was asked (AGU-71)."""

    id: str
    gate: str
    """`checkIn` and `ask` take a decision, the others a value."""
    response_schema: JsonObject | None = None
    expires_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """A run that the thread had."""

    run_id: str
    terminal: JsonObject | None = None
    """Its last event, where it is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadFacts:
    """What AG-UI keeps of a thread."""

    messages: tuple[JsonObject, ...] = ()
    """All that a client should show, on the wire's form, with the ids it knows (AGU-60)."""
    runs: tuple[PastRun, ...] = ()
    interrupts: tuple[OpenInterrupt, ...] = ()
    open_calls: tuple[OpenCall, ...] = ()
    """Tool calls that were shown and have no result yet (AGU-42)."""
    message_ids: Mapping[str, str] = field(default_factory=dict[str, str])
    """The latest assistant message of each scope, to which later tool calls belong."""
    claim: Claim | None = None

    def run(self, run_id: str) -> PastRun | None:
        """The run of an id, if the thread had one."""
        return next((each for each in self.runs if each.run_id == run_id), None)

    def after(self, run_id: str, terminal: JsonObject | None, **changes: Any) -> ThreadFacts:  # noqa: ANN401  fields of this class
        """The facts once a run has ended; the claim is given up.

        Args:
            run_id: The run's.
            terminal: Its last event, kept so that it can be answered again; `None` keeps it as a used id only.
            changes: Fields that are otherwise.
        """
        known = [each for each in self.runs if each.run_id != run_id]
        older, recent = known[: 1 - _REPLAYED], known[1 - _REPLAYED :]
        runs = (*(PastRun(run_id=each.run_id) for each in older), *recent, PastRun(run_id=run_id, terminal=terminal))
        return replace(self, runs=runs, claim=None, **changes)

    def to_wire(self) -> dict[str, Any]:
        """The facts as plain JSON."""
        wire: dict[str, Any] = {
            "schema": _SCHEMA,
            "messages": [thaw(each) for each in self.messages],
            "runs": [
                {"id": each.run_id} | ({} if each.terminal is None else {"terminal": thaw(each.terminal)})
                for each in self.runs
            ],
        }
        if self.interrupts:
            wire["interrupts"] = [_interrupt_to_wire(each) for each in self.interrupts]
        if self.open_calls:
            wire["openCalls"] = [thaw(each) for each in self.open_calls]
        if self.message_ids:
            wire["messageIds"] = dict(self.message_ids)
        if self.claim is not None:
            wire["claim"] = {"runId": self.claim.run_id, "token": self.claim.token, "until": self.claim.until}
        return wire

    @classmethod
    def from_wire(cls, wire: object) -> ThreadFacts:
        """Read what `to_wire` gave.

        Raises:
            AgUiThreadError: It is something else; names the member.
        """
        found = _object(wire, FACTS_KEY)
        if found.get("schema") != _SCHEMA:
            raise AgUiThreadError("schema", "was written by a newer release, or is none")
        claim = found.get("claim")
        return cls(
            messages=tuple(_object(each, "messages") for each in _list(found, "messages")),
            runs=tuple(_past_run(each) for each in _list(found, "runs")),
            interrupts=tuple(_interrupt(each) for each in _list(found, "interrupts")),
            open_calls=tuple(_open_call(each) for each in _list(found, "openCalls")),
            message_ids=_texts(found.get("messageIds", {}), "messageIds"),
            claim=None if claim is None else _claim(claim),
        )


def _interrupt_to_wire(each: OpenInterrupt) -> dict[str, Any]:
    wire: dict[str, Any] = {"id": each.id, "gate": each.gate}
    if each.response_schema is not None:
        wire["responseSchema"] = thaw(each.response_schema)
    if each.expires_at is not None:
        wire["expiresAt"] = each.expires_at
    return wire


def _interrupt(found: object) -> OpenInterrupt:
    wire = _object(found, "interrupts")
    schema, expires = wire.get("responseSchema"), wire.get("expiresAt")
    return OpenInterrupt(
        id=_text(wire, "id", "interrupts"),
        gate=_text(wire, "gate", "interrupts"),
        response_schema=None if schema is None else _object(schema, "interrupts"),
        expires_at=None if expires is None else _text(wire, "expiresAt", "interrupts"),
    )


def _open_call(found: object) -> OpenCall:
    try:
        return msgspec.convert(thaw(_object(found, "openCalls")), OpenCall)
    except msgspec.ValidationError:
        raise AgUiThreadError("openCalls", "holds what is no open call") from None  # the cause may quote it


def _texts(found: object, member: str) -> dict[str, str]:
    wire = _object(found, member)
    return {key: _text(wire, key, member) for key in wire}


def _past_run(found: object) -> PastRun:
    wire = _object(found, "runs")
    terminal = wire.get("terminal")
    return PastRun(run_id=_text(wire, "id", "runs"), terminal=None if terminal is None else _object(terminal, "runs"))


def _claim(found: object) -> Claim:
    wire = _object(found, "claim")
    until = wire.get("until")
    if type(until) is not int:
        raise AgUiThreadError("claim", "has no whole number 'until'")
    return Claim(run_id=_text(wire, "runId", "claim"), token=_text(wire, "token", "claim"), until=until)


def _object(found: object, member: str) -> JsonObject:
    if not isinstance(found, Mapping):
        raise AgUiThreadError(member, "is no object, or holds what is none")
    return cast("JsonObject", found)


def _list(wire: JsonObject, member: str) -> Sequence[object]:
    found: object = wire.get(member, ())
    if isinstance(found, (str, bytes)) or not isinstance(found, Sequence):
        raise AgUiThreadError(member, "is no list")
    return cast("Sequence[object]", found)


def _text(wire: JsonObject, key: str, member: str) -> str:
    found = wire.get(key)
    if not isinstance(found, str):
        raise AgUiThreadError(member, f"has no text {key!r}")
    return found
