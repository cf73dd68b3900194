"""Tests of agentfootprint.agent.running.abreast."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint import (
    Agent,
    ConfigError,
    Gates,
    Limits,
    Mock,
    PauseCheckpoint,
    PolicyHaltError,
    RunResult,
    ToolCall,
    ToolContext,
    approve,
    ask_human,
    tool,
)
from agentfootprint.events import ToolEnd, ToolProgress, ToolStart
from agentfootprint.llm import LLMResponse
from agentfootprint.security import PermissionDecision, PermissionRequest
from agentfootprint.tools import ToolRules
from agentfootprint.trace import thaw

ALL = Limits(parallel_tools=True)


def reply(*calls: tuple[str, int], ids: Sequence[str] | None = None) -> LLMResponse:
    """A reply that asks for these tools, each with a number."""
    named = ids or [f"c{place}" for place in range(len(calls))]
    return LLMResponse(
        "", tool_calls=[ToolCall(id_, name, {"n": n}) for id_, (name, n) in zip(named, calls, strict=True)]
    )


def texts(result: RunResult[Any]) -> list[str]:
    """What the tools said, as the model reads it."""
    return [message.content for message in result.messages if message.role == "tool"]


class Bench:
    """Tools that say when they run, and how many of them at once."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self.log: list[str] = []
        self.turns: dict[int, int] = {}
        """How often a call gives way before it ends."""

    async def work(self, n: int) -> str:
        self.running += 1
        self.most = max(self.most, self.running)
        self.log.append(f"+{n}")
        for _ in range(self.turns.get(n, 3)):
            await asyncio.sleep(0)
        self.running -= 1
        self.log.append(f"-{n}")
        return f"did {n}"

    def tools(self) -> list[Any]:
        @tool
        async def work(n: int) -> str:
            """Work on a number. Use it always."""
            return await self.work(n)

        @tool
        async def fail(n: int) -> str:
            """Fail on a number. Use it always."""
            await self.work(n)
            raise ValueError(f"no {n}")

        @tool(rules=ToolRules(sequential=True))
        async def alone(n: int) -> str:
            """Work on a number alone. Use it always."""
            return await self.work(n)

        @tool(check_in="always")
        async def gated(n: int) -> str:
            """Work when approved. Use it always."""
            return await self.work(n)

        @tool
        async def ask(n: int) -> str:
            """Ask about a number. Use it always."""
            self.log.append(f"?{n}")
            for _ in range(self.turns.get(n, 0)):
                await asyncio.sleep(0)
            ask_human(f"{n}?")

        return [work, fail, alone, gated, ask]

    def agent(self, *script: Any, **options: Any) -> Agent[Any, str]:
        return Agent(Mock([*script, "Done."], cursor="history"), tools=self.tools(), **options)


async def test_calls_run_beside_each_other_only_when_that_is_wanted() -> None:
    most: list[int] = []
    for parallel in (False, True, 2, 1):
        bench = Bench()
        agent = bench.agent(reply(*[("work", n) for n in range(4)]), limits=Limits(parallel_tools=parallel))

        result = await agent.run("Go.")

        most.append(bench.most)
        assert texts(result) == ["did 0", "did 1", "did 2", "did 3"]

    assert most == [1, 4, 2, 1]


@pytest.mark.parametrize("wrong", [0, -1, "all", 1.5, None])
def test_a_number_of_calls_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match=r"limits\.parallel_tools"):
        Limits(parallel_tools=wrong)


def test_a_rule_that_is_neither_yes_nor_no_is_refused() -> None:
    with pytest.raises(ConfigError, match="sequential"):
        ToolRules(sequential="yes")  # pyright: ignore[reportArgumentType]


async def test_results_land_in_call_order_whatever_order_the_calls_end_in() -> None:
    bench = Bench()
    bench.turns = {0: 9, 1: 5, 2: 1}
    agent = bench.agent(reply(("work", 0), ("work", 1), ("work", 2)), limits=ALL)
    events: list[tuple[str, int | None]] = []
    agent.on(ToolStart.type, lambda event: events.append(("start", event.meta.tool_ordinal)))
    agent.on(ToolEnd.type, lambda event: events.append(("end", event.meta.tool_ordinal)))

    result = await agent.run("Go.")

    assert bench.log[-3:] == ["-2", "-1", "-0"]
    assert texts(result) == ["did 0", "did 1", "did 2"]
    assert events == [("start", 0), ("start", 1), ("start", 2), ("end", 0), ("end", 1), ("end", 2)]


async def test_a_tool_that_raises_cancels_no_sibling() -> None:
    bench = Bench()
    bench.turns = {0: 0, 1: 9}

    result = await bench.agent(reply(("fail", 0), ("work", 1)), limits=ALL).run("Go.")

    assert texts(result) == ["no 0", "did 1"]
    assert [call.ok for call in result.tool_calls] == [False, True]


