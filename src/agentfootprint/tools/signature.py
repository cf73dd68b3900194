"""What does a function take, as JSON Schema and as Python types?

Read once, when a tool is defined, and kept with it. pydantic is imported only for hints that are more than `str`,
`int`, `float` and `bool`. What can't be offered to a model is refused here, naming tool and parameter (03 s.2).
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, Union, cast, get_args, get_origin

from agentfootprint.tools.call_context import ToolContext
from agentfootprint.tools.errors import ToolDefinitionError
from agentfootprint.trace import FrozenDict, ValueRefusedError, freeze, thaw

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["Parameters", "function_of", "injected_parameter", "is_generator", "read_parameters"]

_SCALARS: Final[Mapping[type, str]] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_WANTED: Final = "Give it the type of what the model should send, as in `order_id: str`."
_DATA_KEYS: Final = frozenset(("default", "examples", "enum", "const"))
_NAMED_SCHEMAS: Final = frozenset(("properties", "$defs", "patternProperties"))

Schema: typing.TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a tool's function takes."""

    schema: FrozenDict
    """JSON Schema of what the model sends."""
    injected: str | None = None
    """The parameter that gets the `ToolContext`."""
    scalars: Mapping[str, type] = field(default_factory=dict[str, type])
    """Parameters whose hint is `str`, `int`, `float` or `bool`, and nothing else."""
    adapters: Mapping[str, TypeAdapter[Any]] = field(default_factory=dict[str, "TypeAdapter[Any]"])
    """pydantic's converters of all other parameters."""
    required: tuple[str, ...] = ()


def function_of(call: Callable[..., object]) -> Callable[..., object]:
    """The plain function behind a partial, a bound method, a wrapper or an object with `__call__`."""
    while True:
        if isinstance(call, functools.partial):
            call = cast("functools.partial[object]", call).func
        elif inspect.ismethod(call):
            call = call.__func__
        elif inspect.isroutine(call) or isinstance(call, type):
            return inspect.unwrap(call)
        else:
            call = type(call).__call__


def is_generator(call: Callable[..., object]) -> bool:
    """Whether a function gives its values one by one; a wrapper is what it is itself."""
    return any(
        inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in (call, type(call).__call__)
    )


def injected_parameter(call: Callable[..., object]) -> str | None:
    """The parameter annotated `ToolContext`, for a tool whose schema was written by hand; hints are otherwise free."""
    if type(call) is types.FunctionType and not vars(call) and _takes_scalars(call):
        return None  # nothing says that it takes what another one does; the rest costs ten times as much
    try:
        signature = inspect.signature(call)
    except ValueError:  # a builtin without one
        return None
    known = _names_of(call, {})
    for name, parameter in signature.parameters.items():
        hint = parameter.annotation
        if hint is inspect.Parameter.empty:
            continue
        try:
            hint = _evaluated(hint, known)
        except Exception:  # noqa: BLE001, S112  the user's hint may be any text; one that can't be read injects nothing
            continue
        if _is_context(hint):
            return name
    return None


def read_parameters(
    call: Callable[..., object], tool: str, texts: Mapping[str, str], names: Mapping[str, object]
) -> Parameters:
    """Read the hints of a function.

    Args:
        call: The function.
        tool: The tool's name, for refusals.
        texts: Description of each parameter, from the docstring.
        names: Where hints in quotes are looked up beside the function's module: the names around its definition.

    Raises:
        ToolDefinitionError: A parameter can't be offered to a model; `tool` and `parameter` name it.
    """
    injected: str | None = None
    hints: dict[str, Any] = {}
    defaults: dict[str, object] = {}
    known = _names_of(call, names)
    settled = _settled_by_partials(call)
    for name, parameter in _signature(call, tool).parameters.items():
        if name in settled:  # not the model's to choose, nor to see
            continue
        hint = _hint(parameter, tool, known)
        if not _is_context(hint):
            hints[name] = hint
            if parameter.default is not inspect.Parameter.empty:
                defaults[name] = _default(parameter, tool)
        elif injected is None:
            injected = name
        else:
            raise ToolDefinitionError(
                tool,
                f"The tool {tool!r} takes the call's context twice, as {injected!r} and as {name!r}.",
                parameter=name,
                fix="Keep one of the two.",
            )
    scalars: dict[str, type] = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and hint in _SCALARS
    }
    adapters = {name: _adapter(hint, tool, name) for name, hint in hints.items() if name not in scalars}
    required = tuple(name for name in hints if name not in defaults)
    members, definitions = _pydantic_schemas(adapters)
    properties = {
        name: _member({"type": _SCALARS[hint]} if name in scalars else members[name], hint, texts.get(name))
        for name, hint in hints.items()
    }
    for name, default in defaults.items():
        _add_default(properties[name], default)
    schema = _object(properties, required, definitions)
    return Parameters(freeze(schema), injected, scalars, adapters, required)


