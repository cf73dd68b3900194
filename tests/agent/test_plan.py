"""Tests of agentfootprint.agent.plan."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from agentfootprint import Agent, ConfigError, Fact, Limits, Mock, Output, Steering, tool
from agentfootprint.llm import LLMRequest
from agentfootprint.tools import Cassette as Tape
from agentfootprint.tools import replaying, static_tools


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


def unhinted(order_id):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201  the point of the test
    """Look up one order by its number. Use it when the user names an order."""
    return str(order_id)  # pyright: ignore[reportUnknownArgumentType]  it has no hint


@pytest.mark.parametrize(
    ("options", "option", "named"),
    [
        ({"tools": [lookup, lookup]}, "tools", "lookup"),
        ({"tools": [cast("Any", unhinted)]}, "tools.unhinted.order_id", "order_id"),
        ({"tools": [5]}, "tools", r"tools\[0\]"),
        ({"tools": [static_tools([lookup])]}, "tools", "source of tools"),
        ({"context": [Fact("a", "A."), [Steering("a", "B.")]]}, "context", "'a'"),
        ({"tools": [lookup], "context": [Fact("lookup", "A.")]}, "context", "fact 'lookup'.*tool 'lookup'"),
        ({"output": object()}, "output", "No schema"),
        ({"system": None}, "system", "NoneType"),
        ({"id": " "}, "id", "' '"),
        ({"id": 5}, "id", "5"),
        ({"tools": None}, "tools", "NoneType"),
        ({"context": "text"}, "context", "str"),
        ({"limits": {}}, "limits", "dict"),
        ({"record": "x"}, "record", "'x'"),
        ({"provider": Mock("y")}, "provider", "Both"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_cannot_work_is_refused_where_the_agent_is_made(options: Any, option: str, named: str) -> None:
    with pytest.raises(ConfigError, match=named) as caught:
        Agent(Mock("x"), **options)

    assert caught.value.option.startswith(option)
    assert caught.value.fix


def test_a_description_says_what_an_agent_is_made_of_and_never_its_words() -> None:
    agent = Agent(
        Mock("x"),
        id="desk",
        name="Desk",
        system="A secret prompt.",
        tools=[lookup],
        context=[Fact("who", "Dana."), Fact("late", "Late.", when=lambda turn: turn.iteration > 1)],
        output=int,
    )

    spec = dict(agent.spec)
    digest = spec.pop("fingerprint")
    assert spec == {
        "id": "desk",
        "name": "Desk",
        "provider": "mock",
        "model": "mock-model",
        "tools": ["lookup"],
        "context": [
            {"id": "who", "flavor": "fact", "trigger": "always"},
            {"id": "late", "flavor": "fact", "trigger": "rule"},
            {"id": "output-schema", "flavor": "instructions", "trigger": "always"},
        ],
    }
    assert isinstance(digest, str)
    assert len(digest) == 16


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({}, True),
        ({"name": "Other"}, True),
        ({"limits": Limits(iterations=3)}, True),
        ({"system": "Base!"}, False),
        ({"tools": []}, False),
        ({"context": [Fact("a", "A!")]}, False),
        ({"output": int}, False),
    ],
    ids=str,
)
def test_a_fingerprint_tells_apart_what_the_model_would_be_given(options: dict[str, Any], same: bool) -> None:
    given: dict[str, Any] = {"system": "Base.", "tools": [lookup], "context": [Fact("a", "A.")]}
    one = Agent(Mock("x"), **given)
    other = Agent(Mock("x"), **{**given, **options})

    assert (one.spec["fingerprint"] == other.spec["fingerprint"]) is same


@pytest.mark.parametrize(
    ("tools", "limits", "mounted"),
    [([], Limits(), False), ([lookup], Limits(wrap_up=False), False), ([lookup], Limits(), True)],
    ids=["no tools", "not wanted", "tools"],
)
def test_a_wrap_up_is_on_the_chart_only_where_it_could_run(tools: list[Any], limits: Limits, mounted: bool) -> None:
    agent = Agent(Mock("x"), tools=tools, limits=limits)

    assert ("wrap-up" in agent.plan.flow.by_id) is mounted


def test_agents_of_one_shape_share_a_chart() -> None:
    one, other = Agent(Mock("x"), system="One."), Agent(Mock("y"), system="Other.", context=[Fact("a", "A.")])
    retrying = Agent(Mock("x"), output=Output(int, retries=1))

    assert one.plan.flow is other.plan.flow
    assert one.plan.flow is not retrying.plan.flow


def nested(request: LLMRequest) -> Any:
    """Ask `ask` as often as the message has stars; then answer."""
    last = request.messages[-1]
    if last.role == "user" and last.content.endswith("*"):
        return Mock.call("ask", question=last.content[:-1])
    return f"<{last.content}>"


async def test_an_agent_may_run_inside_a_tool_of_itself_many_times_at_once() -> None:
    ids: list[str] = []

    @tool
    async def ask(question: str) -> str:
        """Ask the desk itself. Use it for whatever has a star."""
        inner = await agent.run(question)
        ids.append(inner.run_id)
        return inner.text

    agent: Agent[Any, str] = Agent(Mock(nested), tools=[ask])

    results = await asyncio.gather(*(agent.run(f"{name}***") for name in "abc"))

    assert [result.text for result in results] == ["<<<<a>>>>", "<<<<b>>>>", "<<<<c>>>>"]
    assert len({*ids, *(result.run_id for result in results)}) == 12
    assert [[m.role for m in result.messages] for result in results] == [["user", "assistant", "tool", "assistant"]] * 3
    assert all({e.meta.run_id for e in result.recording.events} == {result.run_id} for result in results)


async def test_a_run_inside_a_tool_has_limits_and_refusals_of_its_own() -> None:
    inner = Agent(
        Mock(lambda request: Mock.call("lookup", order_id="1") if request.tools else "Cut."),
        tools=[lookup],
        limits=Limits(iterations=1),
    )

    @tool
    async def delegate(task: str) -> str:
        """Hand a task to another agent. Use it for tasks."""
        return (await inner.run(task)).ended_because

    outer = Agent(Mock([Mock.call("delegate", task="x"), "Done."]), tools=[delegate])

    result = await outer.run("Go.")

    assert (result.tool_calls[0].result, result.ended_because, result.iterations) == ("budget", "answer", 2)


async def test_stopping_the_outer_run_stops_the_inner_one() -> None:
    fatal: list[str] = []
    begun = asyncio.Event()
    inner = Agent(Mock("x", delay=60.0))
    inner.on("agentfootprint.stream.llm_start", lambda event: begun.set())
    inner.on("agentfootprint.error.fatal", lambda event: fatal.append(event.type))

    @tool
    async def delegate(task: str) -> str:
        """Hand a task to another agent. Use it for tasks."""
        return (await inner.run(task)).text

    outer = Agent(Mock([Mock.call("delegate", task="x"), "Done."]), tools=[delegate])
    handle = outer.start("Go.")
    await begun.wait()

    await handle.cancel()

    assert (len(fatal), inner.inflight, outer.inflight) == (1, (), ())


async def test_a_run_that_a_live_tool_starts_in_a_rerun_is_answered_from_the_same_cassette() -> None:
    inner = Agent(Mock([Mock.call("lookup", order_id="9"), "In."]), tools=[lookup])

    @tool
    async def delegate(task: str) -> str:
        """Hand a task to another agent. Use it for tasks."""
        return str((await inner.run(task)).tool_calls[0].result)

    outer = Agent(Mock([Mock.call("delegate", task="x"), "Out."]), tools=[delegate])

    with replaying(Tape([("lookup", {"order_id": "9"}, "on tape", "on tape", False)], live=frozenset({"delegate"}))):
        result = await outer.run("Go.")

    assert result.tool_calls[0].result == "on tape"
