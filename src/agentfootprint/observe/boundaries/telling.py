"""How is an event of the vocabulary told among the boundaries of a run?"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final

from msgspec import UNSET

from agentfootprint.events import (
    CompositionEnter,
    CompositionExit,
    ContextInjected,
    Event,
    LLMEnd,
    LLMStart,
    ToolEnd,
    ToolStart,
)
from agentfootprint.observe.boundaries.happenings import (
    ROOT,
    CompositionEnded,
    CompositionStarted,
    ContextEntered,
    DomainEvent,
    LLMEnded,
    LLMStarted,
    ToolEnded,
    ToolStarted,
)
from agentfootprint.observe.views.reading import address_of, text_of, told

__all__ = ["TOLD", "Teller"]

TOLD: Final = frozenset(
    kind.type for kind in (ContextInjected, LLMStart, LLMEnd, ToolStart, ToolEnd, CompositionEnter, CompositionExit)
)
"""The types of events that stand among the boundaries."""


class Teller:
    """Tells events; it knows from the last model call of a loop who speaks to the model next.

    Args:
        after_tools: Whether the run goes on behind a tool call, as a resumed one does.
    """

    def __init__(self, *, after_tools: bool = False) -> None:
        self.after_tools = after_tools
        self._asked: dict[tuple[str, ...], bool] = {}
        """Whether the last answer in a loop asked for tools."""

    def tell(self, event: Event[Any], commits: int) -> DomainEvent | None:
        """The record of an event; `None` for one that is not told, or says too little to be (BRG-5).

        Args:
            event: The event.
            commits: How many commits the run had made.
        """
        kind, payload = event.type, event.payload
        if kind not in TOLD or isinstance(payload, str):
            return None
        path = (ROOT, *event.meta.subflow_path)
        where: dict[str, Any] = {
            "runtime_stage_id": address_of(event),
            "subflow_path": path,
            "depth": len(path) - 1,
            "ts": event.meta.wall_clock_ms,
            "commit_idx_before": commits,
            "commit_idx_after": commits,
        }
        if kind == LLMStart.type:
            return self._asked_of(payload, where)
        if kind == LLMEnd.type:
            return self._answer_of(payload, where)
        return _PLAIN[kind](payload, where)

    def _asked_of(self, payload: Any, where: dict[str, Any]) -> LLMStarted:  # noqa: ANN401  any payload
        counts = ("system_prompt_chars", "messages_count", "tools_count")
        return LLMStarted(
            model=text_of(payload, "model"),
            provider=text_of(payload, "provider"),
            **{name: told(payload, name) for name in counts},
            actor_arrow="tool→llm" if self._asked.get(where["subflow_path"], self.after_tools) else "user→llm",
            **where,
        )

    def _answer_of(self, payload: Any, where: dict[str, Any]) -> LLMEnded:  # noqa: ANN401  any payload
        count = told(payload, "tool_call_count")
        count = count if isinstance(count, int) else 0
        self._asked[where["subflow_path"]] = count > 0
        return LLMEnded(
            content=text_of(payload, "content"),
            tool_call_count=count,
            usage=told(payload, "usage"),
            stop_reason=told(payload, "stop_reason"),
            actor_arrow="llm→tool" if count else "llm→user",
            **where,
        )


def _started(payload: Any, where: dict[str, Any]) -> ToolStarted:  # noqa: ANN401  any payload
    return ToolStarted(
        tool_name=text_of(payload, "tool_name"),
        tool_call_id=text_of(payload, "tool_call_id"),
        args=told(payload, "args"),
        not_dispatched=told(payload, "not_dispatched"),
        **where,
    )


def _ended(payload: Any, where: dict[str, Any]) -> ToolEnded:  # noqa: ANN401  any payload
    return ToolEnded(
        tool_call_id=text_of(payload, "tool_call_id"),
        result=UNSET if getattr(payload, "result", None) is UNSET else told(payload, "result"),
        duration_ms=told(payload, "duration_ms"),
        error=told(payload, "error"),
        not_dispatched=told(payload, "not_dispatched"),
        **where,
    )


def _injected(payload: Any, where: dict[str, Any]) -> ContextEntered:  # noqa: ANN401  any payload
    same = (
        *("source_id", "as_role", "content_summary", "reason", "section_tag", "upstream_ref", "retrieval_score"),
        "rank_position",
    )
    spent = told(payload, "budget_spent")
    return ContextEntered(
        slot=text_of(payload, "slot"),
        source=text_of(payload, "source"),
        **{name: told(payload, name) for name in same},
        budget_tokens=told(spent, "tokens"),
        budget_fraction=told(spent, "fraction_of_cap"),
        **where,
    )


def _entered(payload: Any, where: dict[str, Any]) -> CompositionStarted:  # noqa: ANN401  any payload
    return CompositionStarted(**_named(payload), **where)


def _left(payload: Any, where: dict[str, Any]) -> CompositionEnded:  # noqa: ANN401  any payload
    took = told(payload, "duration_ms")
    return CompositionEnded(
        status=text_of(payload, "status"),
        duration_ms=took if isinstance(took, (int, float)) else 0,
        **_named(payload),
        **where,
    )


def _named(payload: Any) -> dict[str, str]:  # noqa: ANN401  any payload
    return {
        "kind": text_of(payload, "kind"),
        "composition_id": text_of(payload, "id"),
        "name": text_of(payload, "name"),
    }


_PLAIN: Final[MappingProxyType[str, Callable[[Any, dict[str, Any]], DomainEvent]]] = MappingProxyType(
    {
        ContextInjected.type: _injected,
        ToolStart.type: _started,
        ToolEnd.type: _ended,
        CompositionEnter.type: _entered,
        CompositionExit.type: _left,
    }
)
