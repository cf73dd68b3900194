"""Is what a re-run needs on record, or did a policy keep it out (NEW-105)?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from agentfootprint.explain.errors import RedactedRecordError
from agentfootprint.recording import Recording, kept_out_words
from agentfootprint.trace import ABSENT, as_list, as_object

__all__ = ["refuse_kept_out"]


def refuse_kept_out(recording: Recording, *, asked_by: str) -> None:
    """Refuse a recording without the message, an argument, a result or the answer that a re-run starts from.

    Args:
        recording: The run.
        asked_by: What needs them, as the user typed it.

    Raises:
        RedactedRecordError: One of them is kept out; names it, never its value.
    """
    words = kept_out_words(recording.redaction)
    if words:
        for what, value in _needed(recording):
            if _holds(value, words):
                raise RedactedRecordError(what, asked_by=asked_by)


def _needed(recording: Recording) -> Iterator[tuple[str, Any]]:
    yield "the user's message", recording.user_message
    yield "the conversation that it went on with", recording.value_at("history", 1)
    answer = recording.answer
    yield "the answer", None if answer is None else answer[0]
    for use in recording.tool_uses:
        yield "an argument of a tool call", use.args
        yield "the result of a tool call", (None if use.value is ABSENT else use.value, use.result)


def _holds(value: Any, words: Sequence[str]) -> bool:  # noqa: ANN401  JSON
    if isinstance(value, str):
        return value in words or any(f'"{word}"' in value for word in words)
    fields = as_object(value)
    items = as_list(value) if fields is None else fields.values()
    if items is None and isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
    return items is not None and any(_holds(item, words) for item in items)
