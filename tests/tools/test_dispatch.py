"""Tests of agentfootprint.tools.dispatch."""

from __future__ import annotations

import asyncio
import contextvars
import datetime as dt
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agentfootprint.tools import (
    NO_VALUE,
    CallContext,
    Executed,
    Tool,
    ToolContext,
    ToolRun,
    ToolTimeoutError,
    check_args,
    execute_tool,
    tool,
)
from agentfootprint.trace import FrozenDict, freeze

ANY = {"type": "object"}


def context(made: Tool[..., Any], args: FrozenDict, run: ToolRun | None = None) -> CallContext:
    return CallContext(run or ToolRun(), tool_name=made.name, tool_call_id="c1", iteration=1, args=args)


async def run_tool(made: Tool[..., Any], /, *, run: ToolRun | None = None, **args: Any) -> Executed:
    frozen = freeze(args)
    return await execute_tool(made, frozen, context(made, frozen, run), checked=check_args(made, frozen))


def raw(execute: Callable[..., Any], **options: Any) -> Tool[..., Any]:
    return Tool(execute, name="raw", description="A tool.", input_schema=ANY, **options)


async def test_an_async_tool_runs_on_the_loop_and_a_plain_one_in_a_thread() -> None:
    where: list[int] = []

    @tool
    async def here() -> None:
        """Look."""
        where.append(threading.get_ident())

    @tool
    def there() -> None:
        """Look."""
        where.append(threading.get_ident())

    outcomes = [await run_tool(here), await run_tool(there)]

    assert [outcome.value for outcome in outcomes] == [NO_VALUE, NO_VALUE]
    assert where[0] == threading.get_ident()
    assert where[1] != where[0]


async def test_a_worker_thread_sees_the_context_variables_of_the_call() -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("of the call")

    outcome = await run_tool(raw(variable.get))

    assert outcome.text == "of the call"


async def test_the_context_is_injected_and_cannot_be_named_by_the_model() -> None:
    def plain(ctx: ToolContext, **rest: Any) -> list[str]:
        return [ctx.tool_call_id, *rest]

    outcome = await run_tool(raw(plain), ctx="forged", q=1)

    assert outcome.value == ["c1", "q"]


async def test_arguments_arrive_as_the_types_of_the_hints() -> None:
    @tool
    async def tomorrow(day: dt.date, note: str = "none") -> str:
        """The day after."""
        return f"{day + dt.timedelta(days=1)} {note}"

    outcome = await run_tool(tomorrow, day="2026-01-31")

    assert outcome.text == "2026-02-01 none"


def test_arguments_that_miss_schema_or_type_are_issues() -> None:
    @tool
    def pay(day: dt.date, usd: float) -> None:
        """Pay."""

    issues = [check_args(pay, freeze(args)).issues for args in ({"day": 3}, {"day": "soon", "usd": 1})]

    assert [[(issue.path, issue.expected) for issue in found] for found in issues] == [
        [("usd", "required"), ("day", "string")],
        [("day", "date")],
    ]


@pytest.mark.parametrize("args", [{"n": 1}, {"n": 1.0}, {"n": "1"}, {}, {"n": 1, "x": 1}, {"n": True}])
def test_the_quick_check_of_scalars_agrees_with_the_schema(args: dict[str, Any]) -> None:
    def count(n: int) -> None:
        """Count."""

    made = tool(count)
    by_schema = check_args(Tool(count, name="n", description="d", input_schema=made.input_schema), freeze(args)).issues

    assert check_args(made, freeze(args)).issues == by_schema


async def test_a_tool_runs_in_spite_of_issues_when_the_caller_says_so() -> None:
    @tool
    async def shout(text: str) -> str:
        """Shout."""
        return f"{text}!"

    outcome = await run_tool(shout, text=3, extra=1)

    assert outcome.text == "3!"


async def test_unchecked_arguments_that_cannot_be_converted_are_the_result() -> None:
    ran: list[dt.date] = []

    @tool
    def pay(day: dt.date) -> None:
        """Pay."""
        ran.append(day)

    args = freeze({"day": "SECRET"})
    outcome = await execute_tool(pay, args, context(pay, args))

    assert ran == []
    assert outcome.is_error
    assert "- day: expected date, got string" in outcome.text
    assert "SECRET" not in outcome.text


class Ended(Exception):  # noqa: N818
    pass


@pytest.mark.parametrize("failure", [Ended("it broke"), StopIteration("it broke"), TimeoutError("it broke")])
async def test_what_a_tool_raises_is_a_result(failure: Exception) -> None:
    def plain() -> None:
        raise failure

    outcome = await run_tool(raw(plain))

    assert (outcome.text, outcome.is_error, outcome.exception) == ("it broke", True, failure)


async def test_what_an_async_tool_raises_is_a_result() -> None:
    async def broken() -> None:
        raise Ended("it broke")

    outcome = await run_tool(raw(broken))

    assert (outcome.text, outcome.is_error) == ("it broke", True)


