"""How do checked JSON arguments become the Python values that a function's hints name (VAL-7)?

What the function gets is its own: it may change it, the record does not see that. Conversion is strict, so that `"3"`
is no `int` inside a union either. A refusal names field and type as the schema check does, never a value (VAL-3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.events import ArgIssue
from agentfootprint.tools.arguments import MAX_ISSUES, json_type
from agentfootprint.tools.signature import Parameters
from agentfootprint.trace import FrozenDict, JsonObject, Value, compact_json, thaw

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

__all__ = ["bind", "bind_scalars"]


def bind_scalars(parameters: Parameters, args: FrozenDict) -> dict[str, Any] | None:
    """The arguments for a function whose every hint is a scalar, if they fit as they are; else `None`.

    This is the whole check for most calls: a schema of scalars says no more than this looks at.
    """
    scalars = parameters.scalars
    out: dict[str, Any] = {}
    for name, value in args.data.items():
        wanted, kind = scalars.get(name), cast("type[object]", type(value))
        if wanted is kind:
            out[name] = value
        elif wanted is float and kind is int:
            out[name] = float(value)
        elif wanted is int and kind is float and value.is_integer():
            out[name] = int(value)
        else:
            return None
    return out if all(name in out for name in parameters.required) else None


def bind(parameters: Parameters, args: FrozenDict) -> tuple[dict[str, Any], tuple[ArgIssue, ...]]:
    """Convert arguments to what the hints say.

    Returns:
        Keyword arguments, and what could not be converted; such an argument stands there as plain JSON. An argument
        that the function does not have is left out.
    """
    out: dict[str, Any] = {}
    issues: list[ArgIssue] = []
    for name, value in args.data.items():
        if name in parameters.scalars:
            out[name] = _scalar(parameters.scalars[name], value)
        elif name in parameters.adapters:
            out[name] = _convert(parameters, name, value, issues)
    return out, tuple(issues[:MAX_ISSUES])


def _scalar(wanted: type, value: Value) -> Value:
    if wanted is float and type(value) is int:
        return float(value)
    if wanted is int and type(value) is float and value.is_integer():
        return int(value)
    return thaw(value)


def _convert(parameters: Parameters, name: str, value: Value, issues: list[ArgIssue]) -> object:
    from pydantic import ValidationError

    try:
        return cast("object", parameters.adapters[name].validate_json(compact_json(value), strict=True))
    except ValidationError as refused:
        issues += _issues(name, value, refused)
    except Exception as broken:  # noqa: BLE001  a validator of the user's, which may raise anything
        expected = f"a value its check accepts ({type(broken).__name__})"
        issues.append(ArgIssue(path=name, expected=expected, got=json_type(value)))
    return thaw(value)


def _issues(name: str, value: Value, refused: ValidationError) -> list[ArgIssue]:
    """One issue a place; a union tells what each of its members wanted, here joined."""
    found: dict[str, tuple[list[str], str]] = {}
    for error in refused.errors(include_url=False, include_input=False):
        path, got = _locate(name, value, error)
        wanted = found.setdefault(path, ([], got))[0]
        expected = _expected(error)
        if expected not in wanted:
            wanted.append(expected)
    return [ArgIssue(path=path, expected=" | ".join(wanted), got=got) for path, (wanted, got) in found.items()]


def _locate(name: str, value: Value, error: ErrorDetails) -> tuple[str, str]:
    """Where an error is in the arguments, and the type that was found there.

    A location also holds labels (which member of a union was tried); those lead nowhere in the value: passed over.
    """
    path = name
    here: Any = value
    missing = error["type"] == "missing"
    parts = error["loc"]
    for i, part in enumerate(parts):
        if isinstance(part, int) and isinstance(here, Sequence) and part < len(items := cast("Sequence[Any]", here)):
            path, here = f"{path}[{part}]", items[part]
        elif isinstance(part, str) and isinstance(here, Mapping) and part in (members := cast("JsonObject", here)):
            path, here = f"{path}.{part}", members[part]
        elif missing and i == len(parts) - 1:
            path = f"{path}[{part}]" if isinstance(part, int) else f"{path}.{part}"
    return path, "missing" if missing else json_type(cast("object", here))


_WORDS: Final[Mapping[str, str]] = {
    "missing": "required",
    "extra_forbidden": "no additional properties",
    "none_required": "null",
    "bool": "boolean",
    "int": "integer",
    "float": "number",
    "string": "string",
    "str": "string",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "frozen": "array",
    "dict": "object",
    "model": "object",
    "dataclass": "object",
    "mapping": "object",
    "datetime": "date-time",
    "timezone": "date-time with a time zone",
    "date": "date",
    "time": "time",
    "decimal": "decimal number",
    "uuid": "uuid",
    "url": "url",
    "bytes": "text",
    "path": "path",
    "json": "JSON text",
}
_BOUNDS: Final[Mapping[str, str]] = {
    "ge": "at least {}",
    "gt": "more than {}",
    "le": "at most {}",
    "lt": "less than {}",
    "multiple_of": "a multiple of {}",
    "min_length": "at least {} long",
    "max_length": "at most {} long",
    "pattern": "a text that matches {}",
    "expected": "{}",
    "expected_tags": "one of {}",
    "tz_expected": "a time zone offset of {}",
    "max_digits": "at most {} digits",
    "decimal_places": "at most {} decimal places",
}


def _expected(error: ErrorDetails) -> str:
    """What was wanted, from the kind of the error and the bounds its author declared; never from its message."""
    facts = error.get("ctx", {})
    bounds = [words.format(facts[key]) for key, words in _BOUNDS.items() if key in facts]
    if bounds:
        return " and ".join(bounds)
    kind = error["type"]
    if kind.startswith("time_delta"):
        return "duration"
    known = _WORDS.get(kind) or _WORDS.get(kind.partition("_")[0])
    return known or f"a value its check accepts ({kind})"
