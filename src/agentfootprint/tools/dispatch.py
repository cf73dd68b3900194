"""How is one call of a tool checked and run?

Running never raises for what a tool does: an exception of its own is a result (AGT-68), and so is a cancellation that
nobody asked for. What else is no `Exception` (the run's cancellation, a pause, an exit) passes through untouched
(AGT-69). Nothing of a call is kept on the tool.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from agentfootprint.events import ArgIssue
from agentfootprint.tools.arguments import refused_args_text, validate_args
from agentfootprint.tools.asking import asked_in
from agentfootprint.tools.call_context import CallContext
from agentfootprint.tools.convert import bind, bind_scalars
from agentfootprint.tools.declare import Tool
from agentfootprint.tools.errors import ToolTimeoutError
from agentfootprint.tools.results import Executed, read_failure, read_result
from agentfootprint.trace import FrozenDict, thaw

__all__ = ["CheckedArgs", "check_args", "execute_tool"]


class CheckedArgs(msgspec.Struct, frozen=True):
    """Arguments as they were checked, and as the function gets them; good for one run of the tool."""

    issues: tuple[ArgIssue, ...]
    """What does not fit; empty when all does."""
    kwargs: dict[str, Any]
    """Keyword arguments; where something does not fit, the plain JSON of it."""


def check_args(tool: Tool[..., Any], args: FrozenDict) -> CheckedArgs:
    """Check the arguments of a call against the tool's schema and types (03 s.3), and convert them.

    Args:
        tool: The tool.
        args: The arguments, after every rule that may change them.

    Returns:
        The issues and the converted arguments. Whether an issue stops the call is for the caller to decide.
    """
    binding = tool.binding
    if binding.only_scalars and binding.parameters is not None:
        kwargs = bind_scalars(binding.parameters, args)
        if kwargs is not None:
            return CheckedArgs((), kwargs)
    issues = validate_args(args, tool.input_schema)
    kwargs, unconverted = _bind(tool, args)
    return CheckedArgs(issues or unconverted, kwargs)


async def execute_tool(  # noqa: C901, PLR0912  the hot path: no call more than it needs
    tool: Tool[..., Any], args: FrozenDict, ctx: CallContext, *, checked: CheckedArgs | None = None
) -> Executed:
    """Run a tool: an async function here, a plain one in a worker thread, with the context variables of the call.

    Args:
        tool: The tool.
        args: The arguments; also those of the record.
        ctx: The context of this call. It is closed when this returns; its `call` cleanups run then, but for a pause.
        checked: What `check_args` made of `args`; the tool then runs with it, issues or not. Without it the schema is
            not looked at, and arguments that can't become what the function's hints say are the result (VAL-7).

    Returns:
        What came of it. Whatever the tool does, it does not raise.
    """
    binding = tool.binding
    if checked is None:
        kwargs, issues = _bind(tool, args)
        if issues:
            ctx.leave()
            text = refused_args_text(tool.name, issues)
            return Executed(text, text, is_error=True)
    else:
        kwargs = checked.kwargs
    if binding.injected is not None:
        ctx.enter(tool.timeout)
        kwargs[binding.injected] = ctx
    try:
        if tool.timeout is None and binding.is_async:
            returned = cast("object", await tool.execute(**kwargs))
        elif tool.timeout is None:
            returned = await _call(tool.execute, kwargs, is_async=binding.is_async)
        else:
            returned = await _call_within(tool, kwargs, tool.timeout)
        outcome = read_failure(returned.failure) if type(returned) is _Raised else read_result(tool.name, returned)
    except Exception as failure:  # noqa: BLE001  the tool's own code, which may raise anything
        outcome = read_failure(failure)
    except asyncio.CancelledError as stopped:
        if _is_cancelled():
            await _clean_up(ctx)
            raise
        outcome = read_failure(stopped)
    except BaseException as left:  # a pause: what it opened stays open for the answer
        opened, asked = ctx.leave(), asked_in(left)
        if asked is not None:
            asked.teardown = opened
        raise
    teardown = ctx.leave()
    if teardown is not None:
        await teardown.close()
    return outcome


def _bind(tool: Tool[..., Any], args: FrozenDict) -> tuple[dict[str, Any], tuple[ArgIssue, ...]]:
    parameters = tool.binding.parameters
    return (thaw(args), ()) if parameters is None else bind(parameters, args)


async def _clean_up(ctx: CallContext) -> None:
    teardown = ctx.leave()
    if teardown is not None:
        await teardown.close()


async def _call_within(tool: Tool[..., Any], kwargs: dict[str, Any], seconds: float) -> object:
    bound = asyncio.timeout(seconds)
    try:
        async with bound:
            return await _call(tool.execute, kwargs, is_async=tool.binding.is_async)
    except TimeoutError as late:
        if bound.expired():
            raise ToolTimeoutError(tool.name, seconds) from late
        raise  # the tool's own


def _is_cancelled() -> bool:
    """Whether this run is being stopped: what a tool awaited may be cancelled, or raise it, without that."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


class _Raised(msgspec.Struct, frozen=True):
    """An exception out of a worker thread: neither a future nor a coroutine lets a StopIteration through.

    Of a thread, a cancellation can only be the tool's own.
    """

    failure: BaseException


async def _call(execute: Callable[..., Any], kwargs: Mapping[str, Any], *, is_async: bool) -> object:
    if is_async:
        return await execute(**kwargs)
    returned = await asyncio.to_thread(_in_thread, execute, kwargs)
    return cast("object", await returned) if inspect.isawaitable(returned) else returned


def _in_thread(execute: Callable[..., Any], kwargs: Mapping[str, Any]) -> object:
    try:
        return execute(**kwargs)
    except (Exception, asyncio.CancelledError) as failure:  # noqa: BLE001  the tool's own code
        return _Raised(failure)
