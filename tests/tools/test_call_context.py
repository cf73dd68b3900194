"""Tests of agentfootprint.tools.call_context."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from agentfootprint.identity import Identity
from agentfootprint.tools import CallContext, DispatchedCalls, Teardown, TeardownScopeError, ToolContext, ToolRun
from agentfootprint.trace import FrozenDict, ValueRefusedError, freeze


class Watcher:
    """A run that keeps what it is told."""

    def __init__(self, **facts: Any) -> None:
        self.run = ToolRun(**facts)
        self.seen: list[Any] = []
        self.run.on_progress = lambda tool, call, iteration, payload: self.seen.append((tool, call, iteration, payload))
        self.run.on_emit = lambda name, payload: self.seen.append((name, payload))

    def context(self, call: str = "c1", **args: Any) -> CallContext:
        return CallContext(self.run, tool_name="lookup", tool_call_id=call, iteration=2, args=freeze(args))


def test_a_context_tells_what_the_run_knows() -> None:
    who = Identity(conversation_id="t-1")
    watcher = Watcher(deps={"a": 1}, run_id="r1", session_id="s1", identity=who, deadline=12.5)

    ctx = watcher.context("c7")

    assert (ctx.deps, ctx.tool_call_id, ctx.iteration) == ({"a": 1}, "c7", 2)
    assert (ctx.run_id, ctx.session_id, ctx.identity, ctx.deadline) == ("r1", "s1", who, 12.5)


def test_what_nobody_supplied_is_absent() -> None:
    ctx = Watcher().context()

    assert (ctx.deps, ctx.run_id, ctx.session_id, ctx.identity, ctx.deadline) == (None, None, None, None, None)
    assert ctx.idempotency_key is None
    assert ctx.cancelled is False


def test_a_context_of_ones_own_is_enough_for_a_test() -> None:
    ctx = ToolContext({"a": 1})

    ctx.progress({"message": "nobody sees it"})
    ctx.emit("app.thing", {})

    assert ctx.deps == {"a": 1}
    assert (ctx.tool_call_id, ctx.iteration, ctx.run_id, ctx.cancelled) == ("", 1, None, False)
    assert (ctx.idempotency_key, ctx.identity, ctx.session_id, ctx.deadline) == (None, None, None, None)
    with pytest.raises(TeardownScopeError, match=r"no teardown scope 'run'"):
        ctx.on_teardown(print)


def test_equal_calls_have_keys_of_their_own_that_outlive_the_run() -> None:
    first = Watcher(run_id="r1")
    keys = [first.context(usd=1).idempotency_key, first.context(usd=1).idempotency_key]

    calls = DispatchedCalls()
    calls.add("lookup", freeze({"usd": 1}))
    resumed = Watcher(run_id="r2", origin_run_id="r1", calls=calls)

    assert resumed.context(usd=1).idempotency_key == keys[1]
    assert keys[0] != keys[1]
    assert Watcher(run_id="r2").context(usd=1).idempotency_key not in keys


def test_progress_is_told_with_the_call_it_belongs_to() -> None:
    watcher = Watcher()

    watcher.context("c1").progress({"done": 1})
    watcher.context("c2").progress({"done": 2})

    assert watcher.seen == [("lookup", "c1", 2, freeze({"done": 1})), ("lookup", "c2", 2, freeze({"done": 2}))]


def test_progress_after_the_call_is_dropped() -> None:
    watcher = Watcher()
    ctx = watcher.context()

    ctx.leave()
    ctx.progress({"done": 1})
    ctx.emit("app.thing", {})

    assert watcher.seen == []
    assert ctx.cancelled is True


def test_progress_that_cannot_be_recorded_is_dropped_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    watcher = Watcher()
    ctx = watcher.context()

    ctx.progress({"rows": {1, 2}})
    ctx.progress({"SECRET"})
    ctx.progress("half way")
    ctx.progress({"done": 1})

    assert [payload for *_, payload in watcher.seen] == ["half way", freeze({"done": 1})]
    assert [record.getMessage() for record in caplog.records] == [
        "Progress of the tool 'lookup' was dropped: A value of type set can't be recorded (at rows)."
    ]


def test_a_watcher_that_fails_never_reaches_the_tool(caplog: pytest.LogCaptureFixture) -> None:
    watcher = Watcher()

    def fail(tool: str, call: str, iteration: int, payload: FrozenDict) -> None:
        raise OSError("SECRET")

    watcher.run.on_progress = fail
    ctx = watcher.context()
    ctx.progress({})
    ctx.progress({})

    assert [record.getMessage() for record in caplog.records] == ["Progress of the tool 'lookup' was dropped: OSError"]


def test_an_event_that_cannot_be_recorded_raises() -> None:
    ctx = Watcher().context()

    with pytest.raises(ValueRefusedError, match=r"at rows"):
        ctx.emit("app.thing", {"rows": {1, 2}})


async def test_a_worker_threads_reports_arrive_in_order_before_the_call_ends() -> None:
    watcher = Watcher()
    ctx = watcher.context()
    ctx.enter(None)

    def work() -> None:
        for i in range(50):
            ctx.progress({"i": i})
        ctx.emit("app.done", {"i": 50})

    await asyncio.to_thread(work)

    assert [report[-1]["i"] for report in watcher.seen] == list(range(51))


def test_a_thread_left_behind_may_talk_to_a_closed_loop() -> None:
    watcher = Watcher()
    ctx = watcher.context()

    async def enter() -> None:
        ctx.enter(None)

    def main() -> None:
        ctx.progress({"late": True})
        ctx.emit("app.late", {})

    asyncio.run(enter())
    asyncio.run(asyncio.to_thread(main))

    assert watcher.seen == []


async def test_the_earliest_deadline_wins() -> None:
    now = time.monotonic()
    late, early = Watcher(deadline=now + 1000).context(), Watcher(deadline=now - 1).context()

    late.enter(5)
    early.enter(5)

    assert late.deadline is not None
    assert late.deadline < now + 1000
    assert early.deadline == now - 1


def test_a_call_is_cancelled_with_its_run() -> None:
    watcher = Watcher()
    ctx = watcher.context()

    watcher.run.cancelled = True

    assert ctx.cancelled is True


async def test_cleanups_go_to_the_scope_that_was_named() -> None:
    done: list[str] = []
    teardown = Teardown()
    ctx = Watcher(teardown=teardown).context()

    ctx.on_teardown(lambda: done.append("run"))
    ctx.on_teardown(lambda: done.append("call"), scope="call")
    ctx.on_teardown(lambda: done.append("the run again"))
    ctx.on_teardown(lambda: done.append("another key"), key="file")
    of_call = ctx.leave()
    assert of_call is not None
    await of_call.close()
    after_call = list(done)
    await teardown.close()

    assert ctx.teardown_scopes == ("call", "run")
    assert after_call == ["call"]
    assert sorted(done) == ["another key", "call", "run"]


async def test_a_scope_that_is_not_there_or_over_is_refused() -> None:
    teardown = Teardown()
    without_end, ended = Watcher().context(), Watcher(teardown=teardown).context()
    await teardown.close()
    ended.leave()

    with pytest.raises(TeardownScopeError, match=r"Use one of: 'call'\."):
        without_end.on_teardown(print)
    for scope in ("call", "run"):
        with pytest.raises(TeardownScopeError, match=rf"no teardown scope '{scope}'.*before the tool returns"):
            ended.on_teardown(print, scope=scope)
