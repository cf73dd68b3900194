"""What does a paused run ask, in the client's words?

Invariants (AGU-70, AGU-71): read from the question as it is on record, so what a policy hid stays hidden; each question
has an id of its own; where a person consents is never taken from the record, only handed in for the owner.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from msgspec import UNSET

from agentfootprint.agui.ids import AgUiIds
from agentfootprint.agui.mapping.calls import Calls
from agentfootprint.agui.mapping.moments import Moment, clean, hidden, told, whole
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.trace import JsonObject, thaw

__all__ = ["DECISION_SCHEMA", "Questions"]

DECISION_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "note": {"type": "string"}},
    "required": ["approved"],
}
"""What answers a check-in, or a rule's question."""
_CONSENT: Final = "agentfootprint:authorization_required"
_NO_DATA: Final[JsonObject] = {}


class Questions:
    """The open questions of one run.

    Args:
        ids: Mints their ids.
        calls: Knows which call a question is about.
    """

    def __init__(self, ids: AgUiIds, calls: Calls) -> None:
        self._ids, self._calls = ids, calls
        self._open: list[core.Interrupt] = []

    @property
    def is_paused(self) -> bool:
        """Whether the run waits for a person."""
        return bool(self._open)

    def asked(self, moment: Moment) -> None:
        """The run pauses."""
        found = told(moment.payload, "question_payload")
        data = cast("JsonObject", found) if isinstance(found, Mapping) else _NO_DATA
        placeholder = found if isinstance(found, str) else hidden(moment.payload)
        reason = told(moment.payload, "reason")
        said = placeholder or (reason if isinstance(reason, str) else None)
        self.read(data, moment.scope, moment.address, said)

    def read(self, data: JsonObject, scope: str, address: str, said: str | None = None) -> None:
        """Take up what is asked.

        Args:
            data: The question, others beside it.
            scope: Where the run paused.
            address: Of the pause.
            said: Why, where the question does not say it.
        """
        rest = (cast("JsonObject", each) for each in _items(data.get("alsoAsked")) if isinstance(each, Mapping))
        self._open = [self._question(each, scope, address, said) for each in (data, *rest)]

    def resumed(self) -> None:
        """The run goes on."""
        self._open = []

    def interrupts(self, urls: Mapping[str, str] | None = None) -> list[core.Interrupt]:
        """The open questions.

        Args:
            urls: Where a person consents, by the id of the consent's session.
        """
        return [_with_url(question, urls) for question in self._open] if urls else list(self._open)

    def _question(self, data: JsonObject, scope: str, address: str, said: str | None) -> core.Interrupt:
        provider_id = data.get("toolCallId")
        call = self._calls.asked(scope, provider_id if isinstance(provider_id, str) else None, whole(data, "index"))
        parts = _parts(data, said, has_tool=call is not None or isinstance(data.get("toolName"), str))
        own = {
            "gate": parts["gate"],
            **{key: value for key in ("toolName", "toolCallId") if isinstance(value := data.get(key), str)},
            **parts["more"],
        }
        component = _component(data)
        if component is not None:
            own["component"] = thaw(component)
        message = parts["message"]
        return core.Interrupt(
            id=self._ids.next("interrupt", address if call is None else call.address).id,
            reason=parts["reason"],
            message=clean(message) if isinstance(message, str) and message else None,
            tool_call_id=None if call is None else call.id,
            response_schema=parts["schema"],
            expires_at=_expiry(data),
            metadata={"agentfootprint": own},
        )


def _parts(data: JsonObject, said: str | None, *, has_tool: bool) -> dict[str, Any]:
    if _asks(data, "checkIn"):
        return _check_in(data["checkIn"])
    if _asks(data, "ask"):
        return _ask(data["ask"], has_tool=has_tool)
    if _asks(data, "authorization"):
        return _consent(data["authorization"])
    if _asks(data, "awaitingInput"):
        return _input(data["awaitingInput"])
    schema = data.get("responseSchema")
    own = (data.get(key) for key in ("reason", "question", "data"))
    message = next((text for text in own if isinstance(text, str) and text), said)
    return {
        "gate": "value",
        "reason": "input_required",
        "message": message,
        "schema": thaw(schema) if isinstance(schema, Mapping) else None,
        "more": {},
    }


