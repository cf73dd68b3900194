"""Tests of agentfootprint.compose.chaining."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Limits, LLMCall, Mock, Sequence
from agentfootprint.agent import InvalidRunInputError
from agentfootprint.compose import CompositionError, Step, runner
from tests.compose.parts import boom, brackets, ex, heard_by, up


async def test_each_step_is_asked_what_the_one_before_it_said() -> None:
    line = Sequence([Step("loud", up), Step("sure", ex)])

    result = await line.run("hi")

    assert result.output == result.text == "HI!"
    assert [message.content for message in result.messages] == ["hi", "HI!"]
    assert result.ended_because == "answer"


async def test_agents_and_calls_are_steps_and_what_they_used_is_summed() -> None:
    line = Sequence([Agent(Mock("one"), id="a"), LLMCall(Mock("two"), id="b")])

    result = await line.run("go")

    assert result.output == "two"
    assert result.iterations == 2
    assert result.usage.output == 2
    assert result.cost_usd == 0.0


async def test_a_pipe_makes_the_message_of_its_step_also_of_the_first() -> None:
    line = Sequence([Step("a", up, pipe=lambda asked: {"message": f"<{asked}>"}), Step("b", ex, pipe=str.lower)])

    assert (await line.run("hi")).output == "<hi>!"


def broken(_: str) -> str:
    raise KeyError("no such thing")


def seven(_: str) -> Any:
    return 7


@pytest.mark.parametrize("pipe", [broken, seven])
async def test_a_pipe_that_fails_is_told_of_by_its_step_and_closes_the_bracket(pipe: Any) -> None:
    line = Sequence([Step("a", up), Step("b", ex, pipe=pipe)], id="line")
    heard = heard_by(line)

    with pytest.raises(CompositionError, match=r"'line' failed: the message for 'b' could not be made") as caught:
        await line.run("hi")

    assert caught.value.child_ids == ("b",)
    assert caught.value.__cause__ is not None
    assert brackets(heard)[-1] == ("exit", "line", "err")


async def test_what_a_step_raises_is_raised_and_the_bracket_is_closed_where_it_was_raised() -> None:
    line = Sequence([Step("a", up), Step("b", boom)], id="line")
    heard = heard_by(line)

    with pytest.raises(TypeError, match=r"^kaput\b"):
        await line.run("hi")

    assert brackets(heard) == [("enter", "line", "seed#0"), ("exit", "line", "err")]
    assert [event.meta.runtime_stage_id for event in heard[-2:]] == ["step-b#3", "__root__#0"]
    assert heard[-1].type == "agentfootprint.error.fatal"


async def test_a_step_that_gives_no_text_is_refused_by_name() -> None:
    @runner
    async def number(message: str) -> int:
        return len(message)

    with pytest.raises(CompositionError, match=r"'count' gave a int"):
        await Sequence([Step("count", number), Step("b", ex)]).run("hi")


@pytest.mark.parametrize("message", ["", "  \n", None, 7, {"text": "hi"}])
async def test_what_is_no_message_is_refused_before_anybody_is_asked(message: Any) -> None:
    asked: list[str] = []

    @runner
    async def note(message: str) -> str:
        asked.append(message)
        return message

    with pytest.raises(InvalidRunInputError, match=r"^Sequence\.run needs a message"):
        await Sequence([Step("note", note)]).run(message)

    assert asked == []


async def test_an_empty_answer_is_no_message_for_the_next_agent() -> None:
    with pytest.raises(InvalidRunInputError, match=r"Agent\.run needs a message, but got an empty text"):
        await Sequence([LLMCall(Mock([""]), id="a"), Agent(Mock("x"), id="b")]).run("hi")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], "without steps"),
        ([Step("a", up), Step("a", ex)], "two steps with the id 'a'"),
        ([Agent(Mock("x")), Agent(Mock("y"))], "two steps with the id 'agent'"),
        ([Step("a/b", up)], "separates the parts of an address"),
        ([Step(" ", up)], "has a step with the id ' '"),
        ([str.upper], "is a method_descriptor, which is no runner"),
        ([Step("a", "mock")], "The step 'a' of Sequence is a str"),  # type: ignore[arg-type]
        ([Step("a", up, pipe="x")], "is no function"),  # type: ignore[arg-type]
        (None, "steps of Sequence is a NoneType"),
        (up, "steps of Sequence is a FunctionRunner"),
        ("ab", "steps of Sequence is a str"),
    ],
)
def test_what_can_not_run_is_refused_when_it_is_made(steps: Any, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Sequence(steps)

    assert words in str(caught.value)


def test_a_step_may_begin_as_the_librarys_own_do_since_it_stands_behind_a_prefix() -> None:
    assert Sequence([Step("sf-a", up)]).run_sync("hi").output == "HI"


def test_limits_that_only_an_agent_has_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"limits\.iterations decides nothing"):
        Sequence([Step("a", up)], limits=Limits(iterations=3))
    with pytest.raises(ConfigError, match=r"limits\.iterations decides nothing"):
        Sequence([Step("a", up)]).run_sync("hi", limits=Limits(iterations=3))
