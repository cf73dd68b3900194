"""Which requests does OpenAI's Chat Completions API refuse, and with what words?

Invariants: pure; the first thing that is wrong is named by its place, as the vendor does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from agentfootprint.testing.script import Received, Refusal

__all__ = ["refusal_of"]

_PATH: Final = "/v1/chat/completions"
_FIELDS: Final = frozenset(
    (
        *(
            "model",
            "messages",
            "stream",
            "stream_options",
            "max_completion_tokens",
            "max_tokens",
            "temperature",
            "top_p",
        ),
        *("stop", "tools", "tool_choice", "parallel_tool_calls", "response_format", "n", "seed", "user", "metadata"),
        *("presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "logit_bias", "reasoning_effort"),
        *("service_tier", "store", "verbosity", "prediction", "modalities", "safety_identifier", "prompt_cache_key"),
    )
)
_NEW_FIELDS: Final = frozenset(("max_completion_tokens", "reasoning_effort", "verbosity"))
_MESSAGE_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset(("role", "content", "name")),
    "developer": frozenset(("role", "content", "name")),
    "user": frozenset(("role", "content", "name")),
    "assistant": frozenset(("role", "content", "name", "tool_calls", "refusal")),
    "tool": frozenset(("role", "content", "tool_call_id")),
}
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_REASONING: Final = re.compile(r"o\d|gpt-5", re.IGNORECASE | re.ASCII)
_MOST_STOPS: Final = 4
_HOTTEST: Final = 2

_Object = Mapping[str, Any]
_Found = Iterator[str]


def refusal_of(
    request: Received,
    *,
    models: frozenset[str] | None,
    key: str | None,
    is_compatible: bool = False,
    knows_usage: bool = True,
) -> Refusal | None:
    """What is wrong with a request, or `None`.

    Args:
        request: The request.
        models: The models there are; `None` knows every name.
        key: The only key that is accepted; `None` accepts any.
        is_compatible: Whether it is a compatible server, which knows the older options only, and no null content.
        knows_usage: Whether it knows `stream_options`.
    """
    refusal = _door(request, key)
    if refusal is not None:
        return refusal
    if not isinstance(request.body, Mapping):
        return Refusal("We could not parse the JSON body of your request.")
    body = cast("_Object", request.body)
    if "stream_options" in body and not knows_usage:
        return Refusal("Unrecognized request argument supplied: stream_options")
    problem = next(_problems(body, is_compatible=is_compatible), None)
    if problem is not None:
        return Refusal(problem)
    if models is not None and body["model"] not in models:
        return Refusal(f"The model `{body['model']}` does not exist or you do not have access to it.", 404)
    return None


def _door(request: Received, key: str | None) -> Refusal | None:
    """What is wrong before the body is looked at."""
    if request.path.partition("?")[0] != _PATH:
        return Refusal(f"Invalid URL ({request.method} {request.path})", 404)
    if request.method != "POST":
        return Refusal(f"Not allowed to {request.method} on {request.path}", 405)
    given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    if not given or (key is not None and given != key):
        return Refusal(f"Incorrect API key provided: {given[:3]}***.", 401, "invalid_api_key")
    return None


def _problems(body: _Object, *, is_compatible: bool) -> _Found:
    known = _FIELDS - _NEW_FIELDS if is_compatible else _FIELDS
    yield from (f"Unrecognized request argument supplied: {field}" for field in body if field not in known)
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "you must provide a model parameter"
    yield from _settings(body)
    yield from _tools(body)
    messages = _list(body.get("messages"))
    if not messages:
        yield "Invalid 'messages': empty array. Expected an array with minimum length 1."
        return
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            yield f"Invalid type for 'messages[{index}]': expected an object."
            return
        yield from _message(f"messages[{index}]", cast("_Object", message), is_compatible=is_compatible)
    yield from _pairs([cast("_Object", message) for message in messages])


def _settings(body: _Object) -> _Found:
    reasoning = _REASONING.match(str(body.get("model"))) is not None
    if "stream" in body and not isinstance(body["stream"], bool):
        yield "Invalid type for 'stream': expected a boolean."
    if "stream_options" in body and body.get("stream") is not True:
        yield "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    for field in ("max_tokens", "max_completion_tokens"):
        if field in body and not (_whole(body[field]) and body[field] > 0):
            yield f"Invalid type for '{field}': expected an integer of at least 1."
    if reasoning and "max_tokens" in body:
        yield "Unsupported parameter: 'max_tokens' is not supported with this model."
    yield from _sampling(body, reasoning=reasoning)
    yield from _format(body.get("response_format"))


def _sampling(body: _Object, *, reasoning: bool) -> _Found:
    if "temperature" in body:
        heat = body["temperature"]
        if isinstance(heat, bool) or not isinstance(heat, (int, float)) or not 0 <= heat <= _HOTTEST:
            yield "Invalid 'temperature': expected a number between 0 and 2."
        elif reasoning and heat != 1:
            yield "Unsupported value: 'temperature' does not support this value with this model."
    if "stop" in body:
        stops = _list(body["stop"])
        if not isinstance(body["stop"], str) and (
            not stops or len(stops) > _MOST_STOPS or not all(isinstance(one, str) and one for one in stops)
        ):
            yield f"Invalid 'stop': expected a text or 1 to {_MOST_STOPS} texts."


def _format(given: object) -> _Found:
    if given is None:
        return
    wanted = _object(given)
    if wanted.get("type") not in ("text", "json_object", "json_schema"):
        yield "Invalid value for 'response_format.type'."
    if wanted.get("type") != "json_schema":
        return
    inner = _object(wanted.get("json_schema"))
    schema = _object(inner.get("schema"))
    if not isinstance(inner.get("name"), str) or not _NAME.fullmatch(inner["name"]):
        yield "Missing required parameter: 'response_format.json_schema.name'."
    if inner.get("strict") is True and schema.get("additionalProperties") is not False:
        yield "Invalid schema for response_format: 'additionalProperties' is required to be supplied and to be false."


def _tools(body: _Object) -> _Found:
    names: set[str] = set()
    if "tools" in body:
        tools = _list(body["tools"])
        if not tools:
            yield "Invalid 'tools': empty array. Expected an array with minimum length 1."
            return
        for index, tool in enumerate(tools):
            yield from _tool(f"tools[{index}]", tool, names)
    if "tool_choice" not in body:
        return
    if not names:
        yield "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
    choice = body["tool_choice"]
    if isinstance(choice, Mapping):
        function = cast("_Object", choice).get("function")
        name = cast("_Object", function).get("name") if isinstance(function, Mapping) else None
        if cast("_Object", choice).get("type") != "function" or name not in names:
            yield "Invalid value for 'tool_choice': it names no tool of 'tools'."
    elif choice not in ("none", "auto", "required"):
        yield "Invalid value for 'tool_choice'."


def _tool(at: str, tool: object, names: set[str]) -> _Found:
    whole = _object(tool)
    function = _object(whole.get("function"))
    if set(whole) != {"type", "function"} or whole.get("type") != "function":
        yield f"Invalid '{at}': expected the type 'function' and a function."
    extra = sorted(set(function) - {"name", "description", "parameters", "strict"})
    yield from (f"Unknown parameter: '{at}.function.{field}'." for field in extra)
    name, parameters = function.get("name"), function.get("parameters", {"type": "object"})
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"Invalid '{at}.function.name': string does not match pattern."
    elif name in names:
        yield f"Invalid '{at}.function.name': the name is used twice."
    else:
        names.add(name)
    if not isinstance(function.get("description", ""), str):
        yield f"Invalid type for '{at}.function.description'."
    if not isinstance(parameters, Mapping) or cast("_Object", parameters).get("type") != "object":
        yield f"Invalid schema for '{at}.function.parameters': schema must be of type 'object'."


def _message(at: str, message: _Object, *, is_compatible: bool) -> _Found:
    role = message.get("role")
    if role not in _MESSAGE_FIELDS:
        yield f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'tool', 'developer'."
        return
    if is_compatible and role == "developer":
        yield f"Invalid '{at}.role': 'developer' is not known here."
    yield from (f"Unknown parameter: '{at}.{field}'." for field in message if field not in _MESSAGE_FIELDS[role])
    calls = message.get("tool_calls")
    content = message.get("content")
    absent = "content" not in message or (content is None and not is_compatible)
    if not isinstance(content, str) and not (absent and role == "assistant" and calls):
        yield f"Invalid value for '{at}.content': expected a string, got null."
    if "tool_calls" in message:
        yield from _calls(at, calls)
    if role == "tool" and (not isinstance(message.get("tool_call_id"), str) or not message["tool_call_id"]):
        yield f"Missing required parameter: '{at}.tool_call_id'."


def _calls(at: str, calls: object) -> _Found:
    listed = _list(calls)
    if not listed:
        yield f"Invalid '{at}.tool_calls': empty array. Expected an array with minimum length 1."
        return
    ids: list[object] = []
    for index, call in enumerate(listed):
        where = f"{at}.tool_calls[{index}]"
        whole = _object(call)
        function = _object(whole.get("function"))
        if set(whole) != {"id", "type", "function"} or set(function) != {"name", "arguments"}:
            yield f"Invalid '{where}': expected id, type and a function of name and arguments."
        if not isinstance(whole.get("id"), str) or not whole["id"]:
            yield f"Invalid '{where}.id': expected a text."
        ids.append(whole.get("id"))
        if not isinstance(function.get("name"), str) or not _NAME.fullmatch(function["name"]):
            yield f"Invalid '{where}.function.name': string does not match pattern."
        if not _is_object_text(function.get("arguments")):
            yield f"Invalid '{where}.function.arguments': expected the JSON text of an object."
    if len(set(ids)) != len(ids):
        yield f"Duplicate value for 'tool_call_id' in '{at}.tool_calls'."


def _pairs(messages: Sequence[_Object]) -> _Found:
    """Every call is answered once, before anything else comes, and nothing else is answered."""
    waiting: list[str] = []
    asked = False
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if not asked:
                yield (
                    f"Invalid parameter: messages[{index}] with role 'tool' must be a response to a preceding message "
                    "with 'tool_calls'."
                )
            elif message["tool_call_id"] not in waiting:
                yield f"Invalid parameter: 'tool_call_id' of messages[{index}] answers no call that waits for it."
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            break
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        asked = bool(waiting)
    if waiting:
        yield (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
        )


def _is_object_text(raw: object) -> bool:
    try:
        return isinstance(raw, str) and isinstance(json.loads(raw), dict)
    except ValueError:
        return False


def _object(value: object) -> _Object:
    return cast("_Object", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
