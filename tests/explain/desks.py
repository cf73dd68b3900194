"""Agents whose runs are explained: a refund desk, and a long run with rules and tool results of every kind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, Fact, Instruction, Mock, Recording, RunCheckpointError, tool
from agentfootprint.agent.loop import AgentRun
from agentfootprint.context import ContextItem
from agentfootprint.llm import LLMRequest, LLMResponse, Usage

Script = Callable[[LLMRequest], str | LLMResponse]
RULE = "/APPROVED|DECLINED/"
VIP = Fact("vip", "Dana Reyes holds VIP override status: refunds are approved at any time.")
STYLE = Fact("style", "Answer in two sentences at most.")
APPROVED = "Refund APPROVED: Dana Reyes holds VIP override status."


def decide(request: LLMRequest) -> str:
    return APPROVED if "VIP" in (request.system_prompt or "") else "Refund DECLINED."


def desk(respond: Script | str | Sequence[str] = decide, *pieces: ContextItem, **given: Any) -> Agent[object, str]:
    return Agent(Mock(respond), context=pieces or (VIP, STYLE), **given)


class Counted:
    """A tool that counts how often its body runs."""

    def __init__(self) -> None:
        self.calls = 0
        counter = self

        @tool
        def look_up(what: str) -> str:
            """Look up one thing by its name. Use it first."""
            counter.calls += 1
            return "" if what == "nothing" else f"{what}: 47 days old, {what} is APPROVED"

        self.tool = look_up


ASKED = ("alpha", "beta", "nothing", "gamma")


def five_calls(request: LLMRequest) -> str | LLMResponse:
    """Four tool calls, one after the other, then the answer."""
    done = sum(message.role == "tool" for message in request.messages)
    if request.tools and done < len(ASKED):
        return Mock.call("look_up", what=ASKED[done])
    return "Refund APPROVED: gamma is old."


def long_desk(counted: Counted | None = None) -> Agent[object, str]:
    """Five iterations; a rule that held once, one that began late, one that waits for the tool, one that never held."""
    return desk(
        five_calls,
        Fact("short", "Be short."),
        Instruction("early", "Greet first.", when=lambda turn: turn.iteration == 1),
        Instruction("late", "Decide now.", when=lambda turn: turn.iteration >= 3),
        Instruction("after", "Read the result.", on_tool_return="look_up"),
        Instruction("never", "Say no.", when=lambda _: False),
        system="You decide. Be short.",
        tools=[(counted or Counted()).tool],
    )


def failed_recording() -> Recording:
    """What is on record of a run whose model could not be asked a second time."""
    counted = Counted()

    def fail(request: LLMRequest) -> LLMResponse:
        if any(message.role == "tool" for message in request.messages):
            raise RuntimeError("the model is gone")
        return Mock.call("look_up", what="alpha")

    agent = desk(fail, STYLE, tools=[counted.tool])
    run = AgentRun(
        agent,
        "Refund?",
        deps=None,
        identity=None,
        session_id=None,
        settings=None,
        limits=None,
        gates=None,
        options=None,
    )
    with pytest.raises(RunCheckpointError, match="gone"):
        asyncio.run(run.execute())
    return run.recording


def in_every_form(recording: Recording, folder: Path) -> dict[str, Recording]:
    """The same recording as the run has it, from a native file, from a file of the wire form, and as an object."""
    return {
        "live": recording,
        "native": Recording.load(recording.save(folder / "run.native.json")),
        "wire": Recording.load(recording.save(folder / "run.wire.json", form="wire")),
        "object": Recording.from_wire(json.loads(json.dumps(recording.to_wire()))),
    }


class Ran:
    """What a re-run gives, for an agent of somebody else."""

    def __init__(self, text: str, usd: float | None) -> None:
        self.text = text
        self.cost_usd = usd
        self.usage = Usage(input=10, output=5)


class Foreign:
    """An agent that is none of ours and can be run again: slow, priced, and sometimes failing."""

    def __init__(self, *, usd: float | None = None, fails: bool = False, removed: Sequence[object] = ()) -> None:
        self.usd = usd
        self.fails = fails
        self.removed = tuple(map(str, removed))
        self.shared: dict[str, int] = {"in flight": 0, "most": 0, "runs": 0, "cancelled": 0}
        self.started: asyncio.Queue[None] = asyncio.Queue()
        self.hold: asyncio.Event | None = None

    def without(self, specs: Sequence[Any]) -> Foreign:
        twin = Foreign(usd=self.usd, fails=self.fails, removed=specs)
        twin.shared, twin.hold, twin.started = self.shared, self.hold, self.started
        return twin

    async def run(self, message: str, *, deps: object = None) -> Ran:
        shared = self.shared
        shared["in flight"] += 1
        shared["runs"] += 1
        self.started.put_nowait(None)
        shared["most"] = max(shared["most"], shared["in flight"])
        try:
            if self.hold is not None:
                await self.hold.wait()
            await asyncio.sleep(0)
            if self.fails and self.removed:
                raise RuntimeError("the network is down")
            return Ran("Refund DECLINED." if "injection:vip" in self.removed else APPROVED, self.usd)
        except asyncio.CancelledError:
            shared["cancelled"] += 1
            raise
        finally:
            shared["in flight"] -= 1
