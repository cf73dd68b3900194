"""Tests of agentfootprint.providers.resolving."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Mock
from agentfootprint.llm import MissingCredentialError
from agentfootprint.providers import AnthropicProvider, OllamaProvider, OpenAIProvider, resolve_provider


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


@pytest.mark.parametrize("vendor", ["openai-responses", "bedrock", "gemini", "foundry"])
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


@pytest.mark.parametrize(
    ("spec", "kind", "model"),
    [
        ("anthropic:claude-x", AnthropicProvider, "claude-x"),
        (" OpenAI : gpt-x", OpenAIProvider, "gpt-x"),
        ("ollama:qwen3:8b", OllamaProvider, "qwen3:8b"),
    ],
)
def test_a_vendor_is_made_with_its_model_and_the_key_of_the_environment(
    spec: str, kind: type[Any], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    provider = resolve_provider(spec)

    assert isinstance(provider, kind)
    assert getattr(provider, "default_model", None) == model
    assert Agent(spec).plan.model == model


@pytest.mark.parametrize("vendor", ["anthropic", "openai"])
def test_a_missing_key_is_named_with_a_way_on(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"{vendor.upper()}_API_KEY", raising=False)

    with pytest.raises(MissingCredentialError, match=f"{vendor.upper()}_API_KEY is not set") as caught:
        Agent(f"{vendor}:some-model").run_sync("hello")

    assert "Agent(Mock(" in caught.value.fix
    assert "some-model" not in str(caught.value)