def _settled_by_partials(call: Callable[..., object]) -> frozenset[str]:
    """The keyword arguments that a partial gives already."""
    names: set[str] = set()
    while isinstance(call, functools.partial):
        names.update(call.keywords)
        call = cast("functools.partial[object]", call).func
    return frozenset(names)


def _signature(call: Callable[..., object], tool: str) -> inspect.Signature:
    try:
        return inspect.signature(call)
    except (ValueError, TypeError, NameError) as unreadable:
        raise ToolDefinitionError(
            tool,
            f"The parameters of the tool {tool!r} can't be read.",
            fix="Wrap it in a function with annotated parameters.",
        ) from unreadable


def _hint(parameter: inspect.Parameter, tool: str, known: dict[str, Any]) -> Any:  # noqa: ANN401  a type of any kind
    name = parameter.name
    problem = fix = None
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
        problem = f"takes {stars}{name}, which has no schema"
        fix = "Name each parameter and give it a type, or pass a schema of your own: Tool(fn, input_schema=...)."
    elif parameter.kind is parameter.POSITIONAL_ONLY:
        problem = f"has the positional-only parameter {name!r}, but arguments come by name"
        fix = "Leave the / out of its parameters."
    elif parameter.annotation is parameter.empty:
        problem = f"has the parameter {name!r} without a type hint"
        fix = "Make the tool from a bound method: tool(thing.method)." if name == "self" else _WANTED
        fix = "Annotate it as ToolContext to have the call's context." if name == "ctx" else fix
    if problem is not None and fix is not None:
        raise ToolDefinitionError(tool, f"The tool {tool!r} {problem}.", parameter=name, fix=fix)
    try:
        return _evaluated(parameter.annotation, known)
    except Exception as unknown:
        raise ToolDefinitionError(
            tool,
            f"The hint of the parameter {name!r} of the tool {tool!r} can't be resolved: {parameter.annotation}.",
            parameter=name,
            fix="Define or import the type above the tool, not only under TYPE_CHECKING.",
        ) from unknown


def _names_of(call: Callable[..., object], names: Mapping[str, object]) -> dict[str, Any]:
    return {**getattr(function_of(call), "__globals__", {}), **names}


def _evaluated(hint: object, known: dict[str, Any]) -> Any:  # noqa: ANN401  a type of any kind
    """A hint as an object; text in it is looked up among the known names."""
    plain = _scalar(hint, known)
    if plain is not None:  # as most are, and compiling a text is slow
        return plain

    def holder() -> None: ...

    holder.__annotations__ = {"hint": hint}
    return typing.get_type_hints(holder, globalns=known, include_extras=True)["hint"]


def _scalar(hint: object, known: Mapping[str, object]) -> type | None:
    """A hint that is `str`, `int`, `float` or `bool`, or the bare name of one."""
    plain = known.get(hint, getattr(builtins, hint, None)) if isinstance(hint, str) else hint
    return plain if isinstance(plain, type) and plain in _SCALARS else None


def _takes_scalars(call: types.FunctionType) -> bool:
    hints = call.__annotations__
    return all(_scalar(hints[name], call.__globals__) is not None for name in hints if name != "return")


