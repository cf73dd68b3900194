"""How many tokens did the run take, by model?

Invariants (AGU-14): every part is counted once, whatever the vendor's numbers contain (DEC-42); a call whose usage is
not known adds nothing, and its entry then claims no total (DEC-6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec import UNSET

from agentfootprint.agui.mapping.moments import Moment, clean, told, whole
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.llm import Usage

__all__ = ["Spent"]

_CACHE_INSIDE: Final = frozenset(("openai", "azure", "azure-openai", "gemini", "openai-responses"))
_THINKING_INSIDE: Final = frozenset(("openai", "openai-responses", "anthropic"))
"""Vendors whose numbers contain those parts; for recordings that carry no flag (DEC-42)."""

_Model: TypeAlias = "tuple[str | None, str | None]"


@dataclass(slots=True)
class _Entry:
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int | None = None
    written: int | None = None
    thought: int | None = None
    is_known: bool = False
    is_whole: bool = True

    def add(self, usage: Usage) -> None:
        if not usage.known:
            self.is_whole = False
            return
        tokens_in, tokens_out = usage.totals()
        self.is_known = True
        self.tokens_in += max(0, tokens_in)
        self.tokens_out += max(0, tokens_out)
        self.cached = _sum(self.cached, usage.cache_read)
        self.written = _sum(self.written, usage.cache_write)
        self.thought = _sum(self.thought, usage.thinking)

    def row(self, provider: str | None, model: str | None) -> core.TokenUsage:
        if not self.is_known:
            return core.TokenUsage(provider=provider, model=model)
        return core.TokenUsage(
            provider=provider,
            model=model,
            input_tokens=self.tokens_in,
            output_tokens=self.tokens_out,
            total_tokens=self.tokens_in + self.tokens_out if self.is_whole else None,
            cached_input_tokens=self.cached,
            cache_write_input_tokens=self.written,
            reasoning_tokens=self.thought,
        )


class Spent:
    """The token usage of one run."""

    def __init__(self) -> None:
        self._entries: dict[_Model, _Entry] = {}
        self._asked: dict[str, _Model] = {}
        """By address, of model calls in flight."""
        self._last: dict[str, _Model] = {}
        """By scope."""

    def asked(self, moment: Moment) -> None:
        """A model call begins."""
        model = _text(moment.payload, "provider"), _text(moment.payload, "model")
        self._asked[moment.address] = self._last[moment.scope] = model

    def replied(self, moment: Moment) -> None:
        """A model call has returned."""
        model = self._asked.pop(moment.address, None) or self._last.get(moment.scope) or (None, None)
        self._entries.setdefault(model, _Entry()).add(_usage(told(moment.payload, "usage"), model[0]))

    @property
    def totals(self) -> tuple[int, int]:
        """Tokens in and out so far, as far as they are known."""
        entries = self._entries.values()
        return sum(entry.tokens_in for entry in entries), sum(entry.tokens_out for entry in entries)

    def rows(self) -> list[core.TokenUsage] | None:
        """One entry for each model; `None` when there is none to say anything of."""
        told = [(model, entry) for model, entry in self._entries.items() if entry.is_known or any(model)]
        return [entry.row(*model) for model, entry in told] or None


def _usage(counts: object, provider: str | None) -> Usage:
    tokens_in, tokens_out = whole(counts, "input"), whole(counts, "output")
    if (tokens_in is None and tokens_out is None) or told(counts, "usage_reported") is False:
        return Usage(known=False)
    return Usage(
        input=tokens_in,
        output=tokens_out,
        cache_read=whole(counts, "cache_read"),
        cache_write=whole(counts, "cache_write"),
        thinking=whole(counts, "thinking"),
    ).containing(
        cache=told(counts, "input_includes_cache") is True or provider in _CACHE_INSIDE,
        thinking=told(counts, "output_includes_thinking") is True or provider in _THINKING_INSIDE,
    )


def _text(payload: object, name: str) -> str | None:
    found = told(payload, name)
    return clean(found) if isinstance(found, str) and found is not UNSET else None


def _sum(left: int | None, right: int | None) -> int | None:
    return left if right is None else max(0, right) + (left or 0)
