"""How a node calls the function that somebody wrote for it.

Looked at once, when the chart is built: how many arguments it takes, whether it is a generator of tokens, whether it
may suspend. Running a stage asks none of this.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from agentfootprint.flow.errors import ChartBuildError, StateValueError
from agentfootprint.flow.stage.context import StageContext
from agentfootprint.flow.stage.current import CURRENT
from agentfootprint.flow.stage.handle import Handle
from agentfootprint.flow.stage.state import State
from agentfootprint.flow.stage.traced import TracedHandle
from agentfootprint.trace import Value

__all__ = ["derived_id", "first_line", "is_generator", "is_plain", "resume_call", "stage_call", "titled"]

Call: TypeAlias = Callable[..., Any]


def stage_call(function: Call, state: type[State], *, raw: bool, stage: str, thread: bool = False) -> Call:
    """What runs `function` on a handle.

    Args:
        function: `f(handle)` when `raw`, else `f(state)` or `f(state, ctx)`; an async generator of texts streams.
        state: The type the stage sees the state through.
        raw: Whether it gets the bare handle.
        stage: Id of its stage, for the refusal.
        thread: Whether it runs in a worker thread.

    Raises:
        ChartBuildError: It takes no argument, or more than there are; or it is to run in a thread and is no plain one.
    """
    count = _positional(function, stage, 1 if raw else 2, "f(handle)" if raw else "f(state) or f(state, ctx)")
    call = function if raw else _typed(function, state, with_context=count > 1)
    if thread:
        if not is_plain(function):
            raise ChartBuildError(
                f"The function of stage {stage!r} is no plain one, so it can't run in a thread.",
                fix="Leave out `thread`, or write it with `def` and block in it.",
                ids=(stage,),
            )
        return _threaded(call)
    return _streamed(call, stage) if is_generator(function) else call


def _typed(function: Call, state: type[State], *, with_context: bool) -> Call:

    def alone(handle: TracedHandle) -> Value:
        CURRENT.set(handle)
        return function(state(handle))

    def both(handle: TracedHandle) -> Value:
        CURRENT.set(handle)
        return function(state(handle), StageContext(handle))

    return both if with_context else alone


def resume_call(function: Call, state: type[State], *, raw: bool, stage: str) -> Call:
    """What runs the second half of a pausable stage on a handle and the answer.

    Raises:
        ChartBuildError: It takes fewer than two arguments, or more than three (two when `raw`).
    """
    shape = "f(handle, answer)" if raw else "f(state, answer) or f(state, answer, ctx)"
    count = _positional(function, stage, 2 if raw else 3, shape)
    if count == 1:
        raise _wrong_shape(stage, shape)
    if raw:
        return function

    def alone(handle: TracedHandle, answer: Value) -> Value:
        CURRENT.set(handle)
        return function(state(handle), answer)

    def with_context(handle: TracedHandle, answer: Value) -> Value:
        CURRENT.set(handle)
        return function(state(handle), answer, StageContext(handle))

    return with_context if count > 2 else alone  # noqa: PLR2004  state, answer, ctx


def is_plain(function: Call) -> bool:
    """Whether a function is known not to suspend: no coroutine function and no async generator."""
    inner = _unwrapped(function)
    return not (inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner))


def is_generator(function: Call) -> bool:
    """Whether a function is an async generator: then it streams the texts it yields (FLOW-PY-10)."""
    return inspect.isasyncgenfunction(_unwrapped(function))


def _unwrapped(function: Call) -> Call:
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    if not inspect.isroutine(function) and not isinstance(function, type):
        return getattr(function, "__call__", function)  # noqa: B004  an object with an async __call__ is a function too
    return function


def _positional(function: Call, stage: str, most: int, shape: str) -> int:
    if not callable(function):
        raise _wrong_shape(stage, shape)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature: call it with the state
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        return most
    takes = [parameter for parameter in parameters if parameter.kind in kinds]
    needs = [parameter for parameter in takes if parameter.default is inspect.Parameter.empty]
    demands = any(
        parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.default is inspect.Parameter.empty
        for parameter in parameters
    )
    if not takes or len(needs) > most or demands:
        raise _wrong_shape(stage, shape)
    return max(1, min(len(needs), most))


def _wrong_shape(stage: str, shape: str) -> ChartBuildError:
    return ChartBuildError(
        f"The function of stage {stage!r} can't be called with what a stage gets.",
        fix=f"Write it as {shape}.",
        ids=(stage,),
    )


def _streamed(call: Call, stage: str) -> Call:
    async def run(handle: TracedHandle) -> str:
        context = StageContext(handle)
        texts: list[str] = []
        async with contextlib.aclosing(call(handle)) as pieces:  # so that a cancelled stage ends its generator too
            async for text in pieces:
                if not isinstance(text, str):
                    raise StateValueError("token", stage, f"a {type(text).__name__} is no text to stream.")
                texts.append(text)
                context.token(text)
        return "".join(texts)

    return run


def _threaded(call: Call) -> Call:
    async def run(handle: Handle) -> Value:
        if isinstance(handle, TracedHandle):
            handle.pin()  # here, where branches beside it commit: from the thread that could fall into a commit
        value = await asyncio.to_thread(call, handle)
        return await value if hasattr(cast("type[object]", type(value)), "__await__") else value

    return run


def derived_id(function: Call) -> str:
    """The id of a stage that has none: its function's name with dashes (FLOW-PY-2)."""
    name = getattr(_unwrapped(function), "__name__", type(function).__name__)
    return name.strip("_").replace("_", "-")


def titled(id: str) -> str:
    """The display name of a stage that has none."""
    return " ".join(word.capitalize() for word in re.split(r"[-_\s]+", id) if word) or id


def first_line(function: Call) -> str | None:
    """The first line of a function's own docstring."""
    text = inspect.getdoc(function) if inspect.isroutine(function) else None
    return text.strip().splitlines()[0].strip() if text and text.strip() else None
