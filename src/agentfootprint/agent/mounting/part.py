"""One run of an agent, or of a single call, inside a larger run: in its log, under its ids, with counters of its own.

The engine runs the agent's chart as a mount; this stands around it (`Subflow.within`) and does what `AgentRun` does
around a run of its own, apart from what a run has once: its id, its outcome, its record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from agentfootprint.agent.errors import DeadlineExceededError, OutputSchemaError
from agentfootprint.agent.ruling import rules_of
from agentfootprint.agent.running.accepting import read_message
from agentfootprint.agent.running.late import late_teller
from agentfootprint.agent.running.supervising import to_the_end
from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.shaping.forcing import check_carries_forced
from agentfootprint.context import check_roles
from agentfootprint.flow import Mounted, PauseSignal
from agentfootprint.trace import FrozenDict

if TYPE_CHECKING:
    from agentfootprint.agent.agent import Agent
    from agentfootprint.agent.mounting.outer import OuterRun

__all__ = ["AgentPart", "run_part", "within_deadline"]

T = TypeVar("T")


class AgentPart:
    """An agent that runs as a part of something else.

    Args:
        agent: The agent, or the call.
        outer: The run it is a part of.
        mounted: The run of its mount; gives its stages their scope.
        deadline: When what it is a part of must be over, on `time.monotonic()`.

    Raises:
        InvalidRunInputError: What it was given is no message.
    """

    def __init__(self, agent: Agent[Any, Any], outer: OuterRun, mounted: Mounted, deadline: float | None) -> None:
        plan = agent.plan
        self.agent = agent
        self.step = mounted.step
        """The mount's execution."""
        resumed = outer.taken_up.pop(mounted.step.info.id, None) if mounted.is_resumed else None
        given = mounted.state.get("message") if resumed is None else resumed.message
        text = read_message("LLMCall.run" if plan.is_single_call else "Agent.run", given)
        if plan.forced is not None:
            check_carries_forced(plan.provider)
        if plan.context.delivers:
            check_roles(plan.context.pieces, plan.provider)
        scope = self.scope = RunScope(
            plan,
            message=text,
            facts=outer.facts,
            deps=outer.deps,
            identity=outer.identity,
            settings=plan.settings,
            limits=plan.limits,
            gates=plan.gates,
            record=plan.record if outer.record is None else outer.record,
            bus=outer.bus,
            wire_bus=outer.wire_bus,
            sessions=None if plan.is_single_call else agent.tool_sessions,
        )
        scope.cover = outer.cover
        scope.rules = rules_of(scope.gates)
        scope.bind(outer.journal)
        scope.join(outer.waiters)
        run = scope.tool_run
        run.on_late = late_teller(outer.facts, outer.cover, outer.bus, outer.wire_bus)
        # a call of one part is never taken for the same call of another (DEC-37)
        run.origin_run_id = f"{outer.origin_run_id}/{mounted.step.runtime_stage_id}"
        if resumed is not None:
            resumed.restore(scope)
        if deadline is not None:
            run.deadline = deadline if run.deadline is None else min(deadline, run.deadline)
        outer.parts.append(self)
        mounted.use(scope)

    async def run(self, outer: OuterRun, go: Callable[[], Awaitable[Any]]) -> str:
        """Run the chart inside to its end; gives the text of the answer.

        Args:
            outer: As when it was made; not kept, as it keeps its parts.
            go: Runs the chart.

        Raises:
            PauseSignal: It waits for a person; what it has open stays open.
            DeadlineExceededError: It took longer than its own `limits.deadline`.
            OutputSchemaError: The answer does not fit a strict output type.
        """
        scope = self.scope
        try:
            await within_deadline(outer.facts.run_id, scope.limits.deadline, go)
        except PauseSignal:
            outer.paused[self.step.info.id] = self
            raise
        except BaseException:
            scope.tool_run.cancelled = True
            await self._tear_down()
            raise
        await self._tear_down()
        if scope.refusal is not None:
            refusal, scope.refusal = scope.refusal, None  # its traceback holds this frame
            raise refusal
        output = scope.plan.output
        if output is not None and output.strict and not scope.has_output:
            unmet: FrozenDict = scope.unmet or FrozenDict({})
            raise OutputSchemaError(
                scope.answer, unmet.get("stage", "json-parse"), unmet.get("path"), unmet.get("attempts", 1)
            ) from scope.output_error
        return scope.answer

    async def give_up(self) -> None:
        """Close what it kept open for the answer to its question, where the run fails and the question is nobody's."""
        held, self.scope.held = self.scope.held, None
        if held is not None:
            await to_the_end(held.close())
        await self._tear_down()

    async def _tear_down(self) -> None:
        teardown = self.scope.teardown
        if len(teardown):
            await to_the_end(teardown.close())
        teardown.closed = True


async def run_part(
    agent: Agent[Any, Any],
    outer: OuterRun,
    mounted: Mounted,
    go: Callable[[], Awaitable[Any]],
    *,
    deadline: float | None = None,
) -> str:
    """Run an agent as a part of a run; see `AgentPart`."""
    return await AgentPart(agent, outer, mounted, deadline).run(outer, go)


async def within_deadline(run_id: str, seconds: float | None, go: Callable[[], Awaitable[T]]) -> T:
    """Run a part of a run, for no longer than it says itself.

    Args:
        run_id: The run's.
        seconds: How long it may take; `None`: as long as the run does.
        go: Runs it.

    Raises:
        DeadlineExceededError: It took longer.
    """
    if seconds is None:
        return await go()
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await go()
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise DeadlineExceededError(run_id, seconds) from error
