"""Tests of agentfootprint.agent.replaying.feeding, on runs whose tools take turns at random and that end anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfootprint import Agent, Gates, Limits, Mock, ModelSettings, Recording, ToolContext, ask_human, tool
from agentfootprint.agent import (
    Act,
    MessageView,
    PolicyHaltError,
    RuleOutcome,
    RunHandle,
    RunResult,
    ToolCallView,
    ToolResultView,
    after_tool,
    allow,
    approve,
    ask,
    before_tool,
    deny,
    on_message,
)
from agentfootprint.agent.errors import ReplayRefusedError
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.security import PermissionDecision, PermissionRequest


@tool
async def work(ctx: ToolContext, n: int, says: int, rests: int) -> str:
    """Work for a while."""
    for turn in range(says):
        ctx.progress({"n": n, "turn": turn})
        for _ in range(rests):
            await asyncio.sleep(0)
    if n % 5 == 4:
        raise ValueError(f"not {n}")
    ctx.emit("shop.worked", {"n": n})
    return f"worked on {n}"


@tool
async def inquire(n: int) -> str:
    """Ask a person."""
    await asyncio.sleep(0)
    ask_human(f"What of {n}?")


@tool(check_in=lambda args, _: args["n"] % 2 == 0)
async def pay(n: int) -> str:
    """Pay."""
    return f"paid {n}"


@before_tool(name="gate")
def gate(view: ToolCallView) -> RuleOutcome:
    n = view.args.get("n")
    return deny("no") if n == 3 else ask("May I?") if n == 7 else allow()


@after_tool(name="mask")
def mask(view: ToolResultView) -> RuleOutcome:
    return allow("masked", "private") if view.args.get("n") == 2 else allow()


@on_message(name="polite")
def polite(view: MessageView) -> RuleOutcome:
    return allow(f"{view.content} Thank you.", "manners")


class Guard:
    """A checker that denies, and halts."""

    name = "guard"

    def check(self, request: PermissionRequest) -> PermissionDecision:
        n = request.context.get("n")
        return PermissionDecision("halt" if n == 6 else "deny" if n == 5 else "allow", reason="a rule")


small = st.integers(0, 8)


def proposal(name: str, n: int, says: int, rests: int) -> tuple[str, dict[str, Any]]:
    """A call of a tool, with the arguments that it takes."""
    return name, {"n": n} | ({"says": says, "rests": rests} if name == "work" else {})


works = st.builds(proposal, st.just("work"), small, small, small)
others = st.builds(proposal, st.sampled_from(["inquire", "pay", "unknown"]), small, small, small)
batches = st.lists(st.lists(st.one_of(works, works, others), min_size=1, max_size=4), max_size=4)


def agent_of(script: Sequence[Sequence[tuple[str, dict[str, Any]]]], *, parallel: Any, rules: bool) -> Agent[Any, Any]:
    replies: list[str | LLMResponse] = []
    for number, batch in enumerate(script):
        calls = [ToolCall(f"c{number}-{place % 2}", name, args) for place, (name, args) in enumerate(batch)]
        replies.append(LLMResponse("" if number % 2 else "Let me see.", tool_calls=calls))
    act = Act(before_tool=[gate], after_tool=[mask], output=[polite]) if rules else None
    return Agent(
        Mock([*replies, "All done now."], cursor="history"),
        tools=[work, inquire, pay],
        settings=ModelSettings(temperature=0.5),
        limits=Limits(parallel_tools=parallel, iterations=4),
        gates=Gates(act=act, permission=Guard() if rules else None),
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(batches, st.sampled_from([False, True, 2]), st.booleans(), st.integers(0, 120))
def test_every_leg_of_any_run_replays(script: Any, parallel: Any, rules: bool, stops: int) -> None:
    asyncio.run(_every_leg(script, parallel, rules=rules, stops=stops))


async def _every_leg(script: Any, parallel: Any, *, rules: bool, stops: int) -> None:
    agent = agent_of(script, parallel=parallel, rules=rules)
    first = agent.start("Go.")
    result = await ended(first)
    assert str((await agent.replay(first.recording)).difference) == "None"
    while result is not None and (paused := result.paused) is not None:
        stored = paused.checkpoint.to_wire()
        answer = "an answer" if paused.check_in is None and paused.ask is None else approve(by="dana")
        try:
            result = await agent.resume(paused, answer)
        except PolicyHaltError:
            break
        assert str((await agent.replay(result.recording, paused=stored)).difference) == "None"

    cut = await stopped(agent, stops)
    assert await difference(agent, cut) in ("None", "stopped")


async def ended(run: RunHandle[Any]) -> RunResult[Any] | None:
    """What a run came to; `None` for one that a checker halted."""
    try:
        return await run.result()
    except PolicyHaltError:
        return None


async def difference(agent: Agent[Any, Any], recording: Recording) -> str:
    """Where a replay differs; `stopped` for a run that was stopped where nothing was open."""
    try:
        return str((await agent.replay(recording)).difference)
    except ReplayRefusedError as refused:
        return refused.reason


async def stopped(agent: Agent[Any, Any], events: int) -> Recording:
    """A run that is cancelled after so many events, or has ended before."""
    handle = agent.start("Go.")
    seen = 0
    async for _ in handle:
        seen += 1
        if seen > events:
            break
    await handle.cancel()
    return handle.recording
