"""Where does a proof's re-run happen, and what did all of them spend?

A re-run gets its tool results from the recording and its chance from its seed; it runs a copy of the agent, so that
nobody who listens to the agent hears it. Equal removals and seed are run once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from agentfootprint.errors import AgentFootprintError
from agentfootprint.explain.errors import NoAgentError
from agentfootprint.explain.model import Spent
from agentfootprint.llm import rerun_seed
from agentfootprint.tools import Cassette, UnrecordedToolCall, replaying
from agentfootprint.trace import JsonObject, Value, as_list, as_object, thaw

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


class Continuing(Rerunnable, Protocol):
    """What a re-run of a turn that goes on with a conversation needs; every `Agent` can do it."""

    async def run(self, message: str, *, deps: Value = None, continue_from: JsonObject | None = None) -> Value:
        """Answer a message that goes on with a conversation, in the form of its checkpoint."""
        ...

    async def resume_on_error(self, checkpoint: JsonObject, *, deps: Value = None) -> Value:
        """Go on with a turn whose conversation ends in its middle."""
        ...


def _went_wrong(error: AgentFootprintError) -> Exception:
    """What a re-run failed with; nobody takes a re-run up again, so what it left is of no use."""
    cause: object = getattr(error, "cause", None)
    return cause if error.code == "ERR_RUN_CHECKPOINT" and isinstance(cause, Exception) else error


class Start(NamedTuple):
    """The conversation that a recorded run went on with."""

    conversation: JsonObject
    """In the form of a checkpoint."""
    is_open: bool
    """Whether it ends in the middle of the turn, so that nothing is said anew."""


def start_of(recording: Recording, message: str) -> Start | None:
    """What a run started from beside its message; `None` when that was nothing, or is in another recording.

    Args:
        recording: The run.
        message: What the user said in it.
    """
    history = as_list(recording.value_at("history", 1))
    if not history or "resumed" in recording.flags:
        return None
    last = as_object(thaw(history[-1])) or {}
    said = last.get("role") == "user" and last.get("content") == message
    before = list(history)[:-1] if said else list(history)
    if not before:
        return None
    conversation = {
        "version": 1,
        "runId": recording.run_id,
        "history": before,
        "lastCompletedIteration": 0,
        "originalInput": {"message": message},
        "checkpointedAt": 0,
    }
    return Start(conversation, is_open=not said)


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
        self._start = start_of(recording, message)
        self._agent = agent
        self._deps = deps
        self._cassette = Cassette(
            [
                (use.tool_name, use.args, use.result or "", use.value, not use.ok)
                for use in recording.tool_uses
                if use.finished and use.dispatched
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
                    result = await self._answer(agent)
                except AgentFootprintError as error:
                    raise _went_wrong(error) from error.__cause__
                except UnrecordedToolCall as miss:
                    self._count(None, 0.0 if self._is_free else None)
                    return Outcome("", None, None, unrecorded=miss.tool)
        usage = result.usage
        tokens = sum(usage.totals()) if usage.known else None
        self._count(tokens, result.cost_usd)
        return Outcome(result.text, tokens, result.cost_usd)

    async def _answer(self, agent: Rerunnable) -> Value:
        """Run from what the recorded run started from."""
        start = self._start
        if start is None:
            return await agent.run(self._message, deps=self._deps)
        continuing = cast("Continuing", agent)
        if start.is_open:
            return await continuing.resume_on_error(start.conversation, deps=self._deps)
        return await continuing.run(self._message, deps=self._deps, continue_from=start.conversation)

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
