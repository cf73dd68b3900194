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
    assert "a-model" not in str(caught.value)
    assert "Agent(Mock(" in caught.value.fix


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("", ""),
        (" ", ""),
        (":", ""),
        (":x", ""),
        ("nope", " 'nope'"),
        (" Nope:sk-x", " 'nope'"),
        ("claude-sonnet-4-5", " 'claude-sonnet-4-5'"),
        ("mocks:x", " 'mocks'"),
        ("anthropic/claude", ""),
        ("sk-hunter2:foo", ""),
        ("sk-hunter2", ""),
        ("sk-proj-Hunter2-and-more-of-it", ""),
        ("AIzaHunter2:x", ""),
        ("gsk_hunter2", ""),
        ("hunter2-9f3c1a77", ""),
        ("a" * 21, ""),
    ],
)
def test_what_names_no_vendor_is_told_the_form_and_shown_only_if_it_is_no_key(spec: str, shown: str) -> None:
    with pytest.raises(ConfigError, match=r"names no vendor") as caught:
        Agent(spec)

    assert caught.value.problem == f"The model string{shown} names no vendor that is known."
    assert '"vendor:model"' in caught.value.fix
    assert caught.value.option == "model"
