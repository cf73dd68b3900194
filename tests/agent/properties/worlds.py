"""A world in which an agent's turns end in every way, and everything that must hold is watched from outside."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest import mock

import pytest

from agentfootprint import (
    Act,
    Agent,
    Checkpoint,
    Gates,
    Limits,
    LLMMessage,
    PauseCheckpoint,
    RunCheckpointError,
    RunResult,
    ToolContext,
    allow,
    approve,
    ask,
    ask_human,
    before_tool,
    decline,
    tool,
)
from agentfootprint.agent import Conversation, Mode, OpenQuestionsError, RuleOutcome, ToolCallView
from agentfootprint.agent.errors import ReplayRefusedError
from agentfootprint.agent.loop import AgentRun
from agentfootprint.agent.pausing.paused import paused_of
from agentfootprint.errors import AgentFootprintError
from agentfootprint.events import Event, Subscription
from agentfootprint.llm import CallHooks, LLMRequest, LLMResponse, ToolCall, verify_pairs
from agentfootprint.security import (
    SYNTHETIC_DENY_PREFIX,
    PermissionDecision,
    PermissionRequest,
    extract_sequence,
)

Batch = tuple[tuple[str, str], ...]
"""The calls of one reply, each a tool and an id; an empty one is an answer."""


NOT_RUN = ("declined by human", "The tool halting is not available.")
"""What is read of calls that did not run, and count as if they had (AGT-65, AGT-82)."""


class Died(BaseException):
    """The end of a process, as far as a coroutine can see it."""


@before_tool(name="looked-over")
def looked_over(call: ToolCallView) -> RuleOutcome:
    """Calls of one tool are for a person to decide."""
    return ask(f"{call.args['n']}?") if call.tool_name == "looked" else allow()


class Guard:
    """A checker that denies one tool, and halts at another."""

    name = "guard"

    def check(self, request: PermissionRequest) -> PermissionDecision:
        word = {"barred": "deny", "halting": "halt"}.get(request.target or "", "allow")
        return PermissionDecision(word, reason="a rule")  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is drawn once for a world."""

    script: tuple[Batch, ...]
    failing: frozenset[int] = frozenset()
    """Requests, counted from 1 over the whole world, that the provider fails."""
    parallel: bool = False
    together: bool = False
    """Whether the calls of a reply are asked about at once."""
    mode: Mode = "dynamic"


@dataclass(frozen=True, slots=True)
class Step:
    """What is done next; what of it makes no sense where the world stands means something else there."""

    choice: int
    """Which of the doors that are open."""
    stops_at: int | None = None
    """After how many events the leg is stopped; `None` for not at all."""
    is_killed: bool = False
    """Whether nothing is left of the leg that was stopped but what was stored before it."""
    is_elsewhere: bool = False
    """Whether a new process does it: a new agent, and everything through JSON."""


@dataclass(slots=True)
class Entry:
    """That a tool's body was entered."""

    key: str | None
    leg: int


