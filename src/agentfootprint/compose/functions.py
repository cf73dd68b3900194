"""How does a plain function become a runner?"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import TypeVar

from agentfootprint.agent import InvalidRunInputError, read_message
from agentfootprint.compose.composed import Composed
from agentfootprint.compose.plan import made_plan
from agentfootprint.errors import ConfigError
from agentfootprint.flow import Chart, Handle, Stage

if TYPE_CHECKING:
    from agentfootprint.compose.scope import Scope

__all__ = ["FunctionRunner", "runner"]

In = TypeVar("In")
T = TypeVar("T", default=str)


async def _work(h: Handle) -> Any:  # noqa: ANN401  what the function gives
    scope: Scope = h.scope
    function = cast("FunctionRunner[Any]", scope.composed).function
    h.args  # noqa: B018  what it gives depends on what it was asked
    if inspect.iscoroutinefunction(function):
        value = await function(scope.given)
    else:
        value = await asyncio.to_thread(function, scope.given)
        if inspect.isawaitable(value):
            value = await value
    scope.value = value
    h["result"] = value
    return value


class FunctionRunner(Composed[T]):
    """A function that runs as an agent does: recorded, explained, a part of compositions; made by `@runner`."""

    def __init__(self, function: Callable[[Any], T | Awaitable[T]]) -> None:
        named = getattr(function, "__name__", "")
        if not callable(function) or isinstance(function, type):
            raise ConfigError(
                "runner", f"@runner was given a {type(function).__name__}.", fix="Decorate a function of one argument."
            )
        try:
            inspect.signature(function).bind("")
        except TypeError as misfit:
            raise ConfigError(
                "runner",
                f"The function {named!r} can't be called with one argument.",
                fix="Let it take the message alone.",
            ) from misfit
        except ValueError:
            pass  # a builtin that does not tell
        self.function = function
        own_id = named.replace("_", "-").strip("-<>") or "function"
        doc = (inspect.getdoc(function) or "").partition("\n")[0]
        work = Stage(_work, id="work", name=named or "work", description=doc or None, raw=True)
        flow = Chart.of(named or "function", work).build()
        super().__init__(made_plan("Function", own_id, named or "function", None, flow, ()))
        self.__doc__ = getattr(function, "__doc__", None)

    @property
    def door(self) -> str:
        """The function, called as a runner."""
        return f"{self.name}.run"

    def checked(self, message: object) -> Any:  # noqa: ANN401  what the function takes
        """A text that is not empty, or any other value that the function may take.

        Raises:
            InvalidRunInputError: It is nothing, or an empty text.
        """
        fields = cast("Mapping[str, Any]", message) if isinstance(message, Mapping) else None
        given = cast("Any", message)
        if isinstance(message, str) or (fields is not None and set(fields) == {"message"}):
            return read_message(self.door, given)
        if message is None:
            raise InvalidRunInputError(self.door, "null")
        return given


def runner(fn: Callable[[In], T | Awaitable[T]]) -> FunctionRunner[T]:
    """Make a runner of a plain function, async or not; one that is not runs in a worker thread.

    Args:
        fn: Takes the message; gives a value of JSON, or in a composition a text.

    Raises:
        ConfigError: It is no function of one argument.

    Example:
        >>> @runner
        ... async def shout(message: str) -> str:
        ...     return message.upper()
        >>> shout.run_sync("hello").output
        'HELLO'
    """
    return FunctionRunner(fn)
