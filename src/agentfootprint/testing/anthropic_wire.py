"""What does Anthropic's Messages API say, and what does it refuse?

Invariants: pure. The checks are in `anthropic_rules`; here is what goes out. Of `Reply.extra` it knows `unstopped` (the
last block of a stream is never closed), `unknown` (blocks and events that no client knows stand between the known ones)
and `message` (merged into the message object). `Reply.refusal` is sent as text under the stop word `refusal`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

from agentfootprint.testing.anthropic_rules import refusal_of
from agentfootprint.testing.script import Call, Failure, Received, Refusal, Reply

__all__ = ["AnthropicWire"]

_KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_UNKNOWN_BLOCK: Final[Mapping[str, Any]] = {
    "type": "server_tool_use",
    "id": "srvtoolu_1",
    "name": "web_search",
    "input": {},
}


@dataclasses.dataclass(frozen=True, slots=True)
class AnthropicWire:
    """Anthropic's Messages API.

    Args:
        models: The models there are; `None` knows every name.
        key: The only key that is accepted; `None` accepts any.
    """

    models: frozenset[str] | None = None
    key: str | None = None

    @property
    def base_path(self) -> str:
        """None: the SDK adds the whole path."""
        return ""

    @property
    def stream_type(self) -> str:
        """Server-sent events."""
        return "text/event-stream; charset=utf-8"

    def check(self, request: Received) -> Refusal | None:
        """The first thing that this vendor would refuse."""
        return refusal_of(request, models=self.models, key=self.key)

    def aside(self, request: Received) -> Mapping[str, Any] | None:  # noqa: ARG002  nothing but answers is asked here
        """Nothing."""
        return None

    def streams(self, request: Received) -> bool:
        """What the body's `stream` says."""
        return request.body.get("stream") is True

    def whole(self, reply: Reply, request: Received) -> bytes:
        """The message object."""
        message = {
            **_opening(reply, request),
            "content": [*_blocks(reply, request)],
            "stop_reason": _stop(reply),
            "stop_sequence": None,
        }
        usage = _usage(reply)
        return _json({**message, **({"usage": usage} if usage else {}), **reply.extra.get("message", {})})

    def frames(self, reply: Reply, request: Received) -> list[bytes]:
        """From `message_start` to `message_stop`."""
        usage = _usage(reply)
        started = {**usage, "output_tokens": 1} if "output_tokens" in usage else usage
        opening: dict[str, Any] = {
            **_opening(reply, request),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }
        opening |= {**({"usage": started} if usage else {}), **reply.extra.get("message", {})}
        frames = [_frame("message_start", message=opening)]
        frames += _body(reply, request)
        if reply.extra.get("unknown"):
            frames.append(_frame("something_new", detail={"of": "tomorrow"}))
        delta: dict[str, Any] = {"delta": {"stop_reason": _stop(reply), "stop_sequence": None}}
        if "output_tokens" in usage:
            delta["usage"] = {"output_tokens": usage["output_tokens"]}
        return [*frames, _frame("message_delta", **delta), _frame("message_stop")]

    def noise(self) -> bytes:
        """A comment and a ping."""
        return b": nothing yet\n\n" + _frame("ping")

    def failure(self, failure: Failure) -> bytes:
        """The error object."""
        return _json(_error(failure))

    def failure_frame(self, failure: Failure) -> bytes:
        """The `error` event."""
        return b"event: error\ndata: " + _json(_error(failure)) + b"\n\n"


def _opening(reply: Reply, request: Received) -> dict[str, Any]:
    identity = f"msg_{request.number}" if reply.id is None else reply.id
    return {"id": identity, "type": "message", "role": "assistant", "model": request.body["model"]}


