"""Is every open question answered, and with what does the run go on?

Invariants: a request answers all open questions or none (AGU-73); what a client's payload says of who decided, or of
other arguments, is never read (AGU-74); a refusal names fields, never values.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.agui.errors import AgUiRefusedError
from agentfootprint.agui.interrupts.payloads import check_payload
from agentfootprint.agui.threads.stored import now_ms
from agentfootprint.tools import NO_VALUE_TEXT
from agentfootprint.trace import ValueRefusedError, freeze

if TYPE_CHECKING:
    from agentfootprint.agent import Paused
    from agentfootprint.agui.mapping.protocol import core
    from agentfootprint.agui.threads.facts import OpenInterrupt
    from agentfootprint.trace import Value

__all__ = ["read_answers"]

_DECIDED: Final = ("checkIn", "ask")
_CANCELLED: Final = "cancelled"
_AS_ASKED: Final = "Send one entry for each interrupt of the last run, under the ids that it had."


def read_answers(
    resume: Sequence[core.ResumeEntry], asked: Sequence[OpenInterrupt], paused: Paused, *, by: str
) -> Value:
    """What the questions of a paused run are answered with.

    Args:
        resume: The request's entries.
        asked: What the client was asked, in the order of the run's questions.
        paused: The run's questions.
        by: Who decides: the authenticated caller.

    Returns:
        What `Agent.resume` takes: one answer, or a list of them where several questions are open.

    Raises:
        AgUiRefusedError: An entry is for no open question, a question has no entry or is too old, or a payload does
            not fit what was asked.
    """
    given: dict[str, core.ResumeEntry] = {}
    known = {each.id for each in asked}
    for entry in resume:
        if entry.interrupt_id not in known:
            raise AgUiRefusedError("interrupt_unknown", "An entry of resume is for no open interrupt.", fix=_AS_ASKED)
        if entry.interrupt_id in given:
            raise _invalid("interruptId", "is given twice")
        given[entry.interrupt_id] = entry
    if len(given) < len(known):
        raise AgUiRefusedError("interrupt_incomplete", "An open interrupt has no entry in resume.", fix=_AS_ASKED)
    now = now_ms()
    if any(_is_over(each, now) and given[each.id].status != _CANCELLED for each in asked):
        raise AgUiRefusedError(
            "interrupt_expired",
            "The question was open until an earlier time.",
            fix="Give it up with the status cancelled, which is never too late, and ask anew.",
        )
    questions = _question_data(paused)
    answers = [
        _answer(each, given[each.id], questions[place] if place < len(questions) else {}, by=by)
        for place, each in enumerate(asked)
    ]
    return answers[0] if len(questions) <= 1 else answers


def _question_data(paused: Paused) -> list[Mapping[str, Any]]:
    return [each.data for each in paused.questions] or [paused.data]


def _answer(asked: OpenInterrupt, entry: core.ResumeEntry, data: Mapping[str, Any], *, by: str) -> Value:
    if entry.status == _CANCELLED:
        if asked.gate in _DECIDED:
            return {"approved": False, "by": by, "note": _CANCELLED, "at": now_ms()}
        request = _request_id(data)
        return NO_VALUE_TEXT if request is None else {"requestId": request, "cancel": True}
    payload: Any = entry.payload
    if payload is None and "payload" not in entry.model_fields_set:
        raise _invalid("payload", "is missing")
    try:
        freeze(payload)
    except (ValueRefusedError, RecursionError):
        raise _invalid("payload", "holds what can't be recorded") from None  # the cause names keys of it
    if asked.response_schema is not None:
        fault = check_payload(asked.response_schema, payload)
        if fault is not None:
            raise _invalid(*fault)
    if asked.gate not in _DECIDED:
        request = _request_id(data)
        return payload if request is None else {"requestId": request, "values": payload}
    return _decision(payload, by)


def _decision(payload: object, by: str) -> dict[str, Any]:
    """A decision with what a client may say of it, and the caller's name."""
    given: Mapping[str, Any] = cast("Mapping[str, Any]", payload) if isinstance(payload, Mapping) else {}
    if not isinstance(given.get("approved"), bool):  # whatever schema the question declared
        raise _invalid("payload.approved", "is no boolean")
    decision: dict[str, Any] = {"approved": given["approved"], "by": by, "at": now_ms()}
    note = given.get("note")
    if note is not None:
        if not isinstance(note, str):
            raise _invalid("payload.note", "is no text")
        decision["note"] = note
    if given.get("value") is not None:
        decision["value"] = given["value"]
    return decision


def _request_id(data: Mapping[str, Any]) -> str | None:
    asked: object = data.get("awaitingInput")
    found: object = cast("Mapping[str, Any]", asked).get("requestId") if isinstance(asked, Mapping) else None
    return found if isinstance(found, str) else None


def _is_over(asked: OpenInterrupt, now: int) -> bool:
    if asked.expires_at is None:
        return False
    until = dt.datetime.fromisoformat(asked.expires_at)
    if until.tzinfo is None:
        until = until.replace(tzinfo=dt.UTC)
    return until.timestamp() * 1000 < now


def _invalid(field: str, problem: str) -> AgUiRefusedError:
    return AgUiRefusedError("interrupt_invalid", f"The answer's {field} {problem}.", fix="Answer what was asked.")
