"""What stands in the three slots of a request: a row for each piece, and the sums over the rows.

A row is the payload of `context.injected`, a composition that of `context.slot_composed`: what the state keeps and
what a listener hears is one value. Lengths count UTF-16 code units, as the wire does (SLOT-12).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from agentfootprint.events import ContextInjected, ContextSlotComposed, SlotBudget, SourceShare
from agentfootprint.llm import ToolSchema
from agentfootprint.trace import FrozenDict, FrozenList, fnv1a, freeze, truncate_utf16, utf16_length

__all__ = [
    "MESSAGES_CAP",
    "SYSTEM_PROMPT_CAP",
    "TOOLS_CAP",
    "base_row",
    "compose",
    "piece_row",
    "piece_tool_row",
    "rows_text",
    "slot_totals",
    "tool_rows",
]

Slot: TypeAlias = Literal["system-prompt", "messages", "tools"]

SYSTEM_PROMPT_CAP: Final = 4000
MESSAGES_CAP: Final = 10_000
TOOLS_CAP: Final = 2000
_SUMMARY_LENGTH: Final = 80


def _row(text: str, hashed: str, slot: Slot, source: str, reason: str, source_id: str | None = None) -> ContextInjected:
    return ContextInjected(
        content_summary=truncate_utf16(text, _SUMMARY_LENGTH),
        content_hash=fnv1a(hashed),
        slot=slot,
        source=source,
        reason=reason,
        raw_content=text,
        source_id=source_id,
    )


def base_row(text: str) -> ContextInjected:
    """The row of the base prompt (SLOT-1)."""
    return _row(text, f"sp:{text}", "system-prompt", "base", "Agent.system()")


def piece_row(id: str, flavor: str, text: str, reason: str) -> ContextInjected:
    """The row of a piece in the system prompt."""
    return _row(text, f"sp:{flavor}:{id}:{text}", "system-prompt", flavor, reason, id)


def tool_rows(schemas: Sequence[ToolSchema]) -> FrozenList:
    """The rows of the registered tools, in order (SLOT-11)."""
    rows: list[ContextInjected] = []
    for position, schema in enumerate(schemas):
        text = f"{schema.name}: {schema.description}"
        hashed = f"tool:{schema.name}:{schema.description}"
        rows.append(
            ContextInjected(
                content_summary=truncate_utf16(text, _SUMMARY_LENGTH),
                content_hash=fnv1a(hashed),
                slot="tools",
                source="registry",
                source_id=schema.name,
                reason="tool registry",
                raw_content=text,
                position=position,
            )
        )
    return freeze(rows)


def piece_tool_row(schema: ToolSchema, piece: str, flavor: str, position: int) -> ContextInjected:
    """The row of a tool that a piece brings; its place counts over all sources (SLOT-10, SLOT-11)."""
    text = f"{schema.name}: {schema.description}"
    return ContextInjected(
        content_summary=truncate_utf16(text, _SUMMARY_LENGTH),
        content_hash=fnv1a(f"tool:{flavor}:{piece}:{schema.name}"),
        slot="tools",
        source=flavor,
        source_id=piece,
        reason=f"unlocked by {flavor} '{piece}'",
        raw_content=text,
        position=position,
    )


def rows_text(rows: Sequence[ContextInjected]) -> str | None:
    """The system prompt of a request: the texts of the rows, joined by a blank line (AGT-40)."""
    texts = [row.raw_content for row in rows if row.raw_content]
    return "\n\n".join(texts) if texts else None


def slot_totals(rows: Sequence[ContextInjected]) -> tuple[int, FrozenDict]:
    """Characters used by the rows, and `{source: {chars, count}}` in order of first appearance (SLOT-8)."""
    used = 0
    sources: dict[str, list[int]] = {}
    for row in rows:
        length = utf16_length(row.content_summary if row.raw_content is None else row.raw_content)
        used += length
        sums = sources.setdefault(row.source, [0, 0])
        sums[0] += length
        sums[1] += 1
    return used, FrozenDict({name: SourceShare(chars=chars, count=count) for name, (chars, count) in sources.items()})


def compose(
    slot: Slot, iteration: int, cap: int, totals: tuple[int, FrozenDict], ordering: str | None = None
) -> ContextSlotComposed:
    """The record that closes a slot's pass (SLOT-8)."""
    used, sources = totals
    return ContextSlotComposed(
        slot=slot,
        iteration=iteration,
        budget=SlotBudget(cap=cap, used=used, headroom_chars=max(0, cap - used)),
        source_breakdown=sources,
        dropped_count=0,
        dropped_summaries=(),
        ordering_strategy=ordering,
    )
