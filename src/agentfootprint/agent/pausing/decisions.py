"""Does a question need a decision, and is the answer one?

Which answer is needed is decided by the question alone, never by what was answered (AGT-77); the same function serves
whoever shows the question and the door that takes the answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from msgspec import UNSET

from agentfootprint.agent.errors import DecisionRequiredError, StaleDecisionError
from agentfootprint.errors import ConfigError
from agentfootprint.tools import read_component
from agentfootprint.trace import FrozenDict, JsonObject, Value, freeze, thaw

__all__ = [
    "ConsentGate",
    "Decision",
    "DecisionValue",
    "approve",
    "decline",
    "is_decision",
    "pause_demands_decision",
    "read_decision",
    "refuse_stale",
    "require_decision",
    "shape_of",
]


Remember: TypeAlias = Literal["call", "run", "conversation"]
"""For how long an approval holds."""
_REMEMBER: Final = ("call", "run", "conversation")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionValue:
    """What a person chose beside yes or no.

    Args:
        kind: What it is, in the application's words.
        value: The choice; any JSON value.
        from_: Which stored data it was chosen on; must be what the question showed (AGT-88).
        coverage: How much of that data was seen: `{"seen", "total", "filter"?}`.
    """

    kind: str
    value: Value
    from_: str | None = None
    coverage: JsonObject | None = None

    def __post_init__(self) -> None:
        """Freeze what was chosen."""
        _text("value.kind", self.kind)
        object.__setattr__(self, "value", freeze(self.value))
        if self.coverage is not None:
            object.__setattr__(self, "coverage", freeze(self.coverage))

    def to_wire(self) -> dict[str, Any]:
        """The value as plain JSON."""
        wire: dict[str, Any] = {"kind": self.kind, "value": thaw(self.value)}
        if self.from_ is not None:
            wire["from"] = self.from_
        if self.coverage is not None:
            wire["coverage"] = thaw(self.coverage)
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A person's yes or no to a call. `approve` and `decline` make one; so does an object with the same keys.

    Args:
        approved: Whether the call may run.
        by: Who decided.
        note: What they said; the model reads it when they declined.
        at: When, milliseconds since 1970.
        value: What they chose beside yes or no.
        args: The arguments as the person corrected them; the call then runs with these.
        remember: For how long an approval of a check-in holds: for this `"call"`, or for every call of the same tool
            with the same arguments in this `"run"`, its pauses included, or in this `"conversation"`, its later turns
            included.
    """

    approved: bool
    by: str
    note: str | None = None
    at: int | None = None
    value: DecisionValue | None = None
    args: JsonObject | None = None
    remember: Remember = "call"

    def __post_init__(self) -> None:
        """Refuse what is no decision, and freeze the arguments."""
        if not isinstance(self.approved, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("approved", f"approved is {self.approved!r}.", fix="Give True or False.")
        _text("by", self.by)
        if self.note is not None:
            _text("note", self.note)
        if self.value is not None and not isinstance(self.value, DecisionValue):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("value", f"value is a {type(self.value).__name__}.", fix="Give DecisionValue(...).")
        if self.args is not None:
            args = freeze(self.args)
            if not isinstance(args, FrozenDict):
                raise ConfigError("args", f"args is a {type(self.args).__name__}.", fix="Give an object by name.")
            if not self.approved:
                raise ConfigError("args", "A declined call runs with no arguments.", fix="Leave args out.")
            object.__setattr__(self, "args", args)
        if self.remember not in _REMEMBER:
            raise ConfigError("remember", f"remember is {self.remember!r}.", fix='Use "call", "run" or "conversation".')

    def to_wire(self) -> dict[str, Any]:
        """The decision as plain JSON, with the keys it has something for."""
        wire: dict[str, Any] = {"approved": self.approved, "by": self.by}
        if self.note is not None:
            wire["note"] = self.note
        if self.at is not None:
            wire["at"] = self.at
        if self.value is not None:
            wire["value"] = self.value.to_wire()
        if self.args is not None:
            wire["args"] = thaw(self.args)
        if self.remember != "call":
            wire["remember"] = self.remember
        return wire


def approve(
    *,
    by: str,
    note: str | None = None,
    value: DecisionValue | None = None,
    remember: Remember = "call",
    args: JsonObject | None = None,
) -> Decision:
    """Let a call run.

    Args:
        by: Who decides; may be empty.
        note: What they say to it.
        value: What they chose beside it.
        remember: `"run"`: don't ask again about the same tool with the same arguments in this turn;
            `"conversation"`: nor in those that go on with it, for as long as it is with the same person.
        args: The arguments as they corrected them, all of them; they are checked like the model's own.

    Example:
        >>> approve(by="dana").approved
        True
    """
    return Decision(approved=True, by=by, note=note, value=value, args=args, remember=remember, at=_now())


def decline(*, by: str, note: str | None = None, value: DecisionValue | None = None) -> Decision:
    """Keep a call from running; the model reads that a person declined it, with the note.

    Args:
        by: Who decides; may be empty.
        note: Why; the model reads it.
        value: What they chose beside it.
    """
    return Decision(approved=False, by=by, note=note, value=value, at=_now())


def _now() -> int:
    return int(time.time() * 1000)


def _text(option: str, given: object) -> None:
    if not isinstance(given, str):
        raise ConfigError(option, f"{option} is of the type {type(given).__name__}.", fix="Give a text.")


def is_decision(given: object) -> bool:
    """Whether an answer is a decision: `approved` true or false, and `by` a text, which may be empty (AGT-77)."""
    if isinstance(given, Decision):
        return True
    if not isinstance(given, Mapping):
        return False
    found = cast("Mapping[str, Any]", given)
    return isinstance(found.get("approved"), bool) and isinstance(found.get("by"), str)


def read_decision(given: Decision | Mapping[str, Any]) -> Decision:
    """A decision in either form; of the object, what has another type than it should is left out."""
    if isinstance(given, Decision):
        return given
    note, at, args = given.get("note"), given.get("at"), given.get("args")
    approved: bool = given["approved"]
    return Decision(
        approved=approved,
        by=given["by"],
        note=note if isinstance(note, str) else None,
        at=at if isinstance(at, int) and not isinstance(at, bool) else None,
        args=cast("JsonObject", args) if isinstance(args, Mapping) and approved else None,
        remember=_remember(given.get("remember")),
    )


def _remember(found: object) -> Remember:
    return found if found in _REMEMBER else "call"


@dataclass(frozen=True, slots=True)
class ConsentGate:
    """A question that only a decision answers."""

    kind: Literal["checkIn", "ask"]
    tool_name: str | None = None
    middleware: str | None = None

    def to_wire(self) -> dict[str, str]:
        """The gate as plain JSON."""
        wire = {"kind": self.kind, "toolName": self.tool_name, "middleware": self.middleware}
        return {key: text for key, text in wire.items() if text is not None}


def pause_demands_decision(pause_data: object) -> ConsentGate | None:
    """Which consent gate a question is; `None` when any answer will do (AGT-77)."""
    if not isinstance(pause_data, Mapping):
        return None
    data = cast("Mapping[str, Any]", pause_data)
    name = data.get("toolName")
    tool_name = name if isinstance(name, str) else None
    if isinstance(data.get("checkIn"), Mapping):
        return ConsentGate("checkIn", tool_name)
    ask = data.get("ask")
    if isinstance(ask, Mapping):
        rule = cast("Mapping[str, Any]", ask).get("middleware")
        return ConsentGate("ask", tool_name, rule if isinstance(rule, str) else None)
    return None


def require_decision(gate: ConsentGate, given: object) -> Decision:
    """The decision that an answer is.

    Raises:
        DecisionRequiredError: It is none; names its shape, never its value.
    """
    received: str | None = None
    if not is_decision(given):
        received = shape_of(given)
    elif isinstance(given, Mapping):
        corrected = cast("Mapping[str, Any]", given).get("args")
        if corrected is not None and not isinstance(corrected, Mapping):
            received = "a decision whose args are no object"
    if received is not None:
        raise DecisionRequiredError(gate.kind, received, tool_name=gate.tool_name, middleware=gate.middleware)
    return read_decision(cast("Decision", given))


def refuse_stale(pause_data: object, answer: object) -> None:
    """Refuse an answer that was chosen on other data than the question showed (AGT-88).

    Raises:
        StaleDecisionError: Both sides name their data, and it is not the same.
    """
    component = read_component(pause_data)
    asked = None if component is None else component.get("propsRef")
    if isinstance(answer, Decision):
        answered = None if answer.value is None else answer.value.from_
    else:
        value = cast("Mapping[str, Any]", answer).get("value") if isinstance(answer, Mapping) else None
        answered = cast("Mapping[str, Any]", value).get("from") if isinstance(value, Mapping) else None
    if isinstance(asked, str) and isinstance(answered, str) and asked != answered:
        raise StaleDecisionError(asked, answered)


def shape_of(given: object) -> str:  # noqa: PLR0911  one answer a kind
    """What kind of thing an answer is; never what it says."""
    if given is UNSET:
        return "nothing"
    if given is None:
        return "null"
    if isinstance(given, bool):
        return "a boolean"
    if isinstance(given, (int, float)):
        return "a number"
    if isinstance(given, str):
        return "a string"
    if isinstance(given, Mapping):
        return "an object that is not a decision"
    if isinstance(given, Sequence):
        return "an array"
    return f"a {type(given).__name__}"