async def test_a_call_that_does_not_fit_the_function_is_a_result() -> None:
    async def narrow(q: str) -> str:
        return q

    outcome = await run_tool(raw(narrow), z=1)

    assert outcome.is_error
    assert isinstance(outcome.exception, TypeError)


class Pause(BaseException):
    pass


@pytest.mark.parametrize("in_thread", [True, False])
async def test_what_is_no_exception_passes_and_keeps_the_calls_cleanups(*, in_thread: bool) -> None:
    cleaned: list[str] = []

    def plain(ctx: ToolContext) -> None:
        ctx.on_teardown(lambda: cleaned.append("call"), scope="call")
        raise Pause

    async def on_the_loop(ctx: ToolContext) -> None:
        plain(ctx)

    with pytest.raises(Pause):
        await run_tool(raw(plain if in_thread else on_the_loop))

    assert cleaned == []


async def test_a_plain_function_may_give_an_awaitable() -> None:
    async def later() -> str:
        return "later"

    def soon() -> Awaitable[str]:
        return later()

    outcome = await run_tool(raw(soon))

    assert outcome.text == "later"


@pytest.mark.parametrize("fails", [True, False])
async def test_the_cleanups_of_a_call_run_when_it_ends(*, fails: bool) -> None:
    cleaned: list[str] = []

    async def work(ctx: ToolContext) -> str:
        ctx.on_teardown(lambda: cleaned.append("call"), scope="call")
        if fails:
            raise Ended("it broke")
        return "done"

    outcome = await run_tool(raw(work))

    assert (outcome.is_error, cleaned) == (fails, ["call"])


async def test_a_tool_that_takes_too_long_is_a_result() -> None:
    seen: list[ToolContext] = []

    async def hang(ctx: ToolContext) -> None:
        seen.append(ctx)
        await asyncio.Event().wait()

    outcome = await run_tool(raw(hang, timeout=0.01))

    assert outcome.text == "The tool 'raw' did not finish within 0.01 seconds."
    assert isinstance(outcome.exception, ToolTimeoutError)
    assert seen[0].deadline is not None
    assert seen[0].cancelled


async def test_a_timeout_of_the_tools_own_is_its_own() -> None:
    async def inner() -> None:
        raise TimeoutError("the shop did not answer")

    outcome = await run_tool(raw(inner, timeout=60))

    assert outcome.text == "the shop did not answer"


async def test_a_plain_tool_whose_time_is_up_is_told() -> None:
    told = threading.Event()

    def work(ctx: ToolContext) -> None:
        while not ctx.cancelled:
            told.wait(0.001)
        told.set()

    outcome = await run_tool(raw(work, timeout=0.01))

    assert outcome.is_error
    assert await asyncio.to_thread(told.wait, 5)


async def test_cancelling_passes_through_and_cleans_up() -> None:
    cleaned: list[str] = []
    begun = asyncio.Event()

    async def hang(ctx: ToolContext) -> None:
        ctx.on_teardown(lambda: cleaned.append("call"), scope="call")
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(run_tool(raw(hang)))
    await begun.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == ["call"]


@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_cancellation_that_nobody_asked_for_is_a_result(*, in_thread: bool) -> None:
    cleaned: list[str] = []

    def work(ctx: ToolContext) -> None:
        ctx.on_teardown(lambda: cleaned.append("call"), scope="call")
        raise asyncio.CancelledError("the shop gave up")

    async def work_here(ctx: ToolContext) -> None:
        work(ctx)

    outcome = await run_tool(raw(work if in_thread else work_here))

    assert (outcome.is_error, cleaned) == (True, ["call"])
    assert outcome.text == "the shop gave up"


async def test_what_a_tool_awaits_may_be_cancelled_without_the_run() -> None:
    async def wait() -> None:
        asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asked.cancel()
        await asked

    outcome = await run_tool(raw(wait, timeout=60))

    assert (outcome.is_error, outcome.text) == (True, "CancelledError")


async def test_many_calls_of_one_tool_keep_apart() -> None:
    together = asyncio.Barrier(20)

    @tool
    async def who(name: str, ctx: ToolContext[str]) -> str:
        """Say who."""
        await together.wait()
        return f"{name} {ctx.deps} {ctx.run_id}"

    runs = [ToolRun(deps=f"deps-{i}", run_id=f"run-{i}") for i in range(20)]
    outcomes = await asyncio.gather(*(run_tool(who, run=run, name=f"n{i}") for i, run in enumerate(runs)))

    assert [outcome.text for outcome in outcomes] == [f"n{i} deps-{i} run-{i}" for i in range(20)]


async def test_the_record_is_out_of_a_tools_reach() -> None:
    @tool
    async def change(rows: list[int]) -> list[int]:
        """Change what came."""
        rows.append(9)
        return rows

    args = freeze({"rows": [1]})
    outcome = await execute_tool(change, args, context(change, args), checked=check_args(change, args))

    assert args == {"rows": [1]}
    assert outcome.value == [1, 9]
