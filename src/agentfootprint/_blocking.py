"""How a blocking twin is made from an async method, so that the two can't drift apart (DEC-25)."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from agentfootprint.errors import BlockingCallError

__all__ = ["blocking", "blocking_function"]

P = ParamSpec("P")
S = TypeVar("S")
R = TypeVar("R")


def _refuse_inside_a_loop(name: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise BlockingCallError(
        f"{name}_sync was called inside a running event loop, which it would block.",
        fix=f"Await {name} instead.",
    )


def blocking(method: Callable[Concatenate[S, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[S, P], R]:
    """Make the blocking twin of an async method.

    Args:
        method: The async method; its signature is kept.

    Returns:
        A method that runs `method` in a loop of its own, and raises `BlockingCallError` inside a running one.
    """

    @functools.wraps(method)
    def twin(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        _refuse_inside_a_loop(method.__qualname__)
        return asyncio.run(method(self, *args, **kwargs))

    return twin


def blocking_function(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """Make the blocking twin of an async function, as `blocking` does for a method."""

    @functools.wraps(function)
    def twin(*args: P.args, **kwargs: P.kwargs) -> R:
        _refuse_inside_a_loop(function.__qualname__)
        return asyncio.run(function(*args, **kwargs))

    return twin
