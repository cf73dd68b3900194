"""What did a message of Anthropic's say?

Invariants: pure; a number that was not reported is absent (PRT-5); a word of the vendor's without an exact twin stays
as it is (PRT-7); a reply that says it calls and calls nothing is refused (ADP-11).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from msgspec.structs import replace

from agentfootprint.llm import (
    ArgsError,
    LLMResponse,
    MalformedToolArgsError,
    ProviderStreamError,
    ToolCall,
    Usage,
    WireToolManifest,
)
from agentfootprint.providers.anthropic.request import PROVIDER
from agentfootprint.providers.arguments import CallReader, Proposed
from agentfootprint.providers.options import MalformedArgs

__all__ = ["THINKING", "Reader", "manifest_of"]

THINKING: Final = frozenset(("thinking", "redacted_thinking"))
_STOPS: Final[Mapping[str, str]] = {"end_turn": "stop"}
# with these the model itself ended its calls, or the loop runs none of them (DEC-8)
_CALLS_ARE_WHOLE: Final = frozenset(("tool_use", "end_turn", "pause_turn", "max_tokens"))
_CUT: Final = "the reply ended before the call was whole"
_NO_COUNTS: Final[Mapping[str, Any]] = {}


def manifest_of(body: Mapping[str, Any]) -> WireToolManifest:
    """The tools that a body offers (PRT-10)."""
    return WireToolManifest(tuple(tool["name"] for tool in body.get("tools", ())))


class Reader:
    """Reads replies for one adapter.

    Args:
        policy: What becomes of arguments that can't be read.
        calls: Where the numbers of minted ids come from; by default a reader of its own.
    """

    __slots__ = ("_calls", "_policy")

    def __init__(self, policy: MalformedArgs = "report", calls: CallReader | None = None) -> None:
        self._policy: MalformedArgs = policy
        self._calls = (calls or CallReader(PROVIDER, prefix="anthropic-call-")).with_policy(policy)

    def with_policy(self, policy: MalformedArgs) -> Reader:
        """The same reader, minting from the same numbers, that treats bad arguments otherwise."""
        return Reader(policy, self._calls)

    def message(self, message: object, manifest: WireToolManifest, request_id: str | None = None) -> LLMResponse:
        """The answer in a message that came as a whole.

        Raises:
            ProviderStreamError: It is no message, or contradicts itself.
            MalformedToolArgsError: Arguments can't be read, and the policy is `raise`.
        """
        source = cast("Mapping[str, Any]", message if isinstance(message, Mapping) else {})
        blocks = source.get("content")
        if not isinstance(blocks, list) or not all(
            isinstance(block, Mapping) for block in cast("list[object]", blocks)
        ):
            raise _unreadable("The answer is no message.", request_id)
        content = cast("list[Mapping[str, Any]]", blocks)
        proposed = [
            Proposed(_text(block.get("id")), _text(block.get("name")), _whole_input(block.get("input")), index)
            for index, block in enumerate(content)
            if block.get("type") == "tool_use"
        ]
        return self.answer(
            text="".join(_text(block.get("text")) for block in content if block.get("type") == "text"),
            proposed=proposed,
            usage=usage_of(source.get("usage")),
            stop=source.get("stop_reason"),
            thoughts=content if any(block.get("type") in THINKING for block in content) else None,
            message_id=_text(source.get("id")),
            manifest=manifest,
            request_id=request_id,
        )

    def answer(
        self,
        *,
        text: str,
        proposed: Sequence[Proposed],
        usage: Usage,
        stop: object,
        thoughts: Sequence[Mapping[str, Any]] | None,
        message_id: str,
        manifest: WireToolManifest,
        request_id: str | None,
    ) -> LLMResponse:
        """The answer put together from its parts.

        Raises:
            ProviderStreamError: The parts contradict each other.
            MalformedToolArgsError: Arguments can't be read, and the policy is `raise`.
        """
        if not isinstance(stop, str) or not stop:
            raise _unreadable("The answer states no reason why it stopped.", request_id)
        calls = self._calls.read(proposed)
        if stop == "tool_use" and not calls:
            raise _unreadable("The answer says that it calls a tool, and calls none.", request_id)
        if stop not in _CALLS_ARE_WHOLE:
            calls = tuple(self._cut(call, one) for call, one in zip(calls, proposed, strict=True))
        return LLMResponse(
            text,
            tool_calls=calls,
            usage=usage,
            stop_reason=_STOPS.get(stop, stop),
            provider_ref=message_id or request_id,
            raw_thinking=[dict(block) for block in thoughts] if thoughts else None,
            wire_manifest=manifest,
        )

    def _cut(self, call: ToolCall, proposed: Proposed) -> ToolCall:
        """A call of a reply that ended for another reason: its arguments may have lost their end, or all of them."""
        if call.args_error is not None or self._policy == "empty":
            return call
        length = len(proposed.raw) if isinstance(proposed.raw, str) else 0
        if self._policy == "raise":
            raise MalformedToolArgsError(
                PROVIDER, tool=call.name, call_id=call.id, raw_length=length, block_index=proposed.index
            )
        return replace(call, args={}, args_error=ArgsError(_CUT, length, proposed.index))


def usage_of(*reports: object) -> Usage:
    """The vendor's numbers; of several reports the last that has a number says it (ANT-18)."""
    counts: dict[str, Any] = {}
    details: dict[str, Any] = {}
    for report in reports:
        if not isinstance(report, Mapping):
            continue
        counts |= {name: value for name, value in cast("Mapping[str, Any]", report).items() if _is_count(value)}
        inner = cast("Mapping[str, Any]", report).get("output_tokens_details", _NO_COUNTS)
        if isinstance(inner, Mapping):
            details |= {name: value for name, value in cast("Mapping[str, Any]", inner).items() if _is_count(value)}
    thinking = details.get("thinking_tokens")
    return Usage(
        input=counts.get("input_tokens"),
        output=counts.get("output_tokens"),
        cache_read=counts.get("cache_read_input_tokens"),
        cache_write=counts.get("cache_creation_input_tokens"),
        thinking=thinking,
    ).containing(thinking=thinking is not None)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _whole_input(given: object) -> object:
    """What a call holds; a text there is no JSON text to be read, as it is in a stream."""
    return json.dumps(given) if isinstance(given, str) else given


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _unreadable(problem: str, request_id: str | None) -> ProviderStreamError:
    return ProviderStreamError(problem, provider=PROVIDER, phase="decode", request_id=request_id)
