"""The runs behind `vectors/events/run-streams.json`, made again: `scenarios.md` says what each is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentfootprint import (
    Agent,
    Decision,
    Fact,
    Identity,
    Instruction,
    Limits,
    LLMCall,
    Mock,
    RunCheckpointError,
    RunOptions,
    RunResult,
    Steering,
    Tool,
    ToolCall,
    Usage,
)
from agentfootprint.compose import Loop, Parallel, Sequence, Step
from agentfootprint.events import Event, event_to_wire
from agentfootprint.llm import LLMResponse
from agentfootprint.recording import Recording
from agentfootprint.resilience import CostBudget, StaticPricing
from agentfootprint.tools import PersonAsked, ToolContext

__all__ = ["Ran", "play"]

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
AMOUNT = {"type": "object", "properties": {"amount": {"type": "number"}}}


@dataclass
class Ran:
    """What a scenario left."""

    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """In the wire form, as a `*` listener heard them."""
    recordings: list[Recording] = field(default_factory=list[Recording])


def says(text: str, *calls: tuple[str, str, dict[str, Any]], usage: Usage | None = None) -> LLMResponse:
    return LLMResponse(
        text, tool_calls=[ToolCall(*call) for call in calls], usage=usage, stop_reason="tool_use" if calls else "stop"
    )


def weather(*reports: Any, fails: bool = False) -> Tool[..., Any]:
    async def look(ctx: ToolContext, city: str) -> object:
        for report in reports:
            ctx.progress(report)
        if fails:
            raise RuntimeError("station offline")
        return {"city": city, "temp": 21}

    return Tool(look, name="weather", description="Look up the weather of a city.", input_schema=CITY)


async def confirm(ctx: ToolContext, amount: float) -> None:
    raise PersonAsked({"reason": "Approve the refund?", "amount": amount})


async def refund(ctx: ToolContext, amount: float) -> object:
    return {"sent": amount}


def agent(replies: list[Any], *, usage: Usage | None = None, **options: Any) -> Agent[Any, str]:
    return Agent("mock-1", provider=Mock(replies, usage=usage), id="desk", **options)


PARIS = ("c1", "weather", {"city": "Paris"})


def call(id: str, *replies: str) -> LLMCall[str]:
    return LLMCall("mock-1", provider=Mock(list(replies)), id=id, system="S")


def broken() -> Agent[Any, str]:
    return agent([RuntimeError("socket hang up")])


def priced() -> Agent[Any, str]:
    prices = {"mock-1": {"input": 0.001, "output": 0.01, "cacheRead": 0.0001, "cacheWrite": 0.002}}
    limits = Limits(pricing=StaticPricing(prices), cost=CostBudget(usd=0.25))
    used = Usage(input=100, output=10, cache_read=5)
    return agent([says("", PARIS), "Done."], usage=used, tools=[weather()], limits=limits)


AGENTS: dict[str, tuple[Callable[[], Any], str]] = {
    "one-tool": (
        lambda: agent(
            [says("Let me check", PARIS), "It is 21 in Paris."],
            system="Be brief.",
            tools=[weather({"message": "asking the station"}, {"done": 1, "total": 2})],
        ),
        "Weather in Paris?",
    ),
    "no-tools-identity-session": (
        lambda: agent(
            ["Hello there."], usage=Usage(input=10, output=3, cache_read=4, cache_write=2), system="Be brief."
        ),
        "Hi",
    ),
    "tool-throws": (
        lambda: agent([says("", PARIS), "I could not look it up."], tools=[weather(fails=True)]),
        "Weather?",
    ),
    "provider-fails": (broken, "Hi"),
    "priced-over-budget": (priced, "Hi"),
    "budget-wrap-up": (
        lambda: agent(
            [says("", PARIS), says("Still going", ("c2", "weather", {"city": "Rome"})), "Summary of what I have."],
            tools=[weather()],
            limits=Limits(iterations=2),
        ),
        "Hi",
    ),
    "ask-human-pause-resume": (
        lambda: agent(
            [says("I need a person.", ("c1", "confirm", {"amount": 900})), "Refund sent."],
            tools=[Tool(confirm, name="confirm", description="Ask a person.", input_schema=AMOUNT)],
        ),
        "Refund me",
    ),
    "check-in-approve": (
        lambda: agent(
            [says("Refunding.", ("c1", "refund", {"amount": 900})), "Refund sent."],
            tools=[Tool(refund, name="refund", description="Send money back.", input_schema=AMOUNT, check_in="always")],
        ),
        "Refund me",
    ),
    "llm-call": (lambda: LLMCall("mock-1", provider=Mock(["Hello."]), system="S"), "Hi"),
    "sequence": (
        lambda: Sequence([Step("a", call("la", "A out")), Step("b", call("lb", "B out"))], id="pipe", name="Pipe"),
        "go",
    ),
    "parallel": (
        lambda: Parallel(
            {"x": call("lx", "X"), "y": call("ly", "Y")},
            merge=lambda said: "+".join(said.values()),
            id="fan",
            name="Fan",
        ),
        "go",
    ),
    "loop": (lambda: Loop(call("la", "1", "2"), max_iterations=2, id="rep", name="Rep"), "go"),
    "injections": (
        lambda: agent(
            [says("", PARIS), "Done."],
            system="Base.",
            tools=[weather()],
            context=[
                Steering("tone", "Be kind."),
                Fact("user", "Name: Ann"),
                Instruction("always-cite", "Cite sources.", when=lambda _: True),
            ],
        ),
        "Weather?",
    ),
}
ANSWERS: dict[str, Any] = {
    "ask-human-pause-resume": "yes",
    "check-in-approve": Decision(approved=True, by="ann", at=1_700_000_000_000),
}
WHO: dict[str, dict[str, Any]] = {
    "no-tools-identity-session": {
        "identity": Identity(tenant="acme", principal="ann", conversation_id="t1"),
        "session_id": "s-1",
        "options": RunOptions(correlation_id="corr-1", trace_id="trace-1"),
    }
}


async def play(name: str) -> Ran:
    """Run a scenario."""
    make, message = AGENTS[name]
    ran, runner = Ran(), make()

    def hear(event: Event[Any]) -> None:
        ran.events.append(event_to_wire(event))

    runner.on("*", hear, form="wire")
    result: RunResult[Any]
    if name == "provider-fails":
        handle = runner.start(message)
        try:
            await handle.result()
        except RunCheckpointError:
            ran.recordings.append(handle.recording)
        return ran
    result = await runner.run(message, **WHO.get(name, {}))
    ran.recordings.append(result.recording)
    if name in ANSWERS:
        assert result.paused is not None
        result = await runner.resume(result.paused, ANSWERS[name])
        ran.recordings.append(result.recording)
    return ran
