"""Tests of agentfootprint.agent.options."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Gates, Limits, Mock, ModelSettings, RecordOptions, RunOptions, tool
from agentfootprint import ToolContext as Context
from agentfootprint.agent import DeadlineExceededError, Output
from agentfootprint.llm import LLMRequest

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("group", "field", "values"),
    [
        (Limits, "limits.iterations", (0, -1, 1.0, True, "3", None)),
        (Limits, "limits.invalid_args", (0, 2.5, False)),
        (Limits, "limits.wrap_up", ("no", 0, None)),
        (Limits, "limits.deadline", (0, -1.5, NAN, INF, True, "5")),
        (ModelSettings, "settings.temperature", (NAN, INF, True, "hot")),
        (ModelSettings, "settings.max_tokens", (0, 1.5, True)),
        (ModelSettings, "settings.thinking", (0, -1, "much")),
        (Gates, "gates.tool_args", ("no", None, 1)),
        (Gates, "gates.repeated_call_note", ("yes", None)),
        (RecordOptions, "record.system_prompt", ("yes", 1)),
        (RunOptions, "options.run_id", ("", " \n", 5, "a\nb", "a\x00", "a\x1b[0m", "a\u2028b", "a\ud83d")),
        (RunOptions, "options.correlation_id", (5, "a\rb")),
        (RunOptions, "options.trace_id", (b"t",)),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_value_that_cannot_work_is_refused_naming_the_option_and_a_fix(
    group: Any, field: str, values: tuple[Any, ...]
) -> None:
    for value in values:
        with pytest.raises(ConfigError) as caught:
            group(**{field.partition(".")[2]: value})

        assert caught.value.option == field
        assert field in caught.value.problem
        assert caught.value.fix


@pytest.mark.parametrize(
    "group",
    [
        Limits(iterations=1, deadline=0.5, invalid_args=1),
        ModelSettings(temperature=0, max_tokens=1, thinking=1),
        Gates(tool_args="off"),
        RunOptions(run_id="Büro 7/mine", record=False),
        Output(int, retries=10),
    ],
    ids=lambda group: type(group).__name__,
)
def test_a_group_of_options_never_changes(group: Any) -> None:
    for field in dataclasses.fields(group):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(group, field.name, None)


@pytest.mark.parametrize("option", ["settings", "limits", "gates"])
def test_something_else_in_place_of_a_group_is_refused_by_agent_and_run(option: str) -> None:
    wrong: Any = {option: object()}

    with pytest.raises(ConfigError, match=r"of the type object") as of_agent:
        Agent(Mock("x"), **wrong)
    with pytest.raises(ConfigError, match=r"of the type object") as of_run:
        Agent(Mock("x")).run_sync("hi", **wrong)

    assert (of_agent.value.option, of_run.value.option) == (option, option)


def asked(settings: ModelSettings | None, for_run: ModelSettings | None = None) -> LLMRequest:
    seen: list[LLMRequest] = []
    agent = Agent(Mock(lambda request: seen.append(request) or "x"), settings=settings)
    agent.run_sync("hi", settings=for_run)
    return seen[0]


def test_settings_of_a_run_go_field_by_field_over_those_of_the_agent() -> None:
    request = asked(ModelSettings(temperature=0.2, max_tokens=100), ModelSettings(temperature=0.9))

    assert (request.temperature, request.max_tokens, request.thinking) == (0.9, 100, None)


def test_what_nobody_set_is_not_sent() -> None:
    request = asked(None)

    assert (request.temperature, request.max_tokens, request.thinking, request.tools) == (None, None, None, None)


def test_a_temperature_of_nought_is_set() -> None:
    assert asked(ModelSettings(temperature=0.9), ModelSettings(temperature=0)).temperature == 0


@pytest.mark.parametrize(("limits", "known"), [(None, False), (Limits(deadline=60), True)], ids=["none", "minute"])
def test_a_tool_knows_the_deadline_of_its_run(limits: Limits | None, known: bool) -> None:
    seen: list[bool] = []

    @tool
    async def look(what: str, ctx: Context) -> str:
        """Look. Use it to look."""
        seen.append(ctx.deadline is not None)
        return what

    Agent(Mock([Mock.call("look", what="x"), "Done."]), tools=[look]).run_sync("Go.", limits=limits)

    assert seen == [known]


async def test_the_deadline_of_a_run_goes_over_that_of_the_agent() -> None:
    agent = Agent(Mock("x", delay=60.0), limits=Limits(deadline=60))

    with pytest.raises(DeadlineExceededError) as caught:
        await agent.run("hi", limits=Limits(deadline=0.001), options=RunOptions(run_id="mine"))

    assert (caught.value.deadline, caught.value.run_id) == (0.001, "mine")


def test_the_gates_of_a_run_go_over_those_of_the_agent() -> None:
    @tool
    async def double(n: int) -> int:
        """Double a number. Use it to double."""
        return n * 2

    agent = Agent(Mock([Mock.call("double", n="x"), "Done."], cursor="run"), tools=[double])

    refused = agent.run_sync("Go.").tool_calls[0]
    ran = agent.run_sync("Go.", gates=Gates(tool_args="warn")).tool_calls[0]

    assert (refused.dispatched, ran.dispatched) == (False, True)


@tool
def look() -> str:
    """Look. Use it always."""
    return "seen"


def test_a_run_may_write_a_default_over_what_the_agent_chose() -> None:
    agent = Agent(Mock(lambda request: Mock.call("look")), tools=[look], limits=Limits(iterations=2, wrap_up=True))

    assert agent.run_sync("go", limits=Limits(iterations=10, wrap_up=False)).iterations == 10
    assert agent.run_sync("go", limits=Limits(deadline=60)).iterations == 3


def test_a_run_cannot_ask_for_the_wrap_up_that_its_agent_was_made_without() -> None:
    agent = Agent(Mock("x"), tools=[look], limits=Limits(wrap_up=False))

    with pytest.raises(ConfigError, match="without a wrap-up") as caught:
        agent.run_sync("go", limits=Limits(wrap_up=True))

    assert caught.value.option == "limits.wrap_up"


@pytest.mark.parametrize(("of_run", "kept"), [(None, None), (RecordOptions(system_prompt=True), "Be brief.")])
def test_what_a_run_records_goes_over_what_its_agent_records(of_run: RecordOptions | None, kept: str | None) -> None:
    agent = Agent(Mock("x"), system="Be brief.")
    heard: list[Any] = []
    agent.on("agentfootprint.stream.llm_start", lambda event: heard.append(event.payload.system_prompt_text))

    agent.run_sync("go", options=RunOptions(record=of_run))

    assert heard == [kept]
