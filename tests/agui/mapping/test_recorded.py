"""Tests of agentfootprint.agui.mapping.recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint import Agent, Mock, RunResult, Tool, ToolCall, approve
from agentfootprint.agent import RecordOptions
from agentfootprint.agui import AgUiOptions, map_events, verify_events
from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.agui.mapping.outcomes import Interrupted, Succeeded
from agentfootprint.compose import Loop, Parallel, Sequence
from agentfootprint.events import ToolEnd
from agentfootprint.flow import RedactionPolicy
from agentfootprint.llm import LLMResponse
from agentfootprint.recording import Recording
from agentfootprint.tools import ToolContext
from tests.agui.client import Client, Wire, wire_of

EVERYTHING = AgUiOptions(
    state="live", messages_snapshot="always", custom=["agentfootprint.stream.*", "agentfootprint.agent.*"]
)
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
AMOUNT = {"type": "object", "properties": {"amount": {"type": "number"}}}


def says(text: str, *calls: tuple[str, str, dict[str, Any]]) -> LLMResponse:
    return LLMResponse(text, tool_calls=[ToolCall(*call) for call in calls])


def weather() -> Tool[..., Any]:
    async def look(ctx: ToolContext, city: str) -> object:
        ctx.progress({"message": f"asking {city}"})
        return {"city": city, "temp": 21}

    return Tool(look, name="weather", description="Look up the weather.", input_schema=CITY)


def refund() -> Tool[..., Any]:
    async def pay(amount: float) -> object:
        return {"sent": amount}

    return Tool(pay, name="refund", description="Send money back.", input_schema=AMOUNT, check_in="always")


def desk() -> Any:
    calls = (("c1", "weather", {"city": "Paris"}), ("c1", "weather", {"city": "Rome"}))
    return Agent(Mock([says("Let me check", *calls), "It is 21 in both."]), tools=[weather()])


def member(name: str) -> Any:
    return Agent(Mock([says("", ("c1", "weather", {"city": name})), f"{name} is warm."]), tools=[weather()])


def fan() -> Any:
    return Parallel({"x": member("Oslo"), "y": member("Rome")}, merge=lambda parts: " / ".join(parts.values()))


def pipe() -> Any:
    return Sequence([member("Oslo"), Loop(member("Rome"), max_iterations=1)])


RUNNERS = [desk, fan, pipe]


async def followed(runner: Any, mapper: Mapper, message: str = "Weather?") -> tuple[list[Any], RunResult[Any]]:
    sent = mapper.begin()
    async with runner.stream(message) as run:
        async for event in run:
            sent += mapper.map(event)
        return sent, await run.result()


@pytest.mark.parametrize("make", RUNNERS)
async def test_a_saved_recording_gives_what_the_live_run_gave(make: Callable[[], Any]) -> None:
    mapper = Mapper("t-1", "r-1", EVERYTHING)
    live, result = await followed(make(), mapper)
    live += mapper.end()
    saved = Recording.from_wire(result.recording.to_wire())

    now, later = (
        list(map_events(events, thread_id="t-1", run_id="r-1", options=EVERYTHING))
        for events in (result.recording.events, saved.events)
    )

    verify_events(live)
    assert wire_of(now) == wire_of(live)
    assert wire_of(later) == wire_of(live)


async def test_what_a_client_holds_is_what_was_said_and_done() -> None:
    mapper = Mapper("t-1", "r-1")
    sent, result = await followed(desk(), mapper)

    sent += mapper.end(Succeeded(text=result.text))

    said, *results, answer = Client(wire_of(sent)).messages
    assert [call["function"]["arguments"] for call in said["toolCalls"]] == ['{"city":"Paris"}', '{"city":"Rome"}']
    assert [each["content"] for each in results] == ['{"city":"Paris","temp":21}', '{"city":"Rome","temp":21}']
    assert [each["toolCallId"] for each in results] == [call["id"] for call in said["toolCalls"]]
    assert answer["content"] == result.text
    assert wire_of(sent)[-1]["result"] == result.text


async def test_agents_side_by_side_keep_their_calls_apart_and_the_merged_answer_is_shown() -> None:
    mapper = Mapper("t-1", "r-1", history=())
    sent, result = await followed(fan(), mapper)

    sent += mapper.end(Succeeded(text=result.text))

    messages = Client(wire_of(sent)).messages
    calls = {call["id"]: message["id"] for message in messages for call in message.get("toolCalls", ())}
    assert len(calls) == 2
    assert all(call.split("/")[3] == message.split("/")[3] for call, message in calls.items())
    assert messages[-1]["content"] == "Oslo is warm. / Rome is warm."


async def test_a_paused_run_and_its_resume_are_two_runs_of_one_thread() -> None:
    calls = (("c1", "refund", {"amount": 900}), ("c1", "refund", {"amount": 5}))
    agent = Agent(Mock([says("Refunding.", *calls), "Sent."]), tools=[refund()])
    first = Mapper("t-1", "r-1")
    paused, asked = await followed(agent, first)
    paused += first.end(Interrupted())

    assert asked.paused is not None
    resumed = await agent.resume(asked.paused, approve(by="ann"))
    second = Mapper("t-1", "r-2", open_calls=first.open_calls, message_ids=first.message_ids, history=first.messages)
    after = [*second.begin(), *(each for event in resumed.recording.events for each in second.map(event))]
    after += second.end(Succeeded(text=resumed.text))

    verify_events([*paused, *after])
    client = Client(wire_of([*paused, *after]))
    assert client.messages == wire_of(second.messages)
    assert [message["role"] for message in client.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert len({message["id"] for message in client.messages}) == 5
    assert second.open_calls == ()


@pytest.mark.parametrize(
    "policy",
    [
        RedactionPolicy(keys=["args", "result", "toolCallId", "content", "userPrompt", "finalContent", "payload"]),
        RedactionPolicy(emit_patterns=[r"agentfootprint\."]),
    ],
)
async def test_what_a_policy_hides_is_in_nothing_that_is_sent(policy: RedactionPolicy) -> None:
    options = AgUiOptions(state="live", messages_snapshot="always", custom=["*"], raw=True, text="record")
    script = [says("SWORDFISH 1", ("SWORDFISH", "weather", {"city": "SWORDFISH"})), "SWORDFISH 2"]
    agent = Agent(Mock(script), tools=[weather()], record=RecordOptions(redaction=policy))
    mapper = Mapper("t-1", "r-1", options)

    sent, result = await followed(agent, mapper, "SWORDFISH?")
    sent += mapper.end(Succeeded(text=result.text))
    read = map_events(result.recording.events, thread_id="t-1", run_id="r-1", options=options)

    assert result.text == "SWORDFISH 2"
    assert "SWORDFISH" not in str(wire_of(sent))
    assert "SWORDFISH" not in str(wire_of(read))
    assert "[REDACTED]" in str(wire_of(sent))
    verify_events(sent)


async def test_the_same_recording_gives_the_same_ids_and_another_run_others() -> None:
    result = await desk().run("Weather?")

    def ids(run_id: str) -> list[str]:
        sent: list[Wire] = wire_of(map_events(result.recording.events, thread_id="t-1", run_id=run_id))
        return [each[key] for each in sent for key in ("messageId", "toolCallId") if key in each]

    assert ids("r-1") == ids("r-1")
    assert not set(ids("r-1")) & set(ids("r-2"))
    assert any(isinstance(event.payload, ToolEnd) for event in result.recording.events)


def test_a_run_id_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="runId"):
        map_events([], thread_id="t-1", run_id="")
