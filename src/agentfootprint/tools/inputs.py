"""How does a tool ask for typed values, and which replies does such a request take?

A request is plain JSON, so it is checked the same when it is made, shown and answered, in any process. Values are
checked and never converted; what does not fit is refused by field, never by value (NEW-3 to NEW-7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Literal, NoReturn, cast

from agentfootprint.tools.asking import PersonAsked
from agentfootprint.tools.boundaries import read_coverage
from agentfootprint.tools.errors import InputRequestError
from agentfootprint.trace import FrozenDict, JsonObject, Value, ValueRefusedError, compact_json, deep_equal, freeze

__all__ = ["InputField", "InputReply", "read_reply", "request_input"]

_MOST_FIELDS: Final = 32
_MOST_CHOICES: Final = 100
_LONGEST_TEXT: Final = 4_096
_LARGEST_CONTEXT: Final = 16_384
_TYPES: Final[Mapping[object, str]] = {
    str: "string", "string": "string", int: "number", float: "number", "number": "number", bool: "boolean",
    "boolean": "boolean",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class InputField:
    """One value that a person is asked for.

    Args:
        id: Its name in the reply.
        type: `str`, `float` (or `int`) or `bool`, or the words `"string"`, `"number"`, `"boolean"`.
        required: Whether the request is answered only when it is there.
        description: What it is, for the person.
        enum: The values it may have.

    Raises:
        InputRequestError: It can't be asked for.
    """

    id: str
    type: type[str | float | bool] | Literal["string", "number", "boolean"] = "string"
    _: KW_ONLY
    required: bool = True
    description: str | None = None
    enum: Sequence[str | float | bool] | None = None

    def __post_init__(self) -> None:
        """Refuse what no reply could fit."""
        _check_text("a field's id", self.id)
        if self.type not in _TYPES:
            raise _fault(f"the field {self.id!r} has the type {self.type!r}", "Use str, float or bool.")
        if self.description is not None:
            _check_text(f"the description of {self.id!r}", self.description)
        if self.enum is not None:
            if isinstance(self.enum, str) or not 1 <= len(self.enum) <= _MOST_CHOICES:
                raise _fault(f"the field {self.id!r} has no choices, or more than {_MOST_CHOICES}", "Give a list.")
            wrong = next((each for each in self.enum if not _fits(_TYPES[self.type], each)), None)
            if wrong is not None:
                raise _fault(f"a choice of the field {self.id!r} is of another type than the field", "Mend it.")

    def to_wire(self) -> JsonObject:
        """The field as a frozen JSON object."""
        wire: dict[str, Any] = {"id": self.id, "type": _TYPES[self.type], "required": self.required}
        if self.description is not None:
            wire["description"] = self.description
        if self.enum is not None:
            wire["enum"] = list(self.enum)
        return freeze(wire)


def request_input(
    *,
    id: str,
    question: str,
    fields: Sequence[InputField],
    supplied: JsonObject | None = None,
    context: JsonObject | None = None,
    absence: JsonObject | None = None,
    refused: JsonObject | None = None,
) -> NoReturn:
    """Ask a person for values from inside a tool: the run pauses, and the values become the result of this call.

    The tool is not run again. Replies that give some of the values are taken; the rest is asked for again.

    Args:
        id: What is asked for, in the application's words; the same for the same question.
        question: What the person reads.
        fields: The values, 1 to 32; at least one that is required must be missing.
        supplied: Values that are known already, by field.
        context: More for whoever shows the question; at most 16,384 characters of JSON.
        absence: What `absent()` gave: on record at once that something was looked for and not found.
        refused: Why an earlier answer was not taken: `{"reason": ..., "answer"?: ...}`.

    Raises:
        InputRequestError: The request is at fault; an error of this call.
    """
    _check_text("the request's id", id)
    _check_text("the question", question)
    if not 1 <= len(fields) <= _MOST_FIELDS:
        raise _fault(f"it has {len(fields)} fields", f"Ask for 1 to {_MOST_FIELDS} values.")
    names = [field.id for field in fields]
    if len(set(names)) != len(names):
        raise _fault("two fields have one id", "Give each its own.")
    declared = [field.to_wire() for field in fields]
    known: JsonObject = freeze(_object("supplied", supplied) or {})
    for name, value in known.items():
        _check_value(declared, name, value)
    missing = [field.id for field in fields if field.required and field.id not in known]
    if not missing:
        raise _fault("no required value is missing", "Go on without asking.")
    asked: dict[str, Any] = {
        "status": "awaiting_input",
        "id": id,
        "question": question,
        "fields": declared,
        "supplied": dict(known),
        "origins": dict.fromkeys(known, "declaration"),
        "missing": missing,
    }
    more = _object("context", context)
    if more is not None:
        if len(compact_json(more)) > _LARGEST_CONTEXT:
            raise _fault("its context is too large", f"Keep it within {_LARGEST_CONTEXT} characters.")
        asked["context"] = more
    why = _object("refused", refused)
    if why is not None:
        _check_text("the reason of `refused`", why.get("reason"))
        asked["refused"] = why
    raised = PersonAsked(freeze({"awaitingInput": asked}), state={"pausedInput": freeze(asked)})
    if absence is not None:
        reading = read_coverage(_object("absence", absence) or {})
        if reading is None or reading.status != "absent":
            raise _fault("its absence is none that `absent()` gave", "Pass absence=absent(...).")
        raised.coverage = reading
    raise raised


@dataclass(frozen=True, slots=True)
class InputReply:
    """What a reply makes of a request."""

    request: FrozenDict
    """The request with the values that were given."""
    is_cancelled: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether nothing that is required is missing."""
        return not len(self.request["missing"])

    def result(self) -> FrozenDict:
        """What the tool's result is (NEW-7)."""
        request = self.request
        if self.is_cancelled:
            return FrozenDict({"status": "input_cancelled", "requestId": request["requestId"]})
        found = {
            "status": "input_received",
            "requestId": request["requestId"],
            "values": request["supplied"],
            "origins": request["origins"],
            "context": request.get("context"),
            "origin": request["origin"],
        }
        return FrozenDict({key: value for key, value in found.items() if value is not None})


