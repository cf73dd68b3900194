"""Tests of agentfootprint.agent.agent."""

from __future__ import annotations

import asyncio
import random
from typing import Any, cast

import pytest

from agentfootprint import Agent, ConfigError, Fact, Limits, Mock, RunOptions, Steering, tool
from agentfootprint.errors import BlockingCallError
from agentfootprint.events import Event
from agentfootprint.explain import UnknownSourceError
from agentfootprint.llm import LLMRequest, LLMResponse


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


def test_a_run_answers_one_message_and_remembers_nothing() -> None:
    agent = Agent(Mock(lambda request: f"{len(request.messages)} message(s)"))

    first, second = agent.run_sync("one"), agent.run_sync("two")

    assert (first.text, second.text) == ("1 message(s)", "1 message(s)")
    assert first.run_id != second.run_id


def test_a_message_may_be_an_object() -> None:
    assert Agent(Mock("Hi.")).run_sync({"message": "hello"}).text == "Hi."


async def test_the_blocking_twin_refuses_inside_a_running_loop() -> None:
    with pytest.raises(BlockingCallError, match=r"Await Agent\.run instead"):
        Agent(Mock("Hi.")).run_sync("hello")


def test_a_plain_typed_function_is_a_tool() -> None:
    async def weather(city: str) -> str:
        """Weather by city. Use it when asked about the weather."""
        return f"{city}: rain"

    agent = Agent(Mock([Mock.call("weather", city="Paris"), "Rain."]), tools=[weather])

    assert agent.run_sync("Weather in Paris?").tool_calls[0].result == "Paris: rain"


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"lookup"):
        Agent(Mock("x"), tools=[lookup, lookup])


@pytest.mark.parametrize("given", ["no", None, 1])
def test_whether_to_cache_is_yes_or_no(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"caching is of the type \w+\. Use True or False\."):
        Agent(Mock("Hi."), caching=given)


def test_two_pieces_of_one_id_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"'tone'"):
        Agent(Mock("x"), context=[Steering("tone", "Kind."), Fact("tone", "A fact.")])


def test_a_function_without_type_hints_is_refused_naming_the_parameter() -> None:
    def broken(order_id):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  the point of the test
        """Look up one order by its number. Use it when the user names an order."""
        return str(order_id)  # pyright: ignore[reportUnknownArgumentType]  it has no hint

    with pytest.raises(ConfigError, match=r"order_id"):
        Agent(Mock("x"), tools=[cast("Any", broken)])


@pytest.mark.parametrize("spec", ["bedrock:claude-x", "gemini:gemini-x"])
def test_the_model_string_of_a_vendor_that_is_not_built_is_refused_by_name(spec: str) -> None:
    with pytest.raises(ConfigError, match=spec.partition(":")[0]) as caught:
        Agent(spec)

    assert "Mock" in caught.value.fix


def test_an_unknown_model_string_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'no-such-thing' names no vendor"):
        Agent("no-such-thing:x")


def test_the_model_string_of_the_mock_names_the_model() -> None:
    assert Agent("mock:mock-1").plan.model == "mock-1"


@pytest.mark.parametrize(
    ("pattern", "fix"),
    [
        ("agentfootprint.stream.tokenz", r"Did you mean 'agentfootprint\.stream\.token'"),
        ("agentfootprint.zzzz", r"EVENT_TYPES"),
    ],
)
def test_an_event_type_of_the_library_that_does_not_exist_is_refused(pattern: str, fix: str) -> None:
    with pytest.raises(ConfigError, match=fix) as caught:
        Agent(Mock("x")).on(pattern, print)

    assert repr(pattern) in caught.value.problem


def test_event_types_of_an_application_may_be_listened_to() -> None:
    assert Agent(Mock("x")).on("shop.sold", print).active


