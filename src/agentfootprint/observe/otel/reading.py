"""What an exporter may read off an event, whatever the event turned out to hold.

A payload may be a placeholder of a redaction policy, or of another version: a field that is not there, or is of another
type, is `None`. Texts are at most 256 characters and lists at most 20 items (SNK-23).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from agentfootprint.events import Event
from agentfootprint.llm import Usage
from agentfootprint.trace import truncate_utf16

__all__ = ["Attributes", "bounded", "field", "items", "moment", "number", "rows", "text", "usage_of", "value_type"]

Attributes: TypeAlias = dict[str, "str | bool | int | float | Sequence[str]"]

_CHARS: Final = 256
_ITEMS: Final = 20
_NS_PER_MS: Final = 1_000_000
_LATEST: Final = 2**63 - 1
_CACHE_INSIDE: Final = frozenset(("openai", "azure", "azure-openai", "gemini", "openai-responses"))
_THINKING_INSIDE: Final = frozenset(("openai", "openai-responses", "anthropic"))


def field(payload: object, name: str) -> Any:  # noqa: ANN401  whatever stands there
    """A field of a payload or of a plain object; `None` when it has none."""
    if isinstance(payload, Mapping):
        return cast("Mapping[str, Any]", payload).get(name)
    return getattr(payload, name, None)


def text(payload: object, name: str) -> str | None:
    """A text, bounded."""
    found = field(payload, name)
    return bounded(found) if isinstance(found, str) else None


def number(payload: object, name: str) -> int | float | None:
    """A number; a truth value is none."""
    found = field(payload, name)
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def rows(payload: object, name: str) -> Sequence[object] | None:
    """A list."""
    found = field(payload, name)
    return cast("Sequence[object]", found) if isinstance(found, Sequence) and not isinstance(found, str) else None


def bounded(value: str) -> str:
    """At most 256 UTF-16 units, the last of them `…` when something is missing."""
    return truncate_utf16(value, _CHARS)


def items(values: Iterable[object]) -> list[str]:
    """At most 20 texts, and how many more there are."""
    texts = [each for each in values if isinstance(each, str)]
    more = len(texts) - _ITEMS
    return [*map(bounded, texts[:_ITEMS]), *((f"…+{more} more",) if more > 0 else ())]


def moment(event: Event[Any]) -> int:
    """When it happened, in nanoseconds since the epoch; within what a span can say, whatever the clock said."""
    if event.facts.run_id:
        at = event.facts.started_at_ms * _NS_PER_MS + event.dt
    else:
        at = event.meta.wall_clock_ms * _NS_PER_MS
    return min(max(0, at), _LATEST)


def usage_of(counts: object, provider: str | None) -> Usage:
    """The usage of a model call; what its numbers contain is told by flags, or by the provider's name (DEC-42)."""
    name = provider or ""
    tokens_in = _count(counts, "input")
    if tokens_in is None or field(counts, "usage_reported") is False:
        return Usage(known=False)
    return Usage(
        input=tokens_in,
        output=_count(counts, "output"),
        cache_read=_count(counts, "cache_read"),
        cache_write=_count(counts, "cache_write"),
        thinking=_count(counts, "thinking"),
    ).containing(
        cache=field(counts, "input_includes_cache") is True or name in _CACHE_INSIDE,
        thinking=field(counts, "output_includes_thinking") is True or name in _THINKING_INSIDE,
    )


def _count(counts: object, name: str) -> int | None:
    found = number(counts, name)
    return None if found is None else int(found)


def value_type(value: object) -> str:
    """What a result is, in JavaScript's words: `null`, `boolean`, `number`, `string` or `object`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "object"
