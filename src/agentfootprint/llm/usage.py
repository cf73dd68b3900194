"""How many tokens did a model call take, and is that known at all?

Invariants: an unreported count is `None`, never 0 (PRT-5); a call whose provider reported nothing is not known, and is
never free (DEC-6); `totals` counts every part once, whatever the vendor's own numbers contain (DEC-42).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from agentfootprint.llm.errors import UnknownUsageError

__all__ = ["Usage"]


class Usage(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The vendor's numbers for one call, or their sum over several.

    What a vendor's `input` and `output` contain already is said with `containing`, by the adapter.

    Args:
        known: Whether the provider reported usage; always false without `input` and `output`.
        input: Tokens of the prompt.
        output: Tokens of the reply.
        cache_read: Tokens of the prompt that were read from the vendor's cache.
        cache_write: Tokens of the prompt that were written to it.
        thinking: Tokens the model spent on thinking.

    Example:
        >>> Usage(input=100, output=20, cache_read=80).totals()
        (180, 20)
        >>> Usage(input=100, output=20, cache_read=80).containing(cache=True).totals()
        (100, 20)
    """

    known: bool = True
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    thinking: int | None = None
    _cache_inside: bool = False
    _thinking_inside: bool = False

    def __post_init__(self) -> None:
        if self.known and self.input is None and self.output is None:
            force_setattr(self, "known", False)

    @property
    def input_includes_cache(self) -> bool:
        """Whether `input` contains the cached parts."""
        return self._cache_inside

    @property
    def output_includes_thinking(self) -> bool:
        """Whether `output` contains `thinking`."""
        return self._thinking_inside

    def containing(self, *, cache: bool = False, thinking: bool = False) -> Usage:
        """The same numbers, read otherwise (DEC-42).

        Args:
            cache: `input` contains `cache_read` and `cache_write`, as with OpenAI and Gemini.
            thinking: `output` contains `thinking`, as with OpenAI and Anthropic.
        """
        return msgspec.structs.replace(self, _cache_inside=cache, _thinking_inside=thinking)

    def totals(self) -> tuple[int, int]:
        """Tokens in and out, every part counted once (DEC-42).

        Raises:
            UnknownUsageError: The provider reported no usage; unknown is not zero.
        """
        if not self.known:
            raise UnknownUsageError
        cached = 0 if self._cache_inside else _count(self.cache_read) + _count(self.cache_write)
        thought = 0 if self._thinking_inside else _count(self.thinking)
        return _count(self.input) + cached, _count(self.output) + thought

    def __add__(self, other: Usage) -> Usage:
        """The usage of two calls together; not known unless both are."""
        left, right = self, other
        if left._cache_inside is not right._cache_inside or left._thinking_inside is not right._thinking_inside:
            left, right = _apart(left), _apart(right)
        return Usage(
            known=self.known and other.known,
            input=_sum(left.input, right.input),
            output=_sum(left.output, right.output),
            cache_read=_sum(left.cache_read, right.cache_read),
            cache_write=_sum(left.cache_write, right.cache_write),
            thinking=_sum(left.thinking, right.thinking),
            _cache_inside=left._cache_inside,
            _thinking_inside=left._thinking_inside,
        )

    def to_wire(self) -> dict[str, Any]:
        """The usage as events and recordings hold it; the values are plain, so `FrozenDict(usage.to_wire())` is frozen.

        An unknown count is 0 there, beside `usageReported: false` (DEC-6).
        """
        wire: dict[str, Any] = {"input": _count(self.input), "output": _count(self.output)}
        if self.cache_read is not None:
            wire["cacheRead"] = self.cache_read
        if self.cache_write is not None:
            wire["cacheWrite"] = self.cache_write
        if self.thinking is not None:
            wire["thinking"] = self.thinking
        if self._cache_inside:
            wire["inputIncludesCache"] = True
        if self._thinking_inside:
            wire["outputIncludesThinking"] = True
        if not self.known:
            wire["usageReported"] = False
        return wire

    @classmethod
    def from_wire(cls, raw: Mapping[str, Any]) -> Usage:
        """Read what `to_wire` wrote, or what another implementation recorded."""
        known = raw.get("usageReported") is not False
        return cls(
            known=known,
            input=raw.get("input") if known else raw.get("input") or None,
            output=raw.get("output") if known else raw.get("output") or None,
            cache_read=raw.get("cacheRead"),
            cache_write=raw.get("cacheWrite"),
            thinking=raw.get("thinking"),
        ).containing(cache=raw.get("inputIncludesCache") is True, thinking=raw.get("outputIncludesThinking") is True)


def _count(tokens: int | None) -> int:
    return tokens or 0


def _apart(usage: Usage) -> Usage:
    """The same usage with the parts taken out of `input` and `output`."""
    cached = _count(usage.cache_read) + _count(usage.cache_write) if usage.input_includes_cache else 0
    thought = _count(usage.thinking) if usage.output_includes_thinking else 0
    return msgspec.structs.replace(
        usage,
        input=None if usage.input is None else usage.input - cached,
        output=None if usage.output is None else usage.output - thought,
    ).containing()


def _sum(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else left + right
