"""What is a tool, and how does a function become one?

A tool is a description that never changes: no run keeps anything on it, so one tool may serve any number of runs at
once. Everything that can be refused about it is refused here, never at the first call (03 s.2).
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    overload,
)

from agentfootprint.tools.docs import describe
from agentfootprint.tools.errors import ToolDefinitionError
from agentfootprint.tools.signature import (
    Parameters,
    function_of,
    injected_parameter,
    is_generator,
    read_parameters,
)
from agentfootprint.trace import FrozenDict, JsonObject, ValueRefusedError, freeze

if TYPE_CHECKING:
    from agentfootprint.tools.components import AskComponent
    from agentfootprint.tools.consent import CheckInPredicate

__all__ = ["Binding", "Capability", "Tool", "ToolRules", "tool", "tool_from_function"]

P = ParamSpec("P")
R = TypeVar("R")

Capability: TypeAlias = Literal["memory_read", "memory_write", "external_net", "user_data"]
"""What a tool may touch beside its arguments."""

_CAPABILITIES: Final = get_args(Capability)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """What a tool's author knows about its calls.

    Args:
        repeated_when: When a call counts as a repeat of an earlier one: with the same arguments and the same
            `"result"`, or with the same `"arguments"` whatever came back (03:SIZ-7).
        component: What a person approves a call on, for a tool with `check_in`.
        sequential: Whether a call runs alone where the calls of one reply run side by side: those before it are over,
            those behind it have not begun (AGT-60).
    """

    repeated_when: Literal["result", "arguments"] = "result"
    component: AskComponent | None = None
    sequential: bool = False

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        if self.repeated_when not in ("result", "arguments"):
            raise ToolDefinitionError(
                "rules", f"repeated_when is {self.repeated_when!r}.", fix='Use "result" or "arguments".'
            )
        if not isinstance(self.sequential, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ToolDefinitionError("rules", f"sequential is {self.sequential!r}.", fix="Use True or False.")
        if self.component is not None:
            from agentfootprint.tools.components import check_component  # few tools have one

            object.__setattr__(self, "component", check_component(self.component, "check_in"))


@dataclass(frozen=True, slots=True)
class Binding:
    """How a tool's function is called with the arguments of a model."""

    is_async: bool
    """Run on the loop; else in a worker thread (TOL-4)."""
    injected: str | None
    """The parameter that gets the `ToolContext`."""
    parameters: Parameters | None
    """The function's own types; `None` for a schema written by hand, whose function gets plain JSON."""
    only_scalars: bool
    """No parameter needs more than a look at its type."""


