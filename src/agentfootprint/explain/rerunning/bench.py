"""Where does a proof's re-run happen, and what did all of them spend?

A re-run gets its tool results from the recording and its chance from its seed; it runs a copy of the agent, so that
nobody who listens to the agent hears it. Equal removals and seed are run once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from agentfootprint.explain.errors import NoAgentError
from agentfootprint.explain.model import Spent
from agentfootprint.llm import rerun_seed
from agentfootprint.tools import Cassette, UnrecordedToolCall, replaying
from agentfootprint.trace import Value

if TYPE_CHECKING:
    from agentfootprint.explain.ablation import Ablation
    from agentfootprint.explain.proof import ProveOptions, ToolPolicy
    from agentfootprint.recording import Recording

__all__ = ["Bench", "Outcome", "Rerunnable"]


class Rerunnable(Protocol):
    """What a re-run needs of an agent; every `Agent` is one."""

    def without(self, specs: Sequence[Ablation | str]) -> Rerunnable:
        """The same agent without some of its context or tools; without nothing, a copy that nobody listens to."""
        ...

    async def run(self, message: str, *, deps: Value = None) -> Value:
        """Answer a message; the result has `text`, `usage` and `cost_usd`."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """One re-run's end."""

    text: str
    tokens: int | None
    usd: float | None
    unrecorded: str | None = None
    """The tool a re-run asked for without a recorded result; its pair then counts as nothing."""


class Bench:
    """Where re-runs happen: one agent, one cassette, what was spent so far."""

    def __init__(
        self, recording: Recording, agent: Rerunnable, *, tools: ToolPolicy, options: ProveOptions, deps: object
    ) -> None:
        message = recording.user_message
        self._is_free = getattr(agent, "is_free", False) is True
        if message is None:
            raise NoAgentError(fix="The recording does not hold what was asked: run the agent again and prove that.")
        self._message = message
        self._agent = agent
        self._deps = deps
        self._cassette = Cassette(
            [
                (use.tool_name, use.args, use.result or "", use.value, not use.ok)
                for use in recording.tool_uses
                if use.finished
            ],
            policy=tools,
            live=frozenset(options.allow_live),
        )
        self._gate = asyncio.Semaphore(options.concurrency)
        self._variants: dict[tuple[Ablation, ...], Rerunnable] = {}
        self._known: dict[tuple[tuple[Ablation, ...], int], asyncio.Task[Outcome]] = {}
        self._started = time.perf_counter()
        self.spent = Spent(runs=0, tokens=0, usd=0.0, seconds=0.0)
        self.at_least = self.spent
        """As `spent`, with what is not known left out: limits hold all the same."""

    async def run(self, specs: tuple[Ablation, ...], seed: int) -> Outcome:
        """One re-run; the same specs and seed are run once, also when asked for at the same time."""
        key = (specs, seed)
        task = self._known.get(key)
        if task is None:
            task = self._known[key] = asyncio.create_task(self._once(specs, seed))
        return await task

    async def _once(self, specs: tuple[Ablation, ...], seed: int) -> Outcome:
        if specs not in self._variants:
            self._variants[specs] = self._agent.without(specs)  # also without nothing: nobody listens to a copy
        agent = self._variants[specs]
        async with self._gate:
            with rerun_seed(seed), replaying(self._cassette.rewound()):
                try:
                    result = await agent.run(self._message, deps=self._deps)
                except UnrecordedToolCall as miss:
                    self._count(None, 0.0 if self._is_free else None)
                    return Outcome("", None, None, unrecorded=miss.tool)
        usage = result.usage
        tokens = sum(usage.totals()) if usage.known else None
        self._count(tokens, result.cost_usd)
        return Outcome(result.text, tokens, result.cost_usd)

    def _count(self, tokens: int | None, usd: float | None) -> None:
        self.spent = replace(
            self.spent.plus(Spent(runs=1, tokens=tokens, usd=usd, seconds=0.0)),
            seconds=time.perf_counter() - self._started,
        )
        self.at_least = self.at_least.plus(Spent(runs=1, tokens=tokens or 0, usd=usd or 0.0, seconds=0.0))

    def seconds(self) -> float:
        """Wall time since the bench was set up."""
        return time.perf_counter() - self._started

    async def close(self) -> None:
        """Stop what still runs and wait for it."""
        open_tasks = [task for task in self._known.values() if not task.done()]
        for task in open_tasks:
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)
