"""Tests of agentfootprint.providers.environment."""

from __future__ import annotations

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.providers import provider_from_env
from agentfootprint.providers.environment import make_provider

VARIABLES = (
    *("OLLAMA_MODEL", "OLLAMA_HOST", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_DEPLOYMENT"),
    *("AZURE_OPENAI_API_VERSION", "OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "LLM_MODEL", "MODEL_NAME"),
)


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def test_anthropic_stands_before_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    found = provider_from_env()

    assert (found.kind, found.model, found.provider.name) == ("anthropic", "anthropic", "anthropic")


def test_nothing_set_names_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "  ")

    with pytest.raises(ConfigError, match=r"OLLAMA_MODEL, ANTHROPIC_API_KEY, OPENAI_API_KEY.*fallback_to_mock"):
        provider_from_env()


def test_azure_without_a_version_or_a_deployment_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://a")
    with pytest.raises(ConfigError, match="AZURE_OPENAI_DEPLOYMENT"):
        provider_from_env()
    monkeypatch.setenv("MODEL_NAME", "d")

    with pytest.raises(ConfigError, match="AZURE_OPENAI_API_VERSION"):
        provider_from_env()


def test_a_model_may_hold_colons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_MODEL", "qwen3:8b")

    assert provider_from_env().model == "qwen3:8b"
    assert getattr(make_provider("ollama", "llama3.2:1b"), "default_model", None) == "llama3.2:1b"


def test_ollama_without_a_model_is_refused() -> None:
    with pytest.raises(ConfigError, match="Ollama"):
        make_provider("ollama")