@dataclass(frozen=True, eq=False)
class Tool(Generic[P, R]):
    """Something the model may do: what `@tool` makes of a function, or a function with a schema written by hand.

    Calling a tool calls its function. Of what stands here the model sees name, description and schema (TOL-1).

    Args:
        execute: The function. It gets the arguments by name, as plain JSON that is its own to change; a parameter
            annotated `ToolContext` gets the call's context. A plain function runs in a worker thread.
        name: What the model calls it; unique among an agent's tools.
        description: What it does and when to use it, for the model.
        input_schema: JSON Schema of the arguments, an object.
        capabilities: What a call may touch beside its arguments: a permission checker that governs one of these is
            asked about it too, in this order (PRM-2).
        check_in: Whether a person must approve a call before it runs: `"always"`, or a predicate of its arguments and
            a `CheckInContext`, which trips by giving exactly `True`, or by raising (AGT-84).
        timeout: Seconds a call may take; `None`: as long as the run.
        rules: What the author knows about its calls.

    Raises:
        ToolDefinitionError: It can't be offered as it is; the error names the tool and what to do.
    """

    execute: Callable[P, R]
    _: KW_ONLY
    name: str
    description: str
    input_schema: JsonObject
    capabilities: Sequence[Capability] | None = None
    check_in: Literal["always"] | CheckInPredicate | None = None
    timeout: float | None = None
    rules: ToolRules | None = None
    binding: Binding = field(init=False, repr=False)
    """How the dispatch calls the function."""

    def __post_init__(self) -> None:
        """Check what was given, and freeze the schema."""
        _check_text(self.name, self.name, "name", 'Give it one: name="lookup_order".')
        _check_text(self.name, self.description, "description", "Say what it does and when to use it.")
        if not callable(self.execute):
            raise ToolDefinitionError(
                self.name,
                f"The tool {self.name!r} has no function to run.",
                fix="Give a function as the first argument.",
            )
        if is_generator(self.execute):
            raise ToolDefinitionError(
                self.name,
                f"The tool {self.name!r} is a generator function, and a model reads one result.",
                fix="Return a list of what it yields.",
            )
        _check_timeout(self.name, self.timeout)
        if self.capabilities is not None:
            self._set("capabilities", _checked_capabilities(self.name, self.capabilities))
        _check_consent(self.name, self.check_in, self.rules)
        self._set("input_schema", _checked_schema(self.name, self.input_schema))
        self._set(
            "binding", Binding(_is_async(self.execute), injected_parameter(self.execute), None, only_scalars=False)
        )
        self._set("__wrapped__", self.execute)  # so that inspect.signature and help() show the function
        self._set("__doc__", self.execute.__doc__)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, as if it were no tool."""
        return self.execute(*args, **kwargs)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


def tool_from_function(
    execute: Callable[P, R],
    *,
    names: Mapping[str, object],
    name: str | None = None,
    description: str | None = None,
    capabilities: Sequence[Capability] | None = None,
    check_in: Literal["always"] | CheckInPredicate | None = None,
    timeout: float | None = None,
    rules: ToolRules | None = None,
) -> Tool[P, R]:
    """Make a tool whose schema is read from type hints and docstring; `tool` is the everyday form of this.

    Args:
        execute: The function.
        names: Where hints in quotes are looked up beside the function's module.
        name: Else the function's own, of an object with `__call__` that of its class.
        description: Else the first paragraph of the docstring.
        capabilities: As for `Tool`.
        check_in: As for `Tool`.
        timeout: As for `Tool`.
        rules: As for `Tool`.

    Raises:
        ToolDefinitionError: It can't be offered as it is.
    """
    known_as = name if name is not None else _name_of(execute)
    unnamed = known_as == "<lambda>"
    _check_text(known_as, "" if unnamed else known_as, "name", 'Give it one: @tool(name="lookup_order").')
    summary, texts = describe(_docstring_of(execute))
    text = description if description is not None else summary
    _check_text(known_as, text, "description", 'Give it a docstring, or write @tool(description="...").')
    parameters = read_parameters(execute, known_as, texts, names)
    made = Tool(
        execute,
        name=known_as,
        description=text,
        input_schema=cast("JsonObject", parameters.schema),
        capabilities=capabilities,
        check_in=check_in,
        timeout=timeout,
        rules=rules,
    )
    binding = Binding(made.binding.is_async, parameters.injected, parameters, only_scalars=not parameters.adapters)
    object.__setattr__(made, "binding", binding)
    return made


def _name_of(call: Callable[..., object]) -> str:
    while isinstance(call, functools.partial):
        call = cast("functools.partial[object]", call).func
    return str(getattr(call, "__name__", type(call).__name__))


def _docstring_of(call: Callable[..., object]) -> str | None:
    """The function's, else that of the class whose objects are called."""
    while isinstance(call, functools.partial):
        call = cast("functools.partial[object]", call).func
    own = function_of(call)
    if own is type(call).__call__ and own.__doc__ is None:  # getdoc would give what Python says of any __call__
        return inspect.getdoc(type(call))
    return inspect.getdoc(own)


@overload
def tool(fn: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    capabilities: Sequence[Capability] | None = None,
    check_in: Literal["always"] | CheckInPredicate | None = None,
    timeout: float | None = None,
    rules: ToolRules | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    capabilities: Sequence[Capability] | None = None,
    check_in: Literal["always"] | CheckInPredicate | None = None,
    timeout: float | None = None,
    rules: ToolRules | None = None,
) -> Tool[..., Any] | Callable[[Callable[..., Any]], Tool[..., Any]]:
    """Make a function a tool: its schema comes from its type hints, its texts from its docstring (TOL-3).

    Args:
        fn: The function, sync or async, also a bound method, a partial (what it gives is not the model's to choose) or
            an object with `__call__`. Each parameter needs a type hint; one annotated
            `ToolContext` gets the call's context and is not shown to the model. Parameters are described by
            `Annotated[..., Field(description=...)]` or by an `Args:` section of the docstring.
        name: Else the function's name.
        description: Else the first paragraph of the docstring.
        capabilities: What a call may touch beside its arguments, for the agent's permission checker (PRM-2).
        check_in: Whether a person must approve a call before it runs: `"always"`, or a predicate of its arguments and
            a `CheckInContext`; the run pauses for it (02 s.13).
        timeout: Seconds a call may take; past them the model reads that it took too long (AGT-116).
        rules: What you know about its calls.

    Raises:
        ToolDefinitionError: The function can't be offered to a model; names the parameter and what to do.

    Example:
        >>> @tool
        ... async def lookup_order(order_id: str) -> dict[str, str]:
        ...     '''Find one order by its number.'''
        ...     return {"id": order_id}
        >>> lookup_order.input_schema["required"]
        ['order_id']
    """

    def make(function: object, names: Mapping[str, object]) -> Tool[..., Any]:
        if not callable(function) or isinstance(function, Tool):
            raise ToolDefinitionError(
                "tool",
                f"@tool stands over a {type(cast('object', function)).__name__}.",
                fix="Put it over a function: @tool, or @tool(name=...).",
            )
        return tool_from_function(
            function,
            names=names,
            name=name,
            description=description,
            capabilities=capabilities,
            check_in=check_in,
            timeout=timeout,
            rules=rules,
        )

    def decorate(function: Callable[..., Any]) -> Tool[..., Any]:
        return make(function, _names_around(inspect.currentframe()))

    return decorate if fn is None else make(fn, _names_around(inspect.currentframe()))