def _error(failure: Failure) -> dict[str, Any]:
    kind = failure.kind or _KINDS.get(failure.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": failure.message}}


def _stop(reply: Reply) -> str:
    if reply.stop is not None:
        return reply.stop
    return "tool_use" if reply.calls else "refusal" if reply.refusal else "end_turn"


def _usage(reply: Reply) -> dict[str, Any]:
    if reply.usage is not None:
        return dict(reply.usage)
    said = len(reply.whole_text) + len(reply.thinking) + sum(len(str(call.args)) for call in reply.calls)
    return {"input_tokens": 25, "output_tokens": 1 + said // 4}


def _blocks(reply: Reply, request: Received) -> list[dict[str, Any]]:
    """The content of the message, block by block."""
    blocks: list[dict[str, Any]] = []
    if reply.thinking or reply.signature:
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": reply.signature})
    if reply.redacted:
        blocks.append({"type": "redacted_thinking", "data": reply.redacted})
    if reply.extra.get("unknown"):
        blocks.append(dict(_UNKNOWN_BLOCK))
    text = reply.whole_text + reply.refusal
    if text:
        blocks.append({"type": "text", "text": text})
    for index, call in enumerate(reply.calls):
        identity = f"toolu_{request.number}_{index + 1}" if call.id is None else call.id
        blocks.append({"type": "tool_use", "id": identity, "name": call.name, "input": _parsed(call)})
    return blocks


def _parsed(call: Call) -> object:
    """The arguments as one JSON value; a text that is no JSON stays a text, which is no object either."""
    if not isinstance(call.args, str):
        return dict(call.args)
    try:
        return json.loads(call.args)
    except ValueError:
        return call.args


def _body(reply: Reply, request: Received) -> list[bytes]:
    """The blocks of a stream: opened empty, filled in pieces, closed."""
    calls = iter(reply.calls)
    opened: list[list[bytes]] = []
    for index, whole in enumerate(_blocks(reply, request)):
        kind: str = whole["type"]
        fills: list[bytes] = []
        block: dict[str, Any] = whole
        if kind == "text":
            pieces = [*reply.text_pieces, *([reply.refusal] if reply.refusal else [])]
            fills = [_delta(index, "text_delta", text=piece) for piece in pieces]
            block = {**whole, "text": ""}
        elif kind == "thinking":
            half = len(reply.thinking) // 2
            pieces = [piece for piece in (reply.thinking[:half], reply.thinking[half:]) if piece]
            fills = [_delta(index, "thinking_delta", thinking=piece) for piece in pieces]
            fills.append(_delta(index, "signature_delta", signature=reply.signature))
            block = {**whole, "thinking": "", "signature": ""}
        elif kind == "tool_use":
            fills = [_delta(index, "input_json_delta", partial_json=piece) for piece in _fragments(next(calls))]
            block = {**whole, "input": {}}
        start = _frame("content_block_start", index=index, content_block=block)
        opened.append([start, *fills, _frame("content_block_stop", index=index)])
    if reply.extra.get("unstopped") and opened:
        opened[-1].pop()
    if not reply.interleave:
        return [frame for frames in opened for frame in frames]
    return _woven(opened)


def _woven(blocks: list[list[bytes]]) -> list[bytes]:
    """One frame of each block in turn, so that all are open at once."""
    longest = max((len(frames) for frames in blocks), default=0)
    return [frames[at] for at in range(longest) for frames in blocks if at < len(frames)]


def _fragments(call: Call) -> list[str]:
    text = call.args if isinstance(call.args, str) else json.dumps(dict(call.args)) if call.args else ""
    size = max(1, -(-len(text) // max(1, call.pieces)))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _delta(index: int, kind: str, **fields: str) -> bytes:
    return _frame("content_block_delta", index=index, delta={"type": kind, **fields})


def _frame(event: str, **fields: object) -> bytes:
    return b"event: " + event.encode() + b"\ndata: " + _json({"type": event, **fields}) + b"\n\n"


def _json(value: object) -> bytes:
    """JSON with characters as they are, so that they can be cut; half of a surrogate pair stays an escape."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