def _is_context(hint: Any) -> bool:  # noqa: ANN401  a type of any kind
    origin = get_origin(hint)
    if origin is Annotated:
        return _is_context(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return any(_is_context(member) for member in get_args(hint))
    kind = origin or hint
    return isinstance(kind, type) and issubclass(kind, ToolContext)


def _default(parameter: inspect.Parameter, tool: str) -> object:
    if type(parameter.default).__name__ == "FieldInfo":
        raise ToolDefinitionError(
            tool,
            f"The parameter {parameter.name!r} of the tool {tool!r} has a Field(...) as its default.",
            parameter=parameter.name,
            fix=f"Write {parameter.name}: Annotated[<type>, Field(...)] = <default>.",
        )
    return parameter.default


def _adapter(hint: object, tool: str, parameter: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        adapter = TypeAdapter[Any](cast("type[Any]", hint))
        adapter.json_schema()
    except (PydanticUserError, NameError, TypeError) as refused:
        fix = "Use str, int, float, bool, list, dict, an Enum, a date, a dataclass or a pydantic model."
        if isinstance(refused, PydanticUserError) and refused.code == "typed-dict-version":
            fix = "Import TypedDict from typing_extensions: before Python 3.12, typing's own can't be read."
        raise ToolDefinitionError(
            tool,
            f"The hint of the parameter {parameter!r} of the tool {tool!r} has no JSON Schema: {hint!r}"
            f"{_reason(refused)}.",
            parameter=parameter,
            fix=fix,
        ) from refused
    return adapter


def _reason(refused: Exception) -> str:
    """The first sentence of what was wrong, in the words of who refused."""
    text = " ".join(str(getattr(refused, "message", refused)).split())
    return f" ({text.partition('. ')[0].rstrip('.')})" if text else ""


def _object(properties: Mapping[str, Schema], required: tuple[str, ...], definitions: Schema) -> Schema:
    schema: Schema = {"type": "object", "properties": properties}
    if not properties:
        return schema  # TOL-2
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False  # a misspelt name is told to the model, not dropped
    if definitions:
        schema["$defs"] = definitions
    return schema


def _member(schema: Schema, hint: object, text: str | None) -> Schema:
    text = _declared_text(hint) or text
    return {**schema, "description": text} if text else schema


def _declared_text(hint: object) -> str | None:
    """The description in `Annotated[..., Field(description=...)]`."""
    for extra in getattr(hint, "__metadata__", ()):
        text = getattr(extra, "description", None)
        if isinstance(text, str):
            return text
    return None


def _add_default(member: Schema, default: object) -> None:
    try:
        member["default"] = thaw(freeze(default))
    except ValueRefusedError:  # a default that JSON can't hold works in Python all the same
        return


def _pydantic_schemas(adapters: Mapping[str, TypeAdapter[Any]]) -> tuple[dict[str, Schema], Schema]:
    """The schemas of all parameters at once, so that two types of one name stay two, without references or titles."""
    if not adapters:
        return {}, {}
    from pydantic import TypeAdapter

    found, shared = TypeAdapter.json_schemas([(name, "validation", adapter) for name, adapter in adapters.items()])
    definitions: Schema = shared.get("$defs", {})
    kept: set[str] = set()
    schemas = {name: _plain(schema, definitions, (), kept) for (name, _), schema in found.items()}
    remaining: Schema = {}
    while kept - remaining.keys():  # a recursive type is the one thing that needs its reference
        name = min(kept - remaining.keys())
        remaining[name] = _plain(definitions[name], definitions, (name,), kept)
    return cast("dict[str, Schema]", schemas), remaining


def _plain(schema: Any, definitions: Schema, inside: tuple[str, ...], kept: set[str]) -> Any:  # noqa: ANN401  JSON
    if isinstance(schema, list):
        return [_plain(item, definitions, inside, kept) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    source = cast("Schema", schema)
    out: Schema = {}
    reference = str(source.get("$ref", "")).removeprefix("#/$defs/")
    if reference in definitions:
        if reference in inside:
            kept.add(reference)
            return {"$ref": f"#/$defs/{reference}"}
        out = _plain(definitions[reference], definitions, (*inside, reference), kept)
    for key, value in source.items():
        if key in ("$ref", "title", "discriminator"):  # the last points to names that are gone
            continue
        if key in _NAMED_SCHEMAS:
            members = cast("Schema", value)
            out[key] = {name: _plain(member, definitions, inside, kept) for name, member in members.items()}
        else:
            out[key] = value if key in _DATA_KEYS else _plain(value, definitions, inside, kept)
    return out