@dataclass(slots=True)
class World:
    """The model, the tools, and what is stored between legs."""

    plan: Plan
    agent: Agent[Any, str] = field(init=False)
    turn: int = 0
    """Which message of the user is under way; a leg that goes on with it is of the same turn."""
    turns: int = 0
    leg: int = 0
    requests: int = 0
    entries: dict[tuple[int, int], list[Entry]] = field(default_factory=dict[tuple[int, int], list[Entry]])
    """Bodies that were entered, by turn and number of the call."""
    proposed: dict[int, int] = field(default_factory=dict[int, int])
    """The turn in which each call was proposed last."""
    crashed: dict[int, frozenset[int] | None] = field(default_factory=dict[int, frozenset[int] | None])
    """Legs after which calls may run again: which, as their record says; `None` where nothing is left of the leg."""
    stored: Checkpoint | None = None
    failed: Checkpoint | None = None
    paused: PauseCheckpoint | None = None
    result: RunResult[str] | None = None
    legs: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])
    """What did not hold inside of tools, where an error would be an answer."""

    def __post_init__(self) -> None:
        """Start the first process."""
        self.agent = self.build()

    # the model

    name = "world"
    is_free = True

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        self.requests += 1
        assert_answered_once(request.messages)
        if self.requests in self.plan.failing:
            raise RuntimeError("the wire is cut")
        place = sum(message.role == "assistant" for message in request.messages)
        batch = self.plan.script[place] if place < len(self.plan.script) else ()
        await asyncio.sleep(0)
        if not batch:
            return LLMResponse(f"Answer {place}.")
        calls = tuple(ToolCall(id_, kind, {"n": 10 * place + at}) for at, (kind, id_) in enumerate(batch))
        self.proposed |= {10 * place + at: self.turn for at in range(len(batch))}
        return LLMResponse("", tool_calls=calls, stop_reason="tool_use")

    # the tools

    def enter(self, n: int, ctx: ToolContext) -> int:
        """Note that a body was entered; gives how often it was."""
        known = self.entries.setdefault((self.turn, n), [])
        for before in known:
            allowed = self.crashed.get(before.leg, frozenset())
            if allowed is not None and n not in allowed:
                self.broken.append(f"call {n} ran again, and no record says that it may")
            if before.key != ctx.idempotency_key:
                self.broken.append(f"call {n} ran again with another key")
        known.append(Entry(ctx.idempotency_key, self.leg))
        return len(known)

    def build(self) -> Agent[Any, str]:  # noqa: C901  a tool for each thing that can happen
        """A process's agent."""
        world = self

        @tool
        async def runs(n: int, ctx: ToolContext) -> str:
            """Run."""
            world.enter(n, ctx)
            for _ in range(n % 3):
                await asyncio.sleep(0)
            return f"ran {n}"

        @tool
        async def asks(n: int, ctx: ToolContext) -> str:
            """Ask."""
            world.enter(n, ctx)
            ask_human(f"{n}?")

        @tool(check_in="always")
        async def gated(n: int, ctx: ToolContext) -> str:
            """Run when approved."""
            world.enter(n, ctx)
            await asyncio.sleep(0)
            return f"ran {n}"

        @tool
        async def looked(n: int, ctx: ToolContext) -> str:
            """Run when a rule's question is approved."""
            world.enter(n, ctx)
            await asyncio.sleep(0)
            return f"ran {n}"

        @tool
        async def fails(n: int, ctx: ToolContext) -> str:
            """Fail."""
            world.enter(n, ctx)
            raise RuntimeError("no")

        @tool
        async def breaks(n: int, ctx: ToolContext) -> str:
            """Fail the run, once: ask with a panel that can't be shown."""
            if world.enter(n, ctx) == 1:
                ask_human("?", data={"component": {"componentId": "panel", "propsRef": "art_1"}})
            return f"ran {n}"

        @tool
        async def dies(n: int, ctx: ToolContext) -> str:
            """End the process, once."""
            if world.enter(n, ctx) == 1:
                raise Died
            return f"ran {n}"

        @tool
        async def barred(n: int, ctx: ToolContext) -> str:
            """Never run: it is not allowed."""
            world.enter(n, ctx)
            return f"ran {n}"

        @tool
        async def halting(n: int, ctx: ToolContext) -> str:
            """Never run: asking for it ends the run."""
            world.enter(n, ctx)
            return f"ran {n}"

        return Agent(
            self,
            tools=[runs, asks, gated, looked, fails, breaks, dies, barred, halting],
            limits=Limits(parallel_tools=self.plan.parallel),
            gates=Gates(permission=Guard(), act=Act(before_tool=[looked_over]), ask_together=self.plan.together),
            mode=self.plan.mode,
        )

    # the doors

    def doors(self) -> list[Callable[[], Coroutine[Any, Any, RunResult[str]]]]:
        """What can be done now."""
        if self.paused is not None:
            answers = [partial(self._answer, choice) for choice in range(10)]
            return [*answers, self._abandon, self._abandon_in_talk]
        if self.failed is not None:
            return [self._again, lambda: self._say(self.failed), self._say_in_talk]
        return [lambda: self._say(self.stored), self._say_in_talk]

    async def _say(self, before: Checkpoint | RunResult[str] | None) -> RunResult[str]:
        self.turns += 1
        self.turn = self.turns
        return await self.agent.run(f"Message {self.turn}.", continue_from=before)

    async def _say_in_talk(self) -> RunResult[str]:
        self.turns += 1
        self.turn = self.turns
        return await self.agent.conversation(self.failed or self.stored).run(f"Message {self.turn}.")

    async def _answer(self, choice: int) -> RunResult[str]:
        paused = self.paused
        assert paused is not None
        questions = paused_of(paused).questions
        if questions[0].kind == "ask_human":
            return await self.agent.resume(paused, None if choice % 2 else "yes")
        said = [(decline if choice >> at & 1 else approve)(by="dana") for at in range(len(questions))]
        if len(questions) == 1:
            return await self.agent.resume(paused, said[0])
        with pytest.raises(OpenQuestionsError):  # a refusal changes nothing
            await self.agent.resume(paused, said[1:])
        by_id = {question.id: answer for question, answer in zip(questions, said, strict=True)}
        return await self.agent.resume(paused, by_id if choice & 8 else said)

    async def _abandon(self) -> RunResult[str]:
        return await (self._abandon_in_talk() if self.result is None else self._say(self.result))

    async def _abandon_in_talk(self) -> RunResult[str]:
        assert self.paused is not None
        assert self.stored is not None
        wire = {"checkpoint": self.stored.to_wire(), "pending": self.paused.to_wire()}
        talk = Conversation.from_wire(json.loads(json.dumps(wire)), agent=self.agent)
        assert await talk.abandon_pause() is not None
        self.turns += 1
        self.turn = self.turns
        return await talk.run(f"Message {self.turn}.")

    async def _again(self) -> RunResult[str]:
        assert self.failed is not None
        return await self.agent.resume_on_error(self.failed)

    # a leg

    async def take(self, step: Step) -> None:
        """Do one step, and look whether everything holds."""
        if step.is_elsewhere:
            self._move()
        self.leg += 1
        doors = self.doors()
        pause, before = self.paused, (self.turn, dict(self.proposed))
        with noting() as runs:
            task = asyncio.create_task(doors[step.choice % len(doors)]())
            stop = self._stop_at(task, step.stops_at)
            await asyncio.wait([task])
            stop.close()
        assert len(runs) == 1
        was_stopped = task.cancelled()
        error = None if was_stopped else task.exception()
        assert not self.broken
        if error is not None and not isinstance(error, (AgentFootprintError, Died)):
            raise error
        if isinstance(error, RunCheckpointError) and isinstance(error.cause, AssertionError):
            raise error.cause
        await self._replay(runs[0], pause if runs[0].resumed else None)
        is_killed = was_stopped and step.is_killed
        if is_killed:
            self.turn, self.proposed = before
        self._settle(runs[0].run, task, error, is_killed=is_killed)

    def _stop_at(self, task: asyncio.Task[Any], events: int | None) -> Subscription:
        seen = 0

        def count(_: Event[Any]) -> None:
            nonlocal seen
            seen += 1
            if seen == events:
                task.cancel()

        return self.agent.on("*", count)

    def _settle(
        self, run: AgentRun, task: asyncio.Task[RunResult[str]], error: BaseException | None, *, is_killed: bool
    ) -> None:
        """Keep what the leg left."""
        self.legs.append("killed" if is_killed else "stopped" if task.cancelled() else type(error).__name__)
        if is_killed:
            self.crashed[self.leg] = None
            self._move()
            return
        self.paused = self.result = self.failed = None
        if task.cancelled() or error is not None:
            left = error.checkpoint if isinstance(error, RunCheckpointError) else run.checkpoint
            if left is not None:
                flying = () if left.in_flight is None else left.in_flight.tool_calls
                self.crashed[self.leg] = frozenset(call.args["n"] for call in flying)
            if run.paused is not None:  # it was stopped behind its question, which stands open
                assert run.recording.ended == "paused"
                self.stored, self.paused = left, run.paused.checkpoint
                return
            if left is not None:
                self.assert_history(left.history)
            self.failed = left
            return
        result = task.result()
        assert result.checkpoint is not None
        self.stored = result.checkpoint
        if result.paused is not None:
            self.paused, self.result = result.paused.checkpoint, result
            return
        self.assert_history(result.checkpoint.history)

    def _move(self) -> None:
        """Into another process: nothing is left but what was stored, as text."""
        self.agent = self.build()
        self.result = None
        if self.stored is not None:
            self.stored = Checkpoint.from_json(self.stored.to_json(key="k"), key="k")
        if self.failed is not None:
            self.failed = Checkpoint.from_json(self.failed.to_json())
        if self.paused is not None:
            self.paused = PauseCheckpoint.from_json(self.paused.to_json())

    async def _replay(self, noted: Noted, pause: PauseCheckpoint | None) -> None:
        try:
            replay = await self.agent.replay(noted.run.recording, paused=pause)
        except ReplayRefusedError as refused:
            assert refused.reason == "stopped", str(refused)  # noqa: PT017
        else:
            assert replay.difference is None, str(replay)

    # what must hold

    def assert_history(self, history: Sequence[LLMMessage]) -> None:
        """What the history says ran is what ran."""
        assert_answered_once(history)
        counted: list[int] = []
        for at, message in enumerate(history):
            for place, call in enumerate(message.tool_calls):
                n, answer = call.args["n"], history[at + 1 + place]
                entries = self.entries.get((self.proposed[n], n), [])
                ran = bool(entries)
                if answer.not_dispatched is not None:
                    is_lost = all(self.crashed.get(entry.leg, ()) is None for entry in entries)
                    assert is_lost or call.name == "asks", f"call {n} ran, and the history says that it did not"
                    continue
                if answer.content.startswith(SYNTHETIC_DENY_PREFIX):
                    assert not ran, f"call {n} ran, and was denied"
                    continue
                counted.append(n)
                said = answer.content.startswith(NOT_RUN) or "was interrupted" in answer.content
                assert ran or said, f"call {n} did not run, and the history does not say so"
        ids = [call.id for message in history for call in message.tool_calls]
        if "" not in ids and len(set(ids)) == len(ids):  # judged by id: a known limit (SEQ-5)
            assert [entry.args["n"] for entry in extract_sequence(history, 1)] == counted


@dataclass(slots=True)
class Noted:
    """A run that was executed."""

    run: AgentRun
    resumed: bool


@contextmanager
def noting() -> Generator[list[Noted]]:
    """Note the runs that are executed meanwhile, so that also one that fails shows its record."""
    noted: list[Noted] = []
    execute = AgentRun.execute

    def noticed(run: AgentRun) -> Coroutine[Any, Any, RunResult[Any]]:
        noted.append(Noted(run, "resumed" in run.recording.header))
        return execute(run)

    with mock.patch.object(AgentRun, "execute", noticed):
        yield noted


def assert_answered_once(history: Sequence[LLMMessage]) -> None:
    """Every proposal has its one answer, behind its turn, in call order, and nothing else is answered."""
    assert verify_pairs(tuple(history)).unanswered == ()
    answers = 0
    for at, message in enumerate(history):
        calls = message.tool_calls
        behind = history[at + 1 : at + 1 + len(calls)]
        assert [(each.role, each.tool_call_id, each.tool_name) for each in behind] == [
            ("tool", call.id, call.name) for call in calls
        ]
        answers += len(calls)
    assert answers == sum(message.role == "tool" for message in history)
