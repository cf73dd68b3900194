"""What did a chat completion say?

Invariants: pure; what the vendor did not say stays unsaid (PRT-5); a reason to stop without an exact twin keeps the
vendor's word (PRT-7); a reply that contradicts itself is refused (ADP-11).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from agentfootprint.llm import LLMResponse, ProviderStreamError, Usage, WireToolManifest, whole_text
from agentfootprint.providers.arguments import CallReader, Proposed

__all__ = ["finish", "obj", "objects", "read_completion", "text_of", "usage_of"]

_STOPS: Final[Mapping[str, str]] = {"tool_calls": "tool_use", "length": "max_tokens"}


def read_completion(
    data: Mapping[str, Any],
    reader: CallReader,
    *,
    provider: str = "openai",
    manifest: WireToolManifest | None = None,
    request_id: str | None = None,
) -> LLMResponse:
    """The response in a whole chat completion.

    Args:
        data: The body.
        reader: Reads the calls.
        provider: Name of the provider, for errors.
        manifest: The tools that were offered.
        request_id: The vendor's id of the call, for a body without one (ADP-18).

    Raises:
        ProviderStreamError: It has no choice, or says that it calls tools and calls none (OAI-5, ADP-11).
        MalformedToolArgsError: Arguments can't be read, and the reader is told to raise.
    """
    usage = usage_of(data.get("usage"))
    choice = next(iter(objects(data.get("choices"))), None)
    if choice is None:
        raise ProviderStreamError("The answer holds no choice.", provider=provider, phase="decode")
    message = obj(choice.get("message")) or {}
    calls = [_proposed(index, call) for index, call in enumerate(objects(message.get("tool_calls")))]
    thinking = text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))
    return finish(
        provider=provider,
        content=text_of(message.get("content")),
        refusal=text_of(message.get("refusal")),
        thinking=thinking,
        calls=calls,
        reader=reader,
        said=text_of(choice.get("finish_reason")),
        usage=usage,
        ref=text_of(data.get("id")) or request_id,
        manifest=manifest,
    )


def finish(
    *,
    provider: str,
    content: str,
    refusal: str,
    thinking: str,
    calls: Sequence[Proposed],
    reader: CallReader,
    said: str,
    usage: Usage | None,
    ref: str | None,
    manifest: WireToolManifest | None,
) -> LLMResponse:
    """A response from what a whole answer or a stream said.

    Raises:
        ProviderStreamError: It says that it calls tools and calls none (ADP-11), or a call names no tool.
        MalformedToolArgsError: Arguments can't be read, and the reader is told to raise.
    """
    said, thinking = whole_text(said), whole_text(thinking)
    stop = "refusal" if refusal else _STOPS.get(said, said) or "stop"
    if calls and stop == "stop":  # as compatible servers say it (OAI-11)
        stop = "tool_use"
    if stop == "tool_use" and not calls:
        raise ProviderStreamError(
            "The reply stops in order to call tools and calls none.", provider=provider, phase="decode"
        )
    return LLMResponse(
        content + refusal,  # a refusal is the answer (OAI-6)
        tool_calls=reader.read(calls),
        usage=usage,
        stop_reason=stop,
        provider_ref=whole_text(ref) if ref else None,
        raw_thinking={"kind": "field", "thinking": thinking} if thinking else None,
        wire_manifest=manifest,
    )


def usage_of(raw: object) -> Usage | None:
    """The usage of a call; the cached part stands inside the input here, the thinking inside the output (OAI-7)."""
    source = obj(raw)
    if source is None:
        return None
    read, thought = (obj(source.get(key)) or {} for key in ("prompt_tokens_details", "completion_tokens_details"))
    usage = Usage(
        input=_count(source.get("prompt_tokens")),
        output=_count(source.get("completion_tokens")),
        cache_read=_count(read.get("cached_tokens")),
        thinking=_count(thought.get("reasoning_tokens")),
    )
    return usage.containing(cache=True, thinking=True) if usage.known else None


def obj(raw: object) -> Mapping[str, Any] | None:
    """The value if it is an object."""
    return cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else None


def text_of(raw: object) -> str:
    """A text, or the texts of a list of parts; nothing when it is neither."""
    if isinstance(raw, str):
        return raw
    return "".join(text_of(part.get("text")) for part in objects(raw))


def objects(raw: object) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    items = cast("list[object]", raw) if isinstance(raw, list) else []
    return [found for found in map(obj, items) if found is not None]


def _proposed(index: int, call: Mapping[str, Any]) -> Proposed:
    function = obj(call.get("function")) or {}
    return Proposed(text_of(call.get("id")), text_of(function.get("name")), function.get("arguments"), index)


def _count(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0 else None
