"""How may a decorator of a chart be written? With options, or bare where it needs none.

The classes of options say to a checker what the methods of `Chart` spell out; they are the fields of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypedDict, TypeVar

from agentfootprint.flow.errors import ChartBuildError
from agentfootprint.flow.retry import RetryPolicy

__all__ = [
    "ForEachOptions",
    "LineOptions",
    "SelectorOptions",
    "StageOptions",
    "StartOptions",
    "StreamingOptions",
    "applied",
    "never_bare",
]

F = TypeVar("F", bound=Callable[..., Any])
S = TypeVar("S")
R = TypeVar("R")
P = ParamSpec("P")


class NamedOptions(TypedDict, total=False):
    """What every decorator takes."""

    id: str | None
    name: str | None
    description: str | None
    icon: str | None
    retry: RetryPolicy | None


class LineOptions(NamedOptions, total=False):
    """What `Chart.pausable` and `Chart.decider` take."""

    after: str | None


class StartOptions(NamedOptions, total=False):
    """What `Chart.start` takes."""

    thread: bool


class StageOptions(LineOptions, total=False):
    """What `Chart.stage` takes."""

    thread: bool


class StreamingOptions(LineOptions, total=False):
    """What `Chart.streaming` takes."""

    stream: str


class SelectorOptions(LineOptions, total=False):
    """What `Chart.selector` takes."""

    fail_fast: bool
    max_concurrency: int | None
    timeout: float | None


class ForEachOptions(TypedDict, total=False):
    """What `Chart.for_each` takes beside what it must be given; the fields of `ForEach`."""

    id: str | None
    name: str | None
    description: str | None
    icon: str | None
    errors_into: str | None
    fail_fast: bool
    max_concurrency: int | None
    timeout: float | None


def applied(decorator: Callable[[F], R], function: F | None, written: str) -> R | Callable[[F], R]:
    """What a decorator gives: itself when it was written with parentheses, else what it makes of the function.

    Args:
        decorator: Takes the function.
        function: What it was put on, when it was written bare.
        written: How the decorator is written, for the message.

    Raises:
        ChartBuildError: It was given something else than a function.
    """
    if function is None:
        return decorator
    if not callable(function):
        raise ChartBuildError(
            f"`@{written}` was given a {type(function).__name__} where its function belongs.",
            fix=f"Give options by name, as in `@{written}(id='check')`.",
        )
    return decorator(function)


def never_bare(
    written: str, missing: str
) -> Callable[[Callable[Concatenate[S, P], R]], Callable[Concatenate[S, P], R]]:
    """Refuse that a method which needs more than a function is put on one without parentheses.

    Args:
        written: How it should have been written.
        missing: What it must be given.
    """

    def refuse(method: str, args: Sequence[object], options: Mapping[str, object]) -> None:
        if len(args) == 1 and callable(args[0]) and not options:
            shown = getattr(args[0], "__name__", type(args[0]).__name__)
            raise ChartBuildError(
                f"`{method}` was given nothing but the function {shown!r}; it needs {missing}.",
                fix=f"Write `{written}`.",
            )

    def marked(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
        @wraps(method)
        def checked(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            refuse(method.__name__, args, kwargs)
            return method(self, *args, **kwargs)

        return checked

    return marked
