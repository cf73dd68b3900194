"""Tests of agentfootprint.agent.keeping.interrupting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import Agent, Gates, Mock, RunCheckpointError, approve, decline, tool
from agentfootprint.agent import RunCancelledError
from agentfootprint.llm import LLMMessage, LLMResponse, ToolCall, verify_pairs
from tests.agent.pausing.together.till import paused

RAN: list[str] = []
STOP: list[asyncio.Task[Any]] = []


class Died(BaseException):
    """The end of a process, as far as a coroutine can see it."""


@tool(check_in="always")
async def act(how: str) -> str:
    """Act."""
    RAN.append(how)
    if how == "die":
        raise Died
    if how == "wait":
        STOP[0].cancel()
        await asyncio.Event().wait()
    return f"did {how}"


@tool
async def look(how: str) -> str:
    """Look."""
    RAN.append(how)
    return f"saw {how}"


def agent_of(*hows: str) -> Agent[Any, str]:
    RAN.clear()
    STOP.clear()
    batch = tuple(ToolCall("x", "look" if how.startswith("look") else "act", {"how": how}) for how in hows)
    reply = LLMResponse("", tool_calls=batch, stop_reason="tool_use")
    return Agent(Mock([reply, "Done."], cursor="history"), tools=[act, look], gates=Gates(ask_together=True))


def told(history: Any) -> list[str]:
    return [message.content for message in history if message.role == "tool"]


def causes(history: tuple[LLMMessage, ...]) -> list[str | None]:
    marks = [message.not_dispatched for message in history if message.role == "tool"]
    return [None if mark is None else mark.cause for mark in marks]


async def test_what_a_stopped_run_leaves_has_each_call_answered_once_in_call_order() -> None:
    agent = agent_of("look 0", "one", "look 1", "wait", "two", "look 2")
    talk = agent.conversation()
    question = paused(await talk.run("Go on."))
    STOP.append(asyncio.create_task(talk.resume(question, [approve(by="dana")] * 3)))

    with pytest.raises(asyncio.CancelledError):
        await STOP[0]

    assert talk.checkpoint is not None
    history = talk.checkpoint.history
    assert told(history)[:3] == ["saw look 0", "did one", "saw look 1"]
    assert "was interrupted" in told(history)[3]
    assert causes(history) == [None, None, None, None, "stopped", "stopped"]
    assert verify_pairs(history).unanswered == ()
    assert (await talk.run("And now?")).text == "Done."
    assert RAN == ["look 0", "one", "look 1", "wait"]


async def test_a_declined_call_has_not_acted_when_the_run_is_stopped_behind_it() -> None:
    agent = agent_of("one", "wait", "two")
    talk = agent.conversation()
    question = paused(await talk.run("Go on."))
    answers = [decline(by="eve"), approve(by="dana"), decline(by="eve")]
    STOP.append(asyncio.create_task(talk.resume(question, answers)))

    with pytest.raises(asyncio.CancelledError):
        await STOP[0]

    assert talk.checkpoint is not None
    history = talk.checkpoint.history
    assert told(history)[0] == "declined by human"
    assert causes(history) == [None, None, "stopped"]


async def test_a_process_that_dies_among_the_approved_calls_leaves_them_answered() -> None:
    agent = agent_of("one", "die", "two")
    talk = agent.conversation()
    question = paused(await talk.run("Go on."))

    with pytest.raises(Died):
        await talk.resume(question, [approve(by="dana")] * 3)

    assert talk.checkpoint is not None
    history = talk.checkpoint.history
    assert told(history)[0] == "did one"
    assert "was interrupted" in told(history)[1]
    assert causes(history) == [None, None, "stopped"]


async def test_a_run_that_fails_behind_the_approved_calls_has_them_in_its_checkpoint() -> None:
    class Failing:
        name = "failing"

        async def complete(self, request: Any, hooks: Any = None) -> LLMResponse:
            if len(request.messages) > 2:
                raise RuntimeError("the wire is cut")
            batch = tuple(ToolCall(f"c{n}", "act", {"how": f"{n}"}) for n in range(2))
            return LLMResponse("", tool_calls=batch, stop_reason="tool_use")

    agent = Agent(Failing(), tools=[act], gates=Gates(ask_together=True))
    RAN.clear()
    question = paused(await agent.run("Go on."))

    with pytest.raises(RunCheckpointError) as failed:
        await agent.resume(question, [approve(by="dana"), decline(by="eve")])

    assert told(failed.value.checkpoint.history) == ["did 0", "declined by human"]
    assert failed.value.checkpoint.in_flight is None


async def test_a_handle_that_stops_a_run_before_its_questions_stand_leaves_every_call_answered() -> None:
    held = asyncio.Event()

    async def slowly(args: Any, ctx: Any) -> bool:
        if args["how"] == "two":
            held.set()
            await asyncio.Event().wait()
        return bool(ctx)

    @tool(check_in=slowly)
    async def act(how: str) -> str:
        """Act."""
        return how

    batch = tuple(ToolCall(f"c{n}", "act", {"how": how}) for n, how in enumerate(("one", "two", "three")))
    reply = LLMResponse("", tool_calls=batch, stop_reason="tool_use")
    agent = Agent(Mock([reply, "Done."]), tools=[act], gates=Gates(ask_together=True))
    handle = agent.start("Go on.")
    await held.wait()
    await handle.cancel()

    with pytest.raises(RunCancelledError) as stopped:
        await handle.result()

    assert stopped.value.checkpoint is not None
    assert causes(stopped.value.checkpoint.history) == ["stopped"] * 3  # none of them ran
    assert stopped.value.paused is None