async def test_a_sequential_tool_and_one_that_is_approved_are_barriers() -> None:
    bench = Bench()
    agent = bench.agent(reply(("work", 0), ("work", 1), ("alone", 2), ("work", 3), ("work", 4)), limits=ALL)

    await agent.run("Go.")

    assert bench.log == ["+0", "+1", "-0", "-1", "+2", "-2", "+3", "+4", "-3", "-4"]


async def test_what_stands_before_a_check_in_has_landed_when_the_person_is_asked() -> None:
    bench = Bench()
    agent = bench.agent(reply(("work", 0), ("work", 1), ("gated", 2), ("work", 3)), limits=ALL)

    paused = (await agent.run("Go.")).paused
    assert paused is not None
    asked_with = [message.content for message in paused.checkpoint.state["history"] if message.role == "tool"]
    result = await agent.resume(paused, approve(by="ann"))

    assert asked_with == ["did 0", "did 1"]
    assert bench.log[-2:] == ["+2", "-2"]
    assert texts(result)[:3] == ["did 0", "did 1", "did 2"]
    assert result.messages[-2].not_dispatched is not None


@pytest.mark.parametrize("through_json", [False, True])
async def test_siblings_of_a_call_that_asks_finish_and_stand_in_call_order_after_the_answer(through_json: bool) -> None:
    """The trap of 10.3: ids repeat, and a result behind the call that asked is there before its own."""
    bench = Bench()
    bench.turns = {0: 1, 1: 2, 2: 8}
    agent = bench.agent(reply(("work", 0), ("ask", 1), ("work", 2), ids=["x", "x", "x"]), limits=ALL, id="bench")

    paused = (await agent.run("Go.")).paused
    assert paused is not None
    checkpoint = PauseCheckpoint.from_json(paused.checkpoint.to_json()) if through_json else paused
    before = [message.content for message in paused.checkpoint.state["history"] if message.role == "tool"]
    result = await agent.resume(checkpoint, "yes")

    assert before == ["did 0", "did 2"]
    assert texts(result) == ["did 0", "yes", "did 2"]
    assert all(message.not_dispatched is None for message in result.messages)
    assert bench.log.count("+2") == 1
    assert "pausedBatch" not in result.recording.snapshot["sharedState"]


async def test_calls_that_had_not_begun_when_a_person_is_asked_are_settled() -> None:
    bench = Bench()
    agent = bench.agent(reply(("ask", 0), ("work", 1), ("work", 2)), limits=Limits(parallel_tools=1))
    heard: list[tuple[str, int | None, bool]] = []
    for kind in (ToolStart, ToolEnd):
        agent.on(
            kind.type,
            lambda event: heard.append(
                (event.type[-5:], event.meta.tool_ordinal, event.payload.not_dispatched is not None)
            ),
        )

    paused = (await agent.run("Go.")).paused
    assert paused is not None
    result = await agent.resume(paused, "yes")

    assert bench.log == ["?0"]
    assert [message.not_dispatched is not None for message in result.messages if message.role == "tool"] == [
        False,
        True,
        True,
    ]
    assert heard == [
        ("start", 0, False),
        ("start", 1, False),
        ("start", 2, False),
        ("l_end", 0, False),
        ("l_end", 1, True),
        ("l_end", 2, True),
    ]


async def test_one_person_is_asked_at_a_time() -> None:
    bench = Bench()
    bench.turns = {0: 6, 1: 2, 2: 4}
    agent = bench.agent(reply(("ask", 0), ("ask", 1), ("work", 2)), limits=ALL)

    paused = (await agent.run("Go.")).paused
    assert paused is not None
    result = await agent.resume(paused, "yes")

    assert paused.question == "0?"  # the first in call order, although the second asked before it
    assert texts(result)[0] == "yes"
    assert "Call it again" in texts(result)[1]
    assert texts(result)[2] == "did 2"


class Halting:
    """A checker that halts at one number."""

    name = "halting"

    def __init__(self, at: int) -> None:
        self.at = at

    def check(self, request: PermissionRequest) -> PermissionDecision:
        args: Any = request.context
        if args["n"] == self.at:
            return PermissionDecision("halt", reason="security:tripwire")
        return PermissionDecision("allow")


async def test_a_halt_lets_what_passed_before_it_land_and_nothing_behind_it_begin() -> None:
    bench = Bench()
    agent = bench.agent(reply(("work", 0), ("work", 1), ("work", 2)), limits=ALL, gates=Gates(permission=Halting(1)))

    with pytest.raises(PolicyHaltError) as caught:
        await agent.run("Go.")

    assert bench.log == ["+0", "-0"]
    assert [entry.args["n"] for entry in caught.value.sequence] == [0, 1]