def read_reply(request: FrozenDict, given: object) -> InputReply:
    """Check a reply, and put its values into the request.

    Args:
        request: The pause's `awaitingInput`.
        given: `{"requestId", "values"}`, or `{"requestId", "cancel": true}`.

    Raises:
        InputRequestError: It is neither, is for another request, or a value does not fit its field.
    """
    shape = 'Answer with {"requestId": ..., "values": {...}}, or {"requestId": ..., "cancel": true}.'
    if not isinstance(given, Mapping):
        raise _fault(f"the answer is a {type(given).__name__}", shape)
    reply = cast("JsonObject", given)
    if reply.get("requestId") != request["requestId"]:
        raise _fault("the answer is for another request", "Give the requestId of the question.")
    if set(reply) == {"requestId", "cancel"} and reply["cancel"] is True:
        return InputReply(request, is_cancelled=True)
    values = reply.get("values")
    if set(reply) != {"requestId", "values"} or not isinstance(values, Mapping) or not len(cast("JsonObject", values)):
        raise _fault("the answer has other parts, or no value", shape)
    try:
        named: JsonObject = freeze(cast("JsonObject", values))
    except ValueRefusedError as refused:
        raise _fault("a value of the answer can't be recorded", "Give JSON values.") from refused
    fields = cast("Sequence[JsonObject]", request["fields"])
    for name, value in named.items():
        _check_value(fields, name, value)
    supplied = {**dict(request["supplied"].items()), **named}
    origins = {**dict(request["origins"].items()), **dict.fromkeys(named, "response")}
    missing = [field["id"] for field in fields if field["required"] and field["id"] not in supplied]
    merged = {**dict(request.items()), "supplied": supplied, "origins": origins, "missing": missing}
    return InputReply(freeze(merged))


def _check_value(fields: Sequence[JsonObject], name: str, value: Value) -> None:
    field = next((each for each in fields if each["id"] == name), None)
    if field is None:
        raise _fault(f"there is no field {name!r}", "Name one of the request's.")
    if not _fits(field["type"], value):
        raise _fault(f"the value of {name!r} is no {field['type']}", "Give one; nothing is converted.")
    choices = field.get("enum")
    if choices is not None and not any(deep_equal(value, each) for each in choices):
        raise _fault(f"the value of {name!r} is none of its choices", "Give one of them.")


def _fits(kind: str, value: object) -> bool:
    if kind == "string":
        return isinstance(value, str) and len(value) <= _LONGEST_TEXT
    if kind == "boolean":
        return isinstance(value, bool)
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _object(what: str, given: object) -> FrozenDict | None:
    if given is None:
        return None
    try:
        frozen = freeze(given)
    except ValueRefusedError as refused:
        raise _fault(f"its {what} can't be recorded", "Give JSON values.") from refused
    if not isinstance(frozen, FrozenDict):
        raise _fault(f"its {what} is no object", "Give an object.")
    return frozen


def _check_text(what: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST_TEXT:
        raise _fault(f"{what} is no text, blank, or longer than {_LONGEST_TEXT} characters", "Give a text.")


def _fault(problem: str, fix: str) -> InputRequestError:
    return InputRequestError(f"A request for input can't be used: {problem}.", fix=fix)
