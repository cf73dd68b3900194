"""Tests of agentfootprint.providers.resolving."""

from __future__ import annotations

import pytest

from agentfootprint import Agent, ConfigError, Mock
from agentfootprint.providers import resolve_provider


@pytest.mark.parametrize("spec", ["mock", "mock:", "mock:mock-1", "MOCK", " Mock :big"])
def test_the_mock_is_found_whatever_its_model_is_called(spec: str) -> None:
    assert isinstance(resolve_provider(spec), Mock)


def test_every_string_gives_a_provider_of_its_own() -> None:
    assert resolve_provider("mock") is not resolve_provider("mock")


@pytest.mark.parametrize(
    ("spec", "model"), [("mock", "mock-model"), ("mock:", "mock-model"), ("mock:x", "x"), ("mock:a:b", "a:b")]
)
def test_what_follows_the_vendor_is_the_model(spec: str, model: str) -> None:
    seen: list[str] = []
    agent = Agent(spec)
    agent.on("agentfootprint.stream.llm_start", lambda event: seen.append(event.payload.model))

    result = agent.run_sync("hello")

    assert seen == [model]
    assert (result.text, result.cost_usd) == ("echo: hello", 0.0)


@pytest.mark.parametrize("vendor", ["anthropic", "openai", "azure", "bedrock", "gemini", "ollama"])
@pytest.mark.parametrize("form", ["{}", "{}:a-model", "{}:", " {}:x"])
def test_a_vendor_that_is_not_built_is_named_with_a_way_on(vendor: str, form: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"the vendor '{vendor}', whose adapter is not part of this version"
    ) as caught:
        resolve_provider(form.format(vendor))

    assert caught.value.option == "model"
    assert "Agent(Mock(" in caught.value.fix


@pytest.mark.parametrize(
    "spec", ["", " ", ":", ":x", "nope", "nope:x", "claude-sonnet-4-5", "anthropic/claude", "mocks:x"]
)
def test_what_names_no_vendor_is_shown_and_told_the_form(spec: str) -> None:
    with pytest.raises(ConfigError, match=r"names no vendor") as caught:
        Agent(spec)

    assert repr(spec) in caught.value.problem
    assert '"vendor:model"' in caught.value.fix
    assert caught.value.option == "model"