async def test_progress_of_calls_beside_each_other_is_told_apart_also_from_threads() -> None:
    both = asyncio.Barrier(2)

    @tool
    async def slow(n: int, ctx: ToolContext) -> str:
        """Report. Use it always."""
        await both.wait()
        ctx.progress({"n": n})
        return "ok"

    @tool
    def threaded(n: int, ctx: ToolContext) -> str:
        """Report from a thread. Use it always."""
        ctx.progress({"n": n})
        return "ok"

    script = reply(("slow", 0), ("threaded", 1), ("slow", 2), ids=["a", "a", "a"])
    agent = Agent(Mock([script, "Done."]), tools=[slow, threaded], limits=ALL)
    told: list[tuple[int | None, int]] = []
    agent.on(ToolProgress.type, lambda event: told.append((event.meta.tool_ordinal, event.payload.payload["n"])))

    await agent.run("Go.")

    assert sorted(told, key=str) == [(0, 0), (1, 1), (2, 2)]


async def test_an_error_that_is_no_tools_own_fails_the_run_as_it_does_alone() -> None:
    class Gone(BaseException):
        pass

    @tool
    async def vanish(n: int) -> str:
        """Vanish. Use it always."""
        raise Gone

    bench = Bench()
    agent = Agent(Mock([reply(("vanish", 0), ("work", 1))]), tools=[vanish, *bench.tools()], limits=ALL)

    with pytest.raises(Gone):
        await agent.run("Go.")

    assert bench.log in ([], ["+1"])


KINDS = ["work", "work", "fail", "alone", "nobody", "invalid"]


def facts(result: RunResult[Any]) -> dict[str, Any]:
    """All that a run leaves, but for its times and ids."""
    state = result.recording.snapshot["sharedState"]
    return {
        "messages": [str(thaw(message)) for message in result.messages],
        "calls": [
            (call.name, str(call.args), call.ok, call.dispatched, str(call.result)) for call in result.tool_calls
        ],
        "state": {key: str(state[key]) for key in ("toolResults", "lastToolResult", "history")},
        "ended": result.ended_because,
    }


@settings(max_examples=60, deadline=None)
@given(
    batches=st.lists(
        st.lists(
            st.tuples(st.sampled_from(KINDS), st.sampled_from(["a", "b", ""]), st.integers(0, 6)),
            min_size=1,
            max_size=5,
        ),
        min_size=1,
        max_size=3,
    ),
    most=st.sampled_from([True, 2, 3]),
)
def test_whatever_order_calls_end_in_the_history_is_the_sequential_one(
    batches: list[list[tuple[str, str, int]]], most: int
) -> None:
    script: list[Any] = []
    turns: dict[int, int] = {}
    number = 0
    for batch in batches:
        calls: list[ToolCall] = []
        for kind, id_, waits in batch:
            name, args = ("work", {"n": "x"}) if kind == "invalid" else (kind, {"n": number})
            calls.append(ToolCall(id_, name, args))
            turns[number] = waits
            number += 1
        script.append(LLMResponse("", tool_calls=calls))

    async def run(limits: Limits) -> dict[str, Any]:
        bench = Bench()
        bench.turns = turns
        return facts(await bench.agent(*script, limits=limits).run("Go."))

    alone = asyncio.run(run(Limits(invalid_args=99)))
    beside = asyncio.run(run(Limits(invalid_args=99, parallel_tools=most)))

    assert beside == alone


@settings(max_examples=40, deadline=None)
@given(
    batch=st.lists(
        st.tuples(
            st.sampled_from(["work", "ask", "fail", "gated"]), st.sampled_from(["a", "b", ""]), st.integers(0, 5)
        ),
        min_size=2,
        max_size=5,
    ),
    most=st.sampled_from([True, 1, 2]),
    through_json=st.booleans(),
)
def test_every_call_of_a_batch_that_asks_is_answered_once_and_in_call_order(
    batch: list[tuple[str, str, int]], most: int, through_json: bool
) -> None:
    async def run() -> tuple[RunResult[Any], Bench]:
        bench = Bench()
        bench.turns = {n: waits for n, (_, _, waits) in enumerate(batch)}
        calls = [ToolCall(id_, kind, {"n": n}) for n, (kind, id_, _) in enumerate(batch)]
        agent = bench.agent(LLMResponse("", tool_calls=calls), limits=Limits(parallel_tools=most), id="bench")
        result = await agent.run("Go.")
        while result.paused is not None:
            point: Any = result.paused
            if through_json:
                point = PauseCheckpoint.from_json(point.checkpoint.to_json())
            result = await agent.resume(point, approve(by="ann") if result.paused.kind == "check_in" else "yes")
        return result, bench

    result, bench = asyncio.run(run())
    answers = [message for message in result.messages if message.role == "tool"]

    assert [message.tool_name for message in answers] == [kind for kind, _, _ in batch]
    assert [message.tool_call_id for message in answers] == [id_ for _, id_, _ in batch]
    for n, message in enumerate(answers):
        assert bench.log.count(f"+{n}") <= 1
        if message.not_dispatched is not None:
            assert f"+{n}" not in bench.log
        elif batch[n][0] in ("work", "gated"):
            assert message.content.startswith(f"did {n}")
