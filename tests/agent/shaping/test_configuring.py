"""Tests of agentfootprint.agent.shaping.configuring."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Fact, Identity, LLMCall, Mock, RunOptions, ask_human, tool
from agentfootprint.agent import ConfigureContext, Configured
from agentfootprint.events import Event, RunConfigured
from agentfootprint.llm import LLMRequest


def recording_model() -> tuple[Mock, list[LLMRequest]]:
    asked: list[LLMRequest] = []

    def model(request: LLMRequest) -> str:
        asked.append(request)
        return "ok"

    return Mock(model), asked


def test_a_run_gets_the_model_and_the_base_prompt_that_configure_says() -> None:
    model, asked = recording_model()
    seen: list[ConfigureContext[Any]] = []

    def configure(run: ConfigureContext[Any]) -> Configured | None:
        seen.append(run)
        return Configured(model="big", instructions="Be thorough.") if "long" in run.message else None

    agent = Agent(model, system="Be terse.", context=[Fact("day", "Monday.")], configure=configure)
    short = agent.run_sync("short", deps=7, identity=Identity(conversation_id="c"))
    long = agent.run_sync("a long one")

    assert [request.model for request in asked] == ["mock-model", "big"]
    assert [request.system_prompt for request in asked] == ["Be terse.\n\nMonday.", "Be thorough.\n\nMonday."]
    assert "resolvedModel" not in short.recording.snapshot["sharedState"]
    assert long.recording.snapshot["sharedState"]["resolvedInstructions"] == "Be thorough."
    first = seen[0]
    assert (first.message, first.deps, first.run_id) == ("short", 7, short.run_id)
    assert (first.identity, first.defaults.model, first.defaults.instructions) == (
        Identity(conversation_id="c"),
        "mock-model",
        "Be terse.",
    )


def test_an_empty_text_empties_the_base_prompt() -> None:
    model, asked = recording_model()
    Agent(model, system="Be terse.").run_sync("go", options=RunOptions(instructions=""))

    assert asked[0].system_prompt is None


def test_what_the_caller_says_for_a_run_goes_over_configure_field_by_field() -> None:
    model, asked = recording_model()
    agent = Agent(model, configure=lambda _: Configured(model="from-configure", instructions="From configure."))
    result = agent.run_sync("go", options=RunOptions(model="from-options"))

    assert (asked[0].model, asked[0].system_prompt) == ("from-options", "From configure.")
    assert result.recording.snapshot["sharedState"]["resolvedModel"] == "from-options"


def test_the_manifest_says_that_the_model_may_be_another() -> None:
    told: list[RunConfigured] = []

    def hear(event: Event[RunConfigured]) -> None:
        told.append(event.payload)

    for agent, options in (
        (Agent("mock"), None),
        (Agent("mock", configure=lambda _: None), None),
        (Agent("mock"), RunOptions(model="m")),
    ):
        agent.on(RunConfigured.type, hear)
        agent.run_sync("go", options=options)

    assert [payload.llm.model_overrides for payload in told] == [None, ("configure",), ("configure",)]
    assert {payload.llm.model for payload in told} == {"mock-model"}


def test_a_resolver_that_raises_fails_the_run_before_the_first_call() -> None:
    model, asked = recording_model()

    def configure(run: ConfigureContext[Any]) -> Configured | None:
        raise LookupError("no such tenant plan")

    with pytest.raises(LookupError, match="no such tenant plan"):
        Agent(model, configure=configure).run_sync("go")

    assert asked == []


def test_what_configure_may_not_return_fails_the_run() -> None:
    with pytest.raises(ConfigError, match=r"configure returned a dict"):
        Agent("mock", configure=lambda _: {"model": "m"}).run_sync("go")  # type: ignore[arg-type, return-value]


def test_a_resolver_that_can_not_be_asked_is_refused_at_construction() -> None:
    async def later(run: ConfigureContext[Any]) -> Configured | None:
        return None

    with pytest.raises(ConfigError, match=r"configure is of the type str"):
        Agent("mock", configure="m")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"configure is an async function"):
        Agent("mock", configure=later)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"The model of a run is empty"):
        RunOptions(model=" ")
    with pytest.raises(ConfigError, match=r"instructions of a run is of the type int"):
        Configured(instructions=3)  # type: ignore[arg-type]


def test_a_paused_run_goes_on_with_the_model_and_the_prompt_it_had() -> None:
    asked: list[tuple[str, str | None]] = []

    @tool
    def confirm() -> str:
        """Ask a person. Use it first."""
        ask_human("Sure?")

    def model(request: LLMRequest) -> Any:
        asked.append((request.model, request.system_prompt))
        return Mock.call("confirm") if len(request.messages) == 1 else "done"

    agent = Agent(Mock(model), system="Base.", tools=[confirm])
    result = agent.run_sync("go", options=RunOptions(model="big", instructions="Be thorough."))
    assert result.paused is not None
    stored = result.paused.checkpoint.to_json()
    other = agent.resume_sync(type(result.paused.checkpoint).from_json(stored), "yes")

    assert other.text == "done"
    assert asked == [("big", "Be thorough."), ("big", "Be thorough.")]


def test_a_proof_re_runs_what_the_run_had() -> None:
    seen: set[tuple[str, str | None]] = set()

    def model(request: LLMRequest) -> str:
        seen.add((request.model, (request.system_prompt or "").partition("\n")[0]))
        return "APPROVED" if "VIP" in (request.system_prompt or "") else "DECLINED"

    agent = Agent(Mock(model), system="Base.", context=[Fact("vip", "Dana is VIP.")])
    result = agent.run_sync("Refund?", options=RunOptions(model="big", instructions="Be thorough."))
    seen.clear()
    result.prove_sync(runs=24)

    assert seen == {("big", "Be thorough.")}


def test_a_single_call_takes_them_too() -> None:
    model, asked = recording_model()
    LLMCall(model, system="Base.").run_sync("go", options=RunOptions(model="big", instructions="Other."))

    assert (asked[0].model, asked[0].system_prompt) == ("big", "Other.")
