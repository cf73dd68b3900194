"""Which words of an event become a length in its record, and which objects the names of their keys (AUD-6, AUD-8)?

Characters are UTF-16 units, as everywhere on the wire. A list that becomes its length is not walked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias, cast

from agentfootprint.events import EVENT_TYPES
from agentfootprint.observe.audit.keeping import (
    DEEPEST,
    TOO_DEEP,
    elements,
    kept,
    kept_fields,
    list_length,
    members,
    more_said,
    type_in_words,
)
from agentfootprint.trace import Record, Value, utf16_length

__all__ = ["PayloadMode", "kept_payload"]

PayloadMode: TypeAlias = Literal["bounded", "strict", "verbatim"]
_Rule: TypeAlias = Callable[[Value], Value]
_Rules: TypeAlias = Mapping[str, _Rule]

_MOST_KEYS: Final = 32
_INDEX_LIMIT: Final = 2**32 - 1


def kept_payload(event_type: str, payload: Value, mode: PayloadMode) -> Value:
    """What a record keeps of an event's payload.

    Args:
        event_type: Its type, any text.
        payload: A payload class's instance, a frozen or a plain JSON value.
        mode: `verbatim` cuts only what is too long or too deep; `bounded` replaces what people and models said;
            `strict` also the free texts that `bounded` lets through.
    """
    if mode == "verbatim":
        return kept(payload, 0)
    if mode == "strict" and event_type not in _REGISTERED:
        return _without_texts(payload, 0)
    rules = _STRICT.get(event_type, _STRICT_ANYWHERE) if mode == "strict" else _BOUNDED.get(event_type, _ANYWHERE)
    if isinstance(payload, Record):
        return kept_fields(payload, rules, 0)
    items = members(payload)
    if items is None:
        return kept(payload, 0)
    return {key: rules[key](item) if key in rules else kept(item, 1) for key, item in items}


def _type(value: Value) -> str:
    return f"[type: {type_in_words(value)}]"


def _chars(value: Value) -> str:
    return f"[{utf16_length(value)} chars]" if isinstance(value, str) else _type(value)


def _chars_of_text(value: Value) -> Value:
    """For a field that is a text in some events and a flag in others."""
    return _chars(value) if isinstance(value, str) else kept(value, 1)


def _keys(value: Value) -> str:
    items = members(value)
    if items is None:
        return _type(value)
    keys = [key for key, _ in items]
    numbered = sorted((key for key in keys if _is_index(key)), key=int)
    named = [key for key in keys if not _is_index(key)]
    return f"[keys: {', '.join([*numbered, *named][:_MOST_KEYS])}]"


def _is_index(key: str) -> bool:
    """Whether JavaScript lists this key before the others, in the order of the numbers."""
    return key.isascii() and key.isdigit() and str(int(key[:11])) == key and int(key) < _INDEX_LIMIT


def _count(noun: str) -> _Rule:
    def counted(value: Value) -> str:
        length = list_length(value)
        return _type(value) if length is None else f"[{length} {noun}]"

    return counted


def _with_errors_counted(value: Value) -> Value:
    """A list of objects as it is kept, but with the length of each `error` in its place."""
    shown = kept(value, 1)
    if type(shown) is list:
        for item in cast("list[Any]", shown):
            if type(item) is dict and "error" in item:
                item["error"] = _chars_of_text(cast("dict[str, Any]", item)["error"])
    return cast("Value", shown)


def _without_texts(value: Value, depth: int) -> Value:
    """The shape of a value, every text in it replaced by its length: for events whose fields nobody here knows."""
    if isinstance(value, str):
        return _chars(value)
    if isinstance(value, (bool, int, float)) or value is None:
        return kept(value, depth)
    if depth >= DEEPEST:
        return TOO_DEEP
    items = members(value)
    if items is not None:
        return {key: _without_texts(item, depth + 1) for key, item in items}
    found = elements(value)
    return (
        _type(value) if found is None else more_said([_without_texts(item, depth + 1) for item in found[0]], found[1])
    )


def _by_type(table: Mapping[str, _Rules], common: _Rules) -> dict[str, _Rules]:
    return {f"agentfootprint.{name}": {**common, **rules} for name, rules in table.items()}


_ANYWHERE: Final[_Rules] = dict.fromkeys(("error", "errorMessage", "lastError"), _chars_of_text)
_BOUNDED_TABLE: Final[Mapping[str, _Rules]] = {
    "agent.turn_start": {"userPrompt": _chars},
    "agent.turn_end": {"finalContent": _chars},
    "agent.iteration_end": {"history": _count("messages")},
    "agent.output_schema_validation_failed": {"rawOutput": _chars},
    "stream.llm_end": {"content": _chars},
    "stream.token": {"content": _chars},
    "stream.thinking_delta": {"content": _chars},
    "stream.thinking_end": {"blocks": _count("blocks")},
    "stream.tool_start": {"args": _keys},
    "stream.tool_end": {"result": _type, "modelResult": _type},
    "context.injected": {"contentSummary": _chars, "rawContent": _chars},
    "context.slot_composed": {"droppedSummaries": _count("summaries")},
    "composition.merge_end": {"resultSummary": _chars},
    "memory.attached": {"contentSummary": _chars},
    "memory.written": {"contentSummary": _chars},
    "memory.strategy_applied": {"scoreEvidence": _keys},
    "pause.request": {"questionPayload": _keys},
    "pause.resume": {"resumeInput": _keys},
    "risk.flagged": {"evidence": _keys},
    "eval.score": {"evidence": _keys},
}
_STRICT_TABLE: Final[Mapping[str, _Rules]] = {
    "agent.turn_end": {"answerCoverage": _keys, "answerAssessment": _keys},
    "agent.evidence_checked": {"unsupported": _count("values"), "computed": _count("values")},
    "agent.output_schema_validation_failed": {"message": _chars},
    "checkin.request": {"request": _keys},
    "checkin.decision": {"note": _chars_of_text},
    "composition.route_decided": {"evidence": _keys},
    "context.evaluated": {"skippedDetails": _with_errors_counted},
    "integrity.context_error": {"message": _chars},
    "middleware.decision": {"why": _chars_of_text},
    "permission.halt": {"tellLLM": _chars_of_text},
    "resilience.output_canned_used": {"rawOutputPreview": _chars, "fallbackErrorMessage": _chars},
    "resilience.output_fallback_triggered": {"rawOutputPreview": _chars, "primaryErrorMessage": _chars},
    "stream.llm_start": {"systemPromptText": _chars},
    "stream.tool_end": {"notDispatched": _keys},
    "stream.tool_progress": {"payload": _keys},
    "stream.tool_start": {"notDispatched": _keys},
    "tools.effect": {"refusalReason": _chars_of_text},
    "tools.semantics_declared": {"semantics": _keys},
}
"""What the reference's table lets through (AUD-8), and the free texts of events that came after it."""

_STRICT_ANYWHERE: Final[_Rules] = {
    **_ANYWHERE, **dict.fromkeys(("rationale", "note", "message"), _chars_of_text),
}  # fmt: skip
_REASONS: Final[_Rules] = {"reason": _chars_of_text}
_WORDED: Final = ("skill.", "permission.", "pause.", "tools.effect", "fallback.", "credential.", "agent.handoff")
"""The types whose `reason` is somebody's words; elsewhere it is one of a few constants."""
_REGISTERED: Final = frozenset(EVENT_TYPES)

_BOUNDED: Final = _by_type(_BOUNDED_TABLE, _ANYWHERE)
_STRICT: Final = _by_type(
    {
        name: {
            **(_REASONS if name.startswith(_WORDED) else {}),
            **_BOUNDED_TABLE.get(name, {}),
            **_STRICT_TABLE.get(name, {}),
        }
        for name in (full.removeprefix("agentfootprint.") for full in EVENT_TYPES)
    },
    _STRICT_ANYWHERE,
)
