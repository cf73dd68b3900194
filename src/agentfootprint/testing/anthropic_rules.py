"""Which requests does Anthropic's Messages API refuse, and with what words?

Invariants: pure; the first thing that is wrong is named by its place, as the vendor does. Consecutive turns of one role
are one turn to this vendor, and are judged as one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from agentfootprint.testing.script import Received, Refusal

__all__ = ["refusal_of"]

_FIELDS: Final = frozenset(
    (
        *("model", "max_tokens", "messages", "system", "temperature", "top_p", "top_k", "stop_sequences", "stream"),
        *("tools", "tool_choice", "thinking", "metadata", "service_tier", "output_config", "container"),
        *("context_management", "mcp_servers", "cache_control"),
    )
)
_BLOCK_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset(("type", "text", "cache_control", "citations")),
    "tool_use": frozenset(("type", "id", "name", "input", "cache_control")),
    "tool_result": frozenset(("type", "tool_use_id", "content", "is_error", "cache_control")),
    "thinking": frozenset(("type", "thinking", "signature")),
    "redacted_thinking": frozenset(("type", "data")),
}
_ROLE_BLOCKS: Final = {
    "user": frozenset(("text", "tool_result")),
    "assistant": frozenset(("text", "tool_use", "thinking", "redacted_thinking")),
}
_TOOL_FIELDS: Final = frozenset(("name", "description", "input_schema", "cache_control", "type", "strict"))
_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_MOST_MARKS: Final = 4
_LEAST_BUDGET: Final = 1024

_Object = Mapping[str, Any]
_Found = Iterator[str]


class _Turn(NamedTuple):
    """One turn as the vendor sees it, with the place of each block."""

    role: str
    blocks: list[tuple[str, _Object]]


def refusal_of(request: Received, *, models: frozenset[str] | None, key: str | None) -> Refusal | None:
    """What is wrong with a request, or `None`."""
    refusal = _door(request, key)
    if refusal is not None:
        return refusal
    if not isinstance(request.body, Mapping):
        return Refusal("the request body is not valid JSON")
    body = cast("_Object", request.body)
    problem = next(_problems(body), None)
    if problem is not None:
        return Refusal(problem)
    if models is not None and body["model"] not in models:
        return Refusal(f"model: {body['model']}", status=404)
    return None


def _door(request: Received, key: str | None) -> Refusal | None:
    """What is wrong before the body is looked at."""
    if request.path.partition("?")[0] != "/v1/messages":
        return Refusal("not found", status=404)
    if request.method != "POST":
        return Refusal("method not allowed", status=405)
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    given = request.headers.get("x-api-key") or bearer
    if not given or (key is not None and given != key):
        return Refusal("invalid x-api-key", status=401)
    if "anthropic-version" not in request.headers:
        return Refusal("anthropic-version: header is required")
    return None


def _problems(body: _Object) -> _Found:
    yield from (f"{field}: Extra inputs are not permitted" for field in body if field not in _FIELDS)
    if not _text(body.get("model")):
        yield "model: Field required"
    if not _whole(body.get("max_tokens")) or body["max_tokens"] < 1:
        yield "max_tokens: Input should be a valid integer of at least 1"
    yield from _sampling(body)
    yield from _system(body.get("system"))
    yield from _tools(body)
    turns: list[_Turn] = []
    yield from _messages(body.get("messages"), turns)
    yield from _pairs(turns)
    yield from _thinking(body, turns)
    marks = sum("cache_control" in block for _, block in _marked(body, turns))
    if marks > _MOST_MARKS:
        yield f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided. Found {marks}."


def _sampling(body: _Object) -> _Found:
    if "temperature" in body and not (_number(body["temperature"]) and 0 <= body["temperature"] <= 1):
        yield "temperature: Input should be a number between 0 and 1"
    if "stream" in body and not isinstance(body["stream"], bool):
        yield "stream: Input should be a valid boolean"
    if "stop_sequences" in body:
        stops = _list(body["stop_sequences"])
        if stops is None or not all(_text(one) for one in stops):
            yield "stop_sequences: each stop sequence must contain non-whitespace"


def _system(system: object) -> _Found:
    if system is None or isinstance(system, str):
        return
    blocks = _list(system)
    if blocks is None:
        yield "system: Input should be a valid string or list"
        return
    for index, block in enumerate(blocks):
        if not isinstance(block, Mapping) or cast("_Object", block).get("type") != "text":
            yield f"system.{index}: Input should be a text block"
        else:
            yield from _block(f"system.{index}", cast("_Object", block))


def _tools(body: _Object) -> _Found:
    tools = _list(body.get("tools", []))
    if tools is None:
        yield "tools: Input should be a valid list"
        return
    names: set[str] = set()
    for index, tool in enumerate(tools):
        at = f"tools.{index}"
        if not isinstance(tool, Mapping):
            yield f"{at}: Input should be a valid dictionary"
            continue
        known = cast("_Object", tool)
        yield from (f"{at}.{field}: Extra inputs are not permitted" for field in known if field not in _TOOL_FIELDS)
        name, schema = known.get("name"), known.get("input_schema")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            yield f"{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        elif name in names:
            yield "tools: Tool names must be unique."
        else:
            names.add(name)
        if not isinstance(known.get("description", ""), str):
            yield f"{at}.description: Input should be a valid string"
        if not isinstance(schema, Mapping) or cast("_Object", schema).get("type") != "object":
            yield f"{at}.input_schema.type: Input should be 'object'"
        yield from _cache_control(at, known)
    yield from _choice(body, names)


def _choice(body: _Object, names: set[str]) -> _Found:
    if "tool_choice" not in body:
        return
    choice = body["tool_choice"]
    if not names:
        yield "tool_choice: may only be specified while providing tools"
    if not isinstance(choice, Mapping):
        yield "tool_choice: Input should be a valid dictionary"
        return
    known = cast("_Object", choice)
    if known.get("type") not in ("auto", "any", "tool", "none"):
        yield "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'"
    if known.get("type") == "tool" and known.get("name") not in names:
        yield f"tool_choice: Tool '{known.get('name')}' not found in provided tools"
    extra = set(known) - {"type", "name", "disable_parallel_tool_use"}
    yield from (f"tool_choice.{field}: Extra inputs are not permitted" for field in sorted(extra))


def _messages(messages: object, turns: list[_Turn]) -> _Found:
    """Judge each message, and gather them into turns."""
    listed = _list(messages)
    if not listed:
        yield "messages: at least one message is required"
        return
    for index, message in enumerate(listed):
        at = f"messages.{index}"
        if not isinstance(message, Mapping):
            yield f"{at}: Input should be a valid dictionary"
            continue
        yield from _message(at, cast("_Object", message), turns)
    if turns and turns[0].role != "user":
        yield "messages: first message must use the user role"
    if turns and turns[-1].role == "assistant":
        _, last = turns[-1].blocks[-1]
        if last["type"] == "text" and last["text"] != last["text"].rstrip():
            yield "messages: final assistant content cannot end with trailing whitespace"


def _message(at: str, message: _Object, turns: list[_Turn]) -> _Found:
    role, content = message.get("role"), message.get("content")
    yield from (f"{at}.{key}: Extra inputs are not permitted" for key in message if key not in ("role", "content"))
    if role not in _ROLE_BLOCKS:
        yield f'{at}: Unexpected role "{role}". Use the top-level `system` parameter for instructions.'
        return
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else _list(content)
    if not blocks or content == "":
        yield f"{at}: all messages must have non-empty content"
        return
    if not turns or turns[-1].role != role:
        turns.append(_Turn(role, []))
    for place, block in enumerate(blocks):
        where = f"{at}.content.{place}"
        if not isinstance(block, Mapping) or cast("_Object", block).get("type") not in _ROLE_BLOCKS[role]:
            yield f"{where}: Input tag does not match any of the expected tags of the role {role}"
            continue
        yield from _block(where, cast("_Object", block))
        turns[-1].blocks.append((where, cast("_Object", block)))


def _block(at: str, block: _Object) -> _Found:
    kind = block["type"]
    known = _BLOCK_FIELDS[kind]
    yield from (f"{at}.{kind}.{field}: Extra inputs are not permitted" for field in block if field not in known)
    for field, good in _SHAPES[kind].items():
        if not good(block.get(field)):
            yield f"{at}.{kind}.{field}: Field required, or its value is not valid"
    yield from _cache_control(at, block)


def _cache_control(at: str, block: _Object) -> _Found:
    mark = block.get("cache_control")
    if mark is not None and mark not in (
        {"type": "ephemeral"},
        *({"type": "ephemeral", "ttl": t} for t in ("5m", "1h")),
    ):
        yield f"{at}.cache_control: Input should be an ephemeral mark"


def _pairs(turns: Sequence[_Turn]) -> _Found:
    """Every call is answered in the next turn, before anything else, and nothing else is answered."""
    open_ids: list[str] = []
    seen: set[str] = set()
    for turn in turns:
        results = [block["tool_use_id"] for _, block in turn.blocks if block["type"] == "tool_result"]
        if open_ids and sorted(set(open_ids) - set(results)):
            missing = ", ".join(one for one in open_ids if one not in results)
            yield f"`tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
        kinds = [block["type"] == "tool_result" for _, block in turn.blocks]
        if open_ids and kinds != sorted(kinds, reverse=True):
            yield "`tool_result` blocks must come first in the turn that answers calls"
        for where, block in turn.blocks:
            if block["type"] == "tool_result" and block["tool_use_id"] not in open_ids:
                yield f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {block['tool_use_id']}"
        if len(results) != len(set(results)):
            yield "each tool_use must have a single result"
        open_ids = [block["id"] for _, block in turn.blocks if block["type"] == "tool_use"]
        for one in open_ids:
            if one in seen:
                yield "messages: `tool_use` ids must be unique"
            seen.add(one)
    if open_ids:
        yield f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(open_ids)}"


def _thinking(body: _Object, turns: Sequence[_Turn]) -> _Found:
    said = [turn for turn in turns if turn.role == "assistant"]
    for turn in said:
        late = [block["type"].endswith("thinking") for _, block in turn.blocks]
        if late != sorted(late, reverse=True):
            yield "thinking blocks must come first in an assistant turn"
    if "thinking" not in body:
        return
    thinking = cast("_Object", body["thinking"] if isinstance(body["thinking"], Mapping) else {})
    if thinking.get("type") not in ("enabled", "adaptive", "disabled"):
        yield "thinking.type: Input should be 'enabled', 'adaptive' or 'disabled'"
    if thinking.get("type") != "disabled" and body.get("temperature", 1) != 1:
        yield "`temperature` may only be set to 1 when thinking is enabled."
    if thinking.get("type") == "enabled":
        yield from _budget(body, thinking.get("budget_tokens"), said)


def _budget(body: _Object, budget: object, said: Sequence[_Turn]) -> _Found:
    if not isinstance(budget, int) or budget < _LEAST_BUDGET:
        yield f"thinking.enabled.budget_tokens: Input should be greater than or equal to {_LEAST_BUDGET}"
    elif budget >= body["max_tokens"]:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."
    if body.get("tool_choice", {}).get("type") in ("any", "tool"):
        yield "Thinking may not be enabled when tool_choice forces tool use."
    if said and said[-1].blocks[-1][1]["type"] == "tool_use":
        where, first = said[-1].blocks[0]
        if first["type"] not in ("thinking", "redacted_thinking"):
            yield f"{where}: Expected `thinking` or `redacted_thinking`, but found `{first['type']}`."


def _marked(body: _Object, turns: Sequence[_Turn]) -> Iterator[tuple[str, _Object]]:
    system = body.get("system")
    if not isinstance(system, str):
        yield from (("system", cast("_Object", block)) for block in _list(system) or ())
    yield from (("tools", cast("_Object", tool)) for tool in _list(body.get("tools")) or ())
    for turn in turns:
        yield from turn.blocks


def _list(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _result(value: object) -> bool:
    """What a tool gave: nothing, a text, or blocks with something in them."""
    if value is None or isinstance(value, str):
        return True
    return all(
        isinstance(block, Mapping)
        and cast("_Object", block).get("type") in ("text", "image")
        and (cast("_Object", block)["type"] != "text" or _text(cast("_Object", block).get("text")))
        for block in (_list(value) or [None])
    )


_SHAPES: Final[Mapping[str, Mapping[str, Callable[[object], bool]]]] = {
    "text": {"text": _text},
    "tool_use": {
        "id": lambda value: isinstance(value, str) and bool(_ID.fullmatch(value)),
        "name": lambda value: isinstance(value, str) and bool(_NAME.fullmatch(value)),
        "input": lambda value: isinstance(value, Mapping),
    },
    "tool_result": {
        "tool_use_id": lambda value: isinstance(value, str) and bool(_ID.fullmatch(value)),
        "content": _result,
    },
    "thinking": {
        "thinking": lambda value: isinstance(value, str),
        "signature": lambda v: isinstance(v, str) and bool(v),
    },
    "redacted_thinking": {"data": lambda value: isinstance(value, str) and bool(value)},
}