def _asks(data: JsonObject, key: str) -> bool:
    """Whether a question is of a kind; a placeholder that hides it says so too."""
    return isinstance(data.get(key), (Mapping, str))


def _check_in(request: object) -> dict[str, Any]:
    evidence = told(request, "evidence")
    message = evidence if isinstance(evidence, str) else told(evidence, "will_do")
    return {
        "gate": "checkIn",
        "reason": "tool_call",
        "message": request if isinstance(request, str) else message,
        "schema": thaw(DECISION_SCHEMA),
        "more": {"checkIn": thaw(request)},
    }


def _ask(asked: object, *, has_tool: bool) -> dict[str, Any]:
    rule = told(asked, "middleware")
    more: dict[str, Any] = {"middleware": rule} if isinstance(rule, str) else {}
    return {
        "gate": "ask",
        "reason": "tool_call" if has_tool else "confirmation",
        "message": asked if isinstance(asked, str) else told(asked, "question"),
        "schema": thaw(DECISION_SCHEMA),
        "more": {**more, "ask": thaw(asked)},
    }


def _consent(asked: object) -> dict[str, Any]:
    named = {key: value for key in ("service", "sessionId") if isinstance(value := _member(asked, key), str)}
    service = named.get("service")
    message = f"Your permission to use {service} is needed." if service else "Your permission is needed."
    return {"gate": "consent", "reason": _CONSENT, "message": message, "schema": None, "more": named}


def _input(asked: object) -> dict[str, Any]:
    supplied = _member(asked, "supplied")
    names = list(cast("JsonObject", supplied)) if isinstance(supplied, Mapping) else []
    fields = [
        cast("JsonObject", each)
        for each in _items(_member(asked, "fields"))
        if isinstance(each, Mapping) and isinstance(cast("JsonObject", each).get("id"), str)
    ]
    more: dict[str, Any] = {"fields": [each["id"] for each in fields], "supplied": names}
    request_id, refused = _member(asked, "requestId"), _member(asked, "refused")
    if isinstance(request_id, str):
        more["requestId"] = request_id
    reason = refused if isinstance(refused, str) else _member(refused, "reason")
    if isinstance(reason, str):
        more["refused"] = reason
    return {
        "gate": "input",
        "reason": "input_required",
        "message": asked if isinstance(asked, str) else _member(asked, "question"),
        "schema": _schema([each for each in fields if each["id"] not in names]),
        "more": more,
    }


def _schema(fields: Sequence[JsonObject]) -> dict[str, Any] | None:
    """An object of the values that are missing: types, choices, and which must be given."""
    if not fields:
        return None
    properties = {
        each["id"]: {key: thaw(each[key]) for key in ("type", "description", "enum") if each.get(key) is not None}
        for each in fields
    }
    required = [each["id"] for each in fields if each.get("required") is not False]
    return {"type": "object", "properties": properties, "required": required}


def _component(data: JsonObject) -> object | None:
    for part in (data, data.get("checkIn"), data.get("ask")):
        found = _member(part, "component")
        if isinstance(found, (Mapping, str)):
            return cast("object", found)
    return None


def _expiry(data: JsonObject) -> str | None:
    found = _member(data.get("checkIn"), "expiresAt")
    if not isinstance(found, str):
        return None
    try:
        dt.datetime.fromisoformat(found)
    except ValueError:
        return None  # a placeholder that hides it is no time
    return found


def _member(found: object, key: str) -> Any:  # noqa: ANN401  whatever stands there
    return cast("JsonObject", found).get(key, UNSET) if isinstance(found, Mapping) else UNSET


def _items(found: object) -> Sequence[object]:
    return cast("Sequence[object]", found) if isinstance(found, Sequence) and not isinstance(found, str) else ()


def _with_url(question: core.Interrupt, urls: Mapping[str, str]) -> core.Interrupt:
    own: Any = (question.metadata or {}).get("agentfootprint", {})
    url = urls.get(own.get("sessionId", "")) if question.reason == _CONSENT else None
    if url is None:
        return question
    return question.model_copy(update={"metadata": {"agentfootprint": {**own, "authorizationUrl": url}}})
