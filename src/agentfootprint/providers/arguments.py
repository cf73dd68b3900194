"""What did the model ask a tool, when the wire gives ids and arguments as it pleases?

Invariants: arguments are a JSON object or the call says what they were instead, and their text is kept nowhere (ADP-10,
DEC-40); nothing is completed or repaired; every call of a reply has an id of its own (IDS-1, IDS-4).
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET

from agentfootprint.llm import ArgsError, MalformedToolArgsError, ProviderStreamError, ToolCall
from agentfootprint.providers.options import MalformedArgs

__all__ = ["CallReader", "Proposed", "complete_object"]

_NOT_JSON: Final = "they are not JSON"
_TOO_DEEP: Final = "they are nested too deeply"


@dataclasses.dataclass(frozen=True, slots=True)
class Proposed:
    """A call as the wire gave it."""

    id: str
    """Empty when the wire gave none (IDS-6)."""
    name: str
    raw: object
    """The arguments: JSON text, or what a wire without such text had."""
    index: int | None = None
    """The vendor's index of the block."""
    meta: Any = UNSET
    """What the vendor wants back with the call (PRT-8)."""


class CallReader:
    """Reads the calls of replies; the numbers of minted ids go on over all replies of one adapter (IDS-1).

    Args:
        provider: Name of the provider.
        policy: What becomes of arguments that can't be read.
        prefix: What a minted id begins with, say `openai-call-`.
    """

    __slots__ = ("_numbers", "_policy", "_prefix", "_provider")

    def __init__(self, provider: str, *, policy: MalformedArgs = "report", prefix: str) -> None:
        self._provider = provider
        self._policy: MalformedArgs = policy
        self._prefix = prefix
        self._numbers = itertools.count(1)

    def with_policy(self, policy: MalformedArgs) -> CallReader:
        """The same reader, minting from the same numbers, that treats bad arguments otherwise."""
        other = CallReader(self._provider, policy=policy, prefix=self._prefix)
        other._numbers = self._numbers
        return other

    def read(self, proposed: Iterable[Proposed]) -> tuple[ToolCall, ...]:
        """The calls of one reply, in the order given.

        Raises:
            MalformedToolArgsError: Arguments can't be read, and the policy is `raise`.
            ProviderStreamError: A call names no tool.
        """
        calls: list[ToolCall] = []
        ids: set[str] = set()
        for one in proposed:
            if not one.name:
                raise ProviderStreamError(
                    "The reply proposes a call without the name of a tool.", provider=self._provider, phase="decode"
                )
            call_id, meta = one.id or f"{self._prefix}{next(self._numbers)}", one.meta
            if call_id in ids:
                wire_id = call_id
                again = itertools.count(1)
                while call_id in ids:
                    call_id = f"{wire_id}-dup{next(again)}"
                meta = {**(cast("Mapping[str, Any]", meta) if isinstance(meta, Mapping) else {}), "wireId": wire_id}
            ids.add(call_id)
            calls.append(self._call(one, call_id, meta))
        return tuple(calls)

    def _call(self, one: Proposed, call_id: str, meta: object) -> ToolCall:
        given, problem = _parse(one.raw)
        length = len(one.raw) if isinstance(one.raw, str) else 0
        error = None if problem is None else ArgsError(problem, length, one.index)
        call = ToolCall(call_id, one.name, given, provider_meta=meta, args_error=error)  # it judges what was parsed
        if call.args_error is None:
            return call
        if self._policy == "empty":
            return msgspec.structs.replace(call, args_error=None)
        if self._policy == "raise":
            raise MalformedToolArgsError(
                self._provider, tool=call.name, call_id=call_id, raw_length=length, block_index=one.index
            )
        exact = ArgsError(call.args_error.problem, length or call.args_error.raw_length, one.index)
        return msgspec.structs.replace(call, args_error=exact)


def complete_object(raw: object) -> bool:
    """Whether the arguments that have arrived are a whole JSON object, so that nothing can follow."""
    if not isinstance(raw, str):
        return isinstance(raw, Mapping)
    if not raw.rstrip().endswith("}"):
        return False
    parsed, problem = _parse(raw)
    return problem is None and isinstance(parsed, Mapping)


def _parse(raw: object) -> tuple[Any, str | None]:
    """The arguments, and what was wrong; whether a parsed value is an object is left to `ToolCall`."""
    if raw is None:
        return {}, None
    if not isinstance(raw, str):
        return raw, None
    if not raw.strip():
        return {}, None
    try:
        parsed: Any = json.loads(raw, parse_constant=_no_constant)
    except ValueError:
        return {}, _NOT_JSON
    except RecursionError:
        return {}, _TOO_DEEP
    # a text within the text, as in '"{}"', must not look like the blank text of a wire
    return (parsed, None) if not isinstance(parsed, str) else ({}, "they are a text and no object")


def _no_constant(word: str) -> Sequence[object]:
    message = f"{word} is no JSON"
    raise ValueError(message)
