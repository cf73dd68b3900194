"""What does OpenAI's Chat Completions API say, and what does it refuse?

Invariants: pure. The checks are in `openai_rules`; here is what goes out. Of `Reply.extra` it knows `one_index` (all
calls of a stream stand at index 0), `no_index` (they have none), `whole_calls` (each call is one fragment),
`object_args` (arguments are an object, no text), `no_end` (a stream without its `[DONE]`), `no_finish` (without the
reason it stops), and `completion` (merged into the completion or the first chunk).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

from agentfootprint.testing.openai_rules import refusal_of
from agentfootprint.testing.script import Call, Failure, Received, Refusal, Reply

__all__ = ["OpenAIWire"]

_CREATED: Final = 1_700_000_000
_KINDS: Final[Mapping[int, tuple[str, str | None]]] = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
    500: ("server_error", None),
    503: ("server_error", None),
    529: ("overloaded_error", None),
}


@dataclasses.dataclass(frozen=True, slots=True)
class OpenAIWire:
    """OpenAI's Chat Completions.

    Args:
        models: The models there are; `None` knows every name.
        key: The only key that is accepted; `None` accepts any.
        is_compatible: Be a compatible server, which knows the older options only, and no content that is null.
        knows_usage: Know the option `stream_options`.
    """

    models: frozenset[str] | None = None
    key: str | None = None
    is_compatible: bool = False
    knows_usage: bool = True

    @property
    def base_path(self) -> str:
        """The SDK adds the rest."""
        return "/v1"

    @property
    def stream_type(self) -> str:
        """Server-sent events."""
        return "text/event-stream; charset=utf-8"

    def check(self, request: Received) -> Refusal | None:
        """The first thing that this vendor would refuse."""
        if self.aside(request) is not None:
            return None
        return refusal_of(
            request,
            models=self.models,
            key=self.key,
            is_compatible=self.is_compatible,
            knows_usage=self.knows_usage,
        )

    def aside(self, request: Received) -> Mapping[str, Any] | None:
        """The list of models."""
        if request.method != "GET" or request.path != "/v1/models":
            return None
        return {"object": "list", "data": [{"id": name, "object": "model"} for name in sorted(self.models or ())]}

    def streams(self, request: Received) -> bool:
        """What the body's `stream` says."""
        return request.body.get("stream") is True

    def whole(self, reply: Reply, request: Received) -> bytes:
        """The completion."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.whole_text or None, "refusal": None}
        if reply.refusal:
            message["refusal"] = reply.refusal
        if reply.thinking:
            message["reasoning_content"] = reply.thinking
        if reply.calls:
            message["tool_calls"] = [_whole_call(reply, request, at, call) for at, call in enumerate(reply.calls)]
        choice = {"index": 0, "message": message, "finish_reason": _stop(reply)}
        usage = _usage(reply)
        body = {**_opening(reply, request, "chat.completion"), "choices": [choice]}
        return _json({**body, **({"usage": usage} if usage else {}), **reply.extra.get("completion", {})})

    def frames(self, reply: Reply, request: Received) -> list[bytes]:
        """From the chunk that names the role to `[DONE]`."""
        opening = _opening(reply, request, "chat.completion.chunk")
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
        half = len(reply.thinking) // 2
        deltas += [{"reasoning_content": one} for one in (reply.thinking[:half], reply.thinking[half:]) if one]
        deltas += [{"content": piece} for piece in reply.text_pieces]
        deltas += [{"refusal": reply.refusal}] if reply.refusal else []
        deltas += [{"tool_calls": [fragment]} for fragment in _fragments(reply, request)]
        frames = [_chunk(opening, {"index": 0, "delta": delta, "finish_reason": None}) for delta in deltas]
        frames[0] = _frame({**json.loads(frames[0].removeprefix(b"data: ")), **reply.extra.get("completion", {})})
        if not reply.extra.get("no_finish"):
            frames.append(_chunk(opening, {"index": 0, "delta": {}, "finish_reason": _stop(reply)}))
        usage = _usage(reply)
        if usage and request.body.get("stream_options", {}).get("include_usage"):
            frames.append(_frame({**opening, "choices": [], "usage": usage}))
        return frames if reply.extra.get("no_end") else [*frames, b"data: [DONE]\n\n"]

    def noise(self) -> bytes:
        """A comment, as gateways send while a model thinks."""
        return b": processing\n\n"

    def failure(self, failure: Failure) -> bytes:
        """The error object."""
        return _json(_error(failure))

    def failure_frame(self, failure: Failure) -> bytes:
        """The error object as an event."""
        return _frame(_error(failure))


def _opening(reply: Reply, request: Received, kind: str) -> dict[str, Any]:
    identity = f"chatcmpl-{request.number}" if reply.id is None else reply.id
    named = {"id": identity} if identity else {}
    return {**named, "object": kind, "created": _CREATED, "model": request.body["model"]}


def _error(failure: Failure) -> dict[str, Any]:
    kind, code = _KINDS.get(failure.status, ("server_error", None))
    if failure.kind is not None:
        kind = code = failure.kind
    return {"error": {"message": failure.message, "type": kind, "param": None, "code": code}}


def _stop(reply: Reply) -> str:
    return reply.stop if reply.stop is not None else "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply) -> dict[str, Any]:
    if reply.usage is not None:
        return dict(reply.usage)
    said = len(reply.whole_text) + len(reply.thinking) + sum(len(str(call.args)) for call in reply.calls)
    output = 1 + said // 4
    return {"prompt_tokens": 25, "completion_tokens": output, "total_tokens": 25 + output}


def _head(request: Received, at: int, call: Call) -> dict[str, Any]:
    identity = f"call_{request.number}_{at + 1}" if call.id is None else call.id
    return {**({"id": identity} if identity else {}), "type": "function"}


def _arguments(reply: Reply, call: Call) -> Any:  # noqa: ANN401  a text, or an object where the vendor is so told
    if reply.extra.get("object_args") and not isinstance(call.args, str):
        return dict(call.args)
    return _text(call)


def _text(call: Call) -> str:
    if isinstance(call.args, str):
        return call.args
    return json.dumps(dict(call.args), ensure_ascii=False) if call.args else ""


def _whole_call(reply: Reply, request: Received, at: int, call: Call) -> dict[str, Any]:
    return {**_head(request, at, call), "function": {"name": call.name, "arguments": _arguments(reply, call)}}


def _fragments(reply: Reply, request: Received) -> list[dict[str, Any]]:
    """The calls of a stream: each begun with its name, filled in pieces."""
    calls: list[list[dict[str, Any]]] = []
    for at, call in enumerate(reply.calls):
        index = {} if reply.extra.get("no_index") else {"index": 0 if reply.extra.get("one_index") else at}
        if reply.extra.get("whole_calls") or reply.extra.get("object_args"):
            calls.append([{**index, **_whole_call(reply, request, at, call)}])
            continue
        text = _text(call)
        size = max(1, -(-len(text) // max(1, call.pieces)))
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        begun = {**index, **_head(request, at, call), "function": {"name": call.name, "arguments": ""}}
        calls.append([begun, *({**index, "function": {"arguments": piece}} for piece in pieces)])
    shared = reply.extra.get("no_index") or reply.extra.get("one_index")
    if not reply.interleave or shared:  # without an index of its own nobody could tell whose a fragment is
        return [fragment for fragments in calls for fragment in fragments]
    longest = max((len(fragments) for fragments in calls), default=0)
    return [fragments[at] for at in range(longest) for fragments in calls if at < len(fragments)]


def _chunk(opening: Mapping[str, Any], choice: Mapping[str, Any]) -> bytes:
    return _frame({**opening, "choices": [choice]})


def _frame(value: object) -> bytes:
    return b"data: " + _json(value) + b"\n\n"


def _json(value: object) -> bytes:
    """JSON with characters as they are, so that they can be cut; half of a surrogate pair stays an escape."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
