"""Do these arguments fit this schema, and if not, what is wrong with which field?

The subset of JSON Schema that is enforced is small on purpose (VAL-4): a strange schema can only check too little, it
never raises. An issue names types, never a value that was supplied (VAL-3).
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from agentfootprint.events import ArgIssue
from agentfootprint.trace import ABSENT, JsonObject, Record, Value, compact_json, deep_equal

__all__ = ["MAX_ISSUES", "json_type", "refused_args_text", "validate_args"]

MAX_ISSUES: Final = 10
"""At most so many issues are told of one call (VAL-5)."""

_log = logging.getLogger(__name__)


def json_type(value: object) -> str:
    """The JSON type of a value, in the words of VAL-3."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (Mapping, Record)):
        return "object"
    return "array" if isinstance(value, Sequence) else "unknown"


def validate_args(args: Value, schema: JsonObject) -> tuple[ArgIssue, ...]:
    """Check the arguments of a call against a tool's schema.

    Args:
        args: The arguments; `None` (none were given) is checked as `{}`.
        schema: JSON Schema. Enforced are `type`, `enum` of primitives, `required`, `properties`, `items` with one
            schema, `additionalProperties: false` beside `properties`, and on texts `pattern`, `minLength`, `maxLength`
            (VAL-4, NEW-35). Everything else is ignored.

    Returns:
        At most 10 issues in the order of VAL-5; empty when the arguments fit.
    """
    issues: list[ArgIssue] = []
    _check({} if args is None else args, schema, "", issues)
    return tuple(issues[:MAX_ISSUES])


def refused_args_text(tool: str, issues: Iterable[ArgIssue]) -> str:
    """What the model reads when a call was not run because of its arguments (VAL-2).

    The values are not repeated: the model has them in its own turn, and this text is recorded as the call's result.
    """
    lines = [f"The call of {tool} was not run: its arguments do not fit."]
    for issue in issues:
        hint = f" ({issue.hint})" if issue.hint else ""
        lines.append(f"- {issue.path or 'the arguments'}: expected {issue.expected}, got {issue.got}{hint}")
    lines.append(f"Correct the arguments and call {tool} again.")
    return "\n".join(lines)


def _check(value: Value, schema: JsonObject, path: str, issues: list[ArgIssue]) -> None:
    if len(issues) >= MAX_ISSUES:
        return
    missed = _type_missed(value, schema.get("type", ABSENT)) or _enum_missed(value, schema.get("enum"))
    if missed:
        issues.append(ArgIssue(path=path, expected=missed, got=json_type(value)))
    elif isinstance(value, str):
        _check_text(value, schema, path, issues)
    elif isinstance(value, Mapping):
        _check_object(cast("JsonObject", value), schema, path, issues)
    elif isinstance(value, Sequence):
        items = schema.get("items")
        if isinstance(items, Mapping):
            for i, item in enumerate(cast("Sequence[Any]", value)):
                _check(item, cast("JsonObject", items), f"{path}[{i}]", issues)


def _is_integer(value: object) -> bool:
    return (type(value) is int) or (isinstance(value, float) and value.is_integer())


_IS_TYPE: Final[Mapping[str, Callable[[object], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": _is_integer,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "object": lambda value: json_type(value) == "object",
    "array": lambda value: json_type(value) == "array",
}


def _type_missed(value: Value, declared: object) -> str | None:
    """The types that were wanted, if the value has none of them; a type word that is not JSON Schema's passes."""
    words = [declared] if isinstance(declared, str) else declared
    if not isinstance(words, Sequence) or not words:
        return None
    for word in cast("Sequence[object]", words):
        test = _IS_TYPE.get(word) if isinstance(word, str) else None
        if test is None or test(value):
            return None
    return " | ".join(cast("Sequence[str]", words))


def _enum_missed(value: Value, allowed: object) -> str | None:
    if not isinstance(allowed, Sequence) or isinstance(allowed, str) or not allowed:
        return None
    members = cast("Sequence[Any]", allowed)
    if not all(member is None or isinstance(member, (str, bool, int, float)) for member in members):
        return None
    if any(deep_equal(value, member) for member in members):
        return None
    return f"one of {', '.join(compact_json(member) for member in members)}"


def _bound(declared: Value) -> int | None:
    return int(declared) if _is_integer(declared) else None


def _check_text(text: str, schema: JsonObject, path: str, issues: list[ArgIssue]) -> None:
    wanted: list[str] = []
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (found := _pattern(pattern)) is not None and not found(text):
        wanted.append(f"a text that matches {pattern}")
    low, high = _bound(schema.get("minLength")), _bound(schema.get("maxLength"))
    if low is not None and len(text) < low:  # characters, as JSON Schema and pydantic count them
        wanted.append(f"at least {low} characters")
    if high is not None and len(text) > high:
        wanted.append(f"at most {high} characters")
    if wanted:
        hint = schema.get("description")
        hint = hint if isinstance(hint, str) and hint.strip() else None
        issues.append(ArgIssue(path=path, expected=" and ".join(wanted), got="string", hint=hint))


def _check_object(value: JsonObject, schema: JsonObject, path: str, issues: list[ArgIssue]) -> None:
    inside = f"{path}." if path else ""
    required = schema.get("required")
    if isinstance(required, Sequence) and not isinstance(required, str):
        for key in cast("Sequence[object]", required):
            if isinstance(key, str) and key not in value and len(issues) < MAX_ISSUES:
                issues.append(ArgIssue(path=f"{inside}{key}", expected="required", got="missing"))
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    declared = cast("Mapping[str, object]", properties)
    for key, member in declared.items():
        if key in value and isinstance(member, Mapping):
            _check(value[key], cast("JsonObject", member), f"{inside}{key}", issues)
    if schema.get("additionalProperties") is False:
        for key, item in value.items():
            if key not in declared and len(issues) < MAX_ISSUES:
                here = f"{inside}{key}"
                issues.append(ArgIssue(path=here, expected="no additional properties", got=json_type(item)))


@functools.lru_cache(maxsize=1024)
def _pattern(pattern: str) -> Callable[[str], bool] | None:
    """A test for an ECMA pattern found anywhere in a text, or `None` (and one warning) for one that is no pattern.

    pydantic's own engine is tried first: it needs linear time on every text, and a model may send any (NEW-125). It
    has no look-around; for a pattern with some, Python's `re` stands in.
    """
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(core_schema.str_schema(pattern=_ecma(pattern, end="$"))).isinstance_python
    except SchemaError:
        pass
    try:
        search = re.compile(_ecma(pattern, end=r"\Z")).search
    except re.error:
        _log.warning("The pattern %r of a tool's schema is no regular expression and is not checked.", pattern)
        return None
    return lambda text: search(text) is not None


_CLASSES: Final = {"d": "0-9", "w": "A-Za-z0-9_"}


def _ecma(pattern: str, *, end: str) -> str:
    r"""Spell out what another engine reads differently: in ECMA `\d` and `\w` are ASCII, and `$` is the very end."""
    out: list[str] = []
    in_class = escaped = False
    for char in pattern:
        if escaped:
            escaped = False
            spelt = _CLASSES.get(char.lower())
            if spelt is None or (in_class and char.isupper()):  # `[^\D]` has no spelling without the escape
                out.append(f"\\{char}")
            else:
                out.append(spelt if in_class else f"[{'^' if char.isupper() else ''}{spelt}]")
        elif char == "\\":
            escaped = True
        elif char == "$" and not in_class:
            out.append(end)
        else:
            in_class = char != "]" if in_class else char == "["
            out.append(char)
    return "".join(out) + ("\\" if escaped else "")