def _names_around(frame: Any) -> Mapping[str, object]:  # noqa: ANN401  a frame, or None where there are none
    """The local names where a tool is defined, so that hints in quotes may name a type of that function."""
    caller = None if frame is None else frame.f_back
    return {} if caller is None else dict(caller.f_locals)


def _is_async(call: Callable[..., object]) -> bool:
    """A wrapper is what it is itself: a plain function round an async one blocks, or gives what is then awaited."""
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__)


def _check_text(tool_name: object, text: object, what: str, fix: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise ToolDefinitionError(str(tool_name), f"The tool {tool_name!r} has no {what}.", fix=fix)


def _check_timeout(tool_name: str, timeout: float | None) -> None:
    if timeout is not None and (isinstance(timeout, bool) or not math.isfinite(timeout) or timeout <= 0):
        raise ToolDefinitionError(
            tool_name,
            f"The tool {tool_name!r} has a timeout of {timeout!r}.",
            fix="Give seconds, more than 0, or leave it out.",
        )


def _checked_capabilities(tool_name: str, given: object) -> tuple[Capability, ...]:
    fix = f"Give a list of some of: {', '.join(_CAPABILITIES)}."
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ToolDefinitionError(
            tool_name, f"The capabilities of the tool {tool_name!r} are a {type(given).__name__}.", fix=fix
        )
    found = tuple(cast("Iterable[Capability]", given))
    unknown = next((each for each in found if each not in _CAPABILITIES), None)
    if unknown is not None:
        raise ToolDefinitionError(tool_name, f"The tool {tool_name!r} has the capability {unknown!r}.", fix=fix)
    return tuple(dict.fromkeys(found))


def _check_consent(tool_name: str, check_in: object, rules: ToolRules | None) -> None:
    if check_in is not None and check_in != "always" and not callable(check_in):
        raise ToolDefinitionError(
            tool_name,
            f"The tool {tool_name!r} has the check_in {check_in!r}.",
            fix='Use "always", or a function of its arguments and a CheckInContext.',
        )
    if check_in is None and rules is not None and rules.component is not None:
        raise ToolDefinitionError(
            tool_name,
            f"The tool {tool_name!r} nominates a component for an approval that it never asks for.",
            fix='Add check_in="always" or a predicate, or leave ToolRules(component=) out.',
        )


def _checked_schema(tool_name: str, schema: object) -> FrozenDict:
    fix = 'Give JSON Schema of an object: {"type": "object", "properties": {...}}.'
    if not isinstance(schema, Mapping):
        raise ToolDefinitionError(
            tool_name, f"The input_schema of the tool {tool_name!r} is a {type(schema).__name__}.", fix=fix
        )
    try:
        frozen = cast("FrozenDict", freeze(cast("JsonObject", schema)))
    except ValueRefusedError as refused:
        raise ToolDefinitionError(
            tool_name, f"The input_schema of the tool {tool_name!r} is no JSON: {refused.problem}", fix=fix
        ) from refused
    if frozen.get("type", "object") != "object":
        raise ToolDefinitionError(
            tool_name, f"The input_schema of the tool {tool_name!r} has the type {frozen['type']!r}.", fix=fix
        )
    return frozen if len(frozen) else FrozenDict({"type": "object", "properties": FrozenDict({})})
