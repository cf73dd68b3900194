"""What does Ollama's native API say, and what does it refuse?

Invariants: pure; stricter than the daemon where it would pass over something in silence: unknown fields, calls that
nobody answered. Of `Reply.extra` it knows `frame` (merged into the last frame).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from agentfootprint.testing.script import Call, Failure, Received, Refusal, Reply

__all__ = ["OllamaWire"]

_CREATED: Final = "2026-01-01T00:00:00Z"
_FIELDS: Final = frozenset(("model", "messages", "stream", "tools", "think", "keep_alive", "format", "options"))
_OPTIONS: Final = frozenset(
    (
        *("num_predict", "temperature", "stop", "num_ctx", "top_k", "top_p", "min_p", "seed", "num_keep"),
        *("repeat_penalty", "repeat_last_n", "presence_penalty", "frequency_penalty"),
    )
)
_MESSAGE_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset(("role", "content")),
    "user": frozenset(("role", "content", "images")),
    "assistant": frozenset(("role", "content", "thinking", "tool_calls")),
    "tool": frozenset(("role", "content", "tool_name", "tool_call_id")),
}
_LEVELS: Final = (True, False, "low", "medium", "high", "max")

_Object = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class OllamaWire:
    """Ollama's `/api/chat` and `/api/tags`.

    Args:
        models: The models that are pulled; `None` has every one.
    """

    models: frozenset[str] | None = None

    @property
    def base_path(self) -> str:
        """None."""
        return ""

    @property
    def stream_type(self) -> str:
        """One JSON object a line."""
        return "application/x-ndjson"

    def check(self, request: Received) -> Refusal | None:
        """The first thing that is wrong with a request."""
        if self.aside(request) is not None:
            return None
        refusal = _door(request)
        if refusal is not None:
            return refusal
        if not isinstance(request.body, Mapping):
            return Refusal("invalid character looking for beginning of value")
        body = cast("_Object", request.body)
        problem = next(_problems(body), None)
        if problem is not None:
            return Refusal(problem)
        if self.models is not None and body["model"] not in self.models:
            return Refusal(f"model '{body['model']}' not found", 404)
        return None

    def aside(self, request: Received) -> Mapping[str, Any] | None:
        """What is pulled."""
        if request.method != "GET" or request.path != "/api/tags":
            return None
        return {"models": [{"name": name, "model": name} for name in sorted(self.models or ())]}

    def streams(self, request: Received) -> bool:
        """What the body's `stream` says, which is yes when it says nothing."""
        return request.body.get("stream") is not False

    def whole(self, reply: Reply, request: Received) -> bytes:
        """The answer in one object."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.whole_text}
        if reply.thinking:
            message["thinking"] = reply.thinking
        if reply.calls:
            message["tool_calls"] = [_call(call) for call in reply.calls]
        return _json({**_opening(request), "message": message, **_end(reply)})

    def frames(self, reply: Reply, request: Received) -> list[bytes]:
        """Pieces of thinking and text, the calls, and the frame that says it is the last."""
        half = len(reply.thinking) // 2
        messages: list[dict[str, Any]] = [
            {"content": "", "thinking": one} for one in (reply.thinking[:half], reply.thinking[half:]) if one
        ]
        messages += [{"content": piece} for piece in reply.text_pieces]
        messages += [{"content": "", "tool_calls": [_call(call)]} for call in reply.calls]
        opening = _opening(request)
        frames = [_line({**opening, "message": {"role": "assistant", **one}, "done": False}) for one in messages]
        return [*frames, _line({**opening, "message": {"role": "assistant", "content": ""}, **_end(reply)})]

    def noise(self) -> bytes:
        """None: every line is an object here."""
        return b""

    def failure(self, failure: Failure) -> bytes:
        """The error object."""
        return _json({"error": failure.message})

    def failure_frame(self, failure: Failure) -> bytes:
        """The error object as a line."""
        return _line({"error": failure.message})


def _opening(request: Received) -> dict[str, Any]:
    return {"model": request.body["model"], "created_at": _CREATED}


def _end(reply: Reply) -> dict[str, Any]:
    """What the last frame says."""
    usage: Mapping[str, Any] = {"prompt_eval_count": 25, "eval_count": 1 + len(reply.whole_text) // 4}
    counts = usage if reply.usage is None else reply.usage
    return {"done": True, "done_reason": reply.stop or "stop", **counts, **reply.extra.get("frame", {})}


def _call(call: Call) -> dict[str, Any]:
    arguments = call.args if isinstance(call.args, str) else dict(call.args)
    return {**({"id": call.id} if call.id else {}), "function": {"name": call.name, "arguments": arguments}}


def _door(request: Received) -> Refusal | None:
    """What is wrong before the body is looked at."""
    if request.path != "/api/chat":
        return Refusal("404 page not found", 404)
    if request.method != "POST":
        return Refusal("405 method not allowed", 405)
    if "authorization" in request.headers:
        return Refusal("a key was sent to a daemon that knows none")
    return None


def _problems(body: _Object) -> Iterator[str]:
    yield from (f"json: unknown field {field!r}" for field in body if field not in _FIELDS)
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model is required"
    if "stream" in body and not isinstance(body["stream"], bool):
        yield "json: stream is no bool"
    if "think" in body and body["think"] not in _LEVELS:
        yield f"invalid think value: {body['think']!r}"
    options = body.get("options", {})
    if not isinstance(options, Mapping) or not set(cast("_Object", options)) <= _OPTIONS:
        yield "invalid options"
    for tool in _list(body.get("tools", [])):
        function = _object(_object(tool).get("function"))
        if not isinstance(function.get("name"), str) or _object(function.get("parameters")).get("type") != "object":
            yield "invalid tool"
    messages = _list(body.get("messages"))
    if not messages:
        yield "messages is required"
    for index, message in enumerate(messages):
        yield from _message(index, _object(message))
    yield from _pairs([_object(message) for message in messages])


def _message(index: int, message: _Object) -> Iterator[str]:
    role = message.get("role")
    if role not in _MESSAGE_FIELDS:
        yield f"messages[{index}]: invalid role {role!r}"
        return
    yield from (f"messages[{index}]: unknown field {key!r}" for key in message if key not in _MESSAGE_FIELDS[role])
    if not isinstance(message.get("content"), str):
        yield f"messages[{index}]: content is no string"
    for call in _list(message.get("tool_calls", [])):
        function = _object(_object(call).get("function"))
        if not isinstance(function.get("name"), str) or not isinstance(function.get("arguments"), Mapping):
            yield f"messages[{index}]: cannot unmarshal the arguments of a call into an object"


def _pairs(messages: Sequence[_Object]) -> Iterator[str]:
    """Every call is answered before anything else comes, and nothing else is answered."""
    waiting = 0
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            waiting -= 1
            if waiting < 0:
                yield f"messages[{index}]: answers no call"
            continue
        if waiting > 0:
            break
        waiting = len(_list(message.get("tool_calls", [])))
    if waiting > 0:
        yield f"{waiting} calls have no answer"


def _object(value: object) -> _Object:
    return cast("_Object", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _line(value: object) -> bytes:
    return _json(value) + b"\n"


def _json(value: object) -> bytes:
    """JSON with characters as they are, so that they can be cut; half of a surrogate pair stays an escape."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