@pytest.mark.parametrize("session_id", [5, "a\nb", "a\x00"], ids=repr)
def test_a_session_id_that_is_no_line_of_text_is_refused(session_id: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Agent(Mock("x")).run_sync("hi", session_id=session_id)

    assert caught.value.option == "session_id"


def test_an_agent_without_a_source_is_another_agent() -> None:
    agent = Agent(Mock("x"), tools=[lookup], context=[Fact("vip", "A VIP."), Fact("style", "Two sentences.")])

    less = agent.without(["vip"])

    assert [piece.id for piece in less.plan.context.pieces] == ["style"]
    assert list(less.plan.tools) == ["lookup"]
    assert [piece.id for piece in agent.plan.context.pieces] == ["vip", "style"]


def test_leaving_out_what_is_not_there_names_what_is() -> None:
    agent = Agent(Mock("x"), tools=[lookup], context=[Fact("vip-override", "A VIP.")])

    with pytest.raises(UnknownSourceError, match=r"vip-overide") as caught:
        agent.without(["vip-overide"])

    assert "vip-override" in str(caught.value)


def test_limits_of_a_run_go_over_those_of_the_agent() -> None:
    script = [Mock.call("lookup", order_id=str(n)) for n in range(9)]
    agent = Agent(Mock([*script, "Never."]), tools=[lookup], limits=Limits(iterations=9, wrap_up=False))

    result = agent.run_sync("Go on.", limits=Limits(iterations=2))

    assert (result.iterations, result.ended_because) == (2, "budget")


def test_a_run_can_carry_the_callers_ids() -> None:
    seen: list[Event[Any]] = []
    agent = Agent(Mock("Hi."))
    agent.on("agentfootprint.agent.turn_end", seen.append)

    agent.run_sync("x", session_id="s-1", options=RunOptions(run_id="mine", correlation_id="c", trace_id="t"))

    meta = seen[0].meta
    assert (meta.run_id, meta.session_id, meta.correlation_id, meta.trace_id) == ("mine", "s-1", "c", "t")


def test_listening_once_and_closing_end_a_subscription() -> None:
    seen: list[str] = []
    agent = Agent(Mock("Hi."))
    agent.on("agentfootprint.agent.turn_start", lambda event: seen.append("once"), once=True)
    with agent.on("agentfootprint.agent.turn_start", lambda event: seen.append("open")):
        agent.run_sync("x")
    agent.run_sync("x")

    assert sorted(seen) == ["once", "open"]


def test_a_listener_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(event: Event[Any]) -> None:
        raise RuntimeError("mine")

    agent = Agent(Mock("Hi."))
    agent.on("*", broken)

    assert agent.run_sync("x").text == "Hi."
    assert "mine" in caplog.text


def test_native_listeners_hear_of_a_piece_once_and_wire_listeners_in_every_iteration() -> None:
    agent = Agent(
        Mock([Mock.call("lookup", order_id="A-1"), "Shipped."]), tools=[lookup], context=[Fact("vip", "A VIP.")]
    )
    heard: dict[str, list[str]] = {"native": [], "wire": []}
    agent.on("agentfootprint.context.injected", lambda e: heard["native"].append(e.payload.source))
    agent.on("agentfootprint.context.injected", lambda e: heard["wire"].append(e.payload.source), form="wire")

    agent.run_sync("A-1?")

    assert heard["native"] == ["fact", "user", "registry", "assistant", "tool-result"]
    assert heard["wire"] == ["fact", "user", "registry", "fact", "user", "assistant", "tool-result", "registry"]


def test_what_a_slot_carries_over_is_counted_in_its_meta() -> None:
    agent = Agent(Mock([Mock.call("lookup", order_id="A-1"), "Shipped."]), tools=[lookup], system="Be brief.")
    seen: list[Event[Any]] = []
    agent.on("agentfootprint.context.slot_composed", seen.append)

    agent.run_sync("A-1?")

    second = {event.payload.slot: event.meta.carried for event in seen[3:]}
    assert second["system-prompt"] is not None
    assert (second["system-prompt"].count, second["system-prompt"].from_) == (1, "sf-system-prompt/compose#8")
    assert second["messages"] is not None
    assert second["messages"].count == 1


async def test_a_hundred_concurrent_runs_keep_results_events_and_recordings_apart() -> None:
    rng = random.Random(7)

    @tool
    async def echo(word: str) -> str:
        """Say a word back, after a while. Use it for every word."""
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        return f"heard {word}"

    def model(request: LLMRequest) -> str | LLMResponse:
        word = request.messages[0].content
        if request.messages[-1].role == "user":
            return Mock.call("echo", word=word)
        return f"answer to {word}: {request.messages[-1].content}"

    agent = Agent(Mock(model, delay=0.0), tools=[echo], context=[Fact("same", "For all.")])
    heard: dict[str, list[str]] = {}
    agent.on("*", lambda event: heard.setdefault(event.meta.run_id, []).append(event.type))

    results = await asyncio.gather(*(agent.run(f"word-{n}") for n in range(100)))

    assert [result.text for result in results] == [f"answer to word-{n}: heard word-{n}" for n in range(100)]
    assert len({result.run_id for result in results}) == 100
    assert {tuple(types) for types in heard.values()} == {tuple(heard[results[0].run_id])}
    for n, result in enumerate(results):
        recording = result.recording
        assert recording.run_id == result.run_id
        assert recording.user_message == f"word-{n}"
        assert {event.meta.run_id for event in recording.events} == {result.run_id}
        assert [use.result for use in recording.tool_uses] == [f"heard word-{n}"]


@pytest.mark.parametrize("name", [5, None, b"desk", ["desk"]])
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Agent(Mock("Hi."), name=name)

    assert caught.value.option == "name"
    assert type(name).__name__ in str(caught.value)


@pytest.mark.parametrize("id_", [5, b"desk", "", "  "])
def test_an_id_that_is_no_text_or_empty_is_refused(id_: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Agent(Mock("Hi."), id=id_)

    assert caught.value.option == "id"
