"""Tests of `vectors/providers`: which provider the environment selects."""

from __future__ import annotations

import os

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.providers import provider_from_env
from tests.vectors.harness import Case, assert_same, load

PROVIDERS = load("providers")


@pytest.mark.parametrize("case", PROVIDERS.cases("provider_from_env"))
def test_provider_from_env(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("OLLAMA_", "OPENAI_", "AZURE_", "ANTHROPIC_", "LLM_MODEL", "MODEL_NAME")):
            monkeypatch.delenv(name)
    for name, value in case.input["env"].items():
        monkeypatch.setenv(name, value)
    fallback = case.input["options"].get("fallbackToMock", False)

    if case.expected.get("refused"):
        with pytest.raises(AgentFootprintError):
            provider_from_env(fallback_to_mock=fallback)
    else:
        found = provider_from_env(fallback_to_mock=fallback)
        assert_same({"kind": found.kind, "model": found.model, "providerName": found.provider.name}, case.expected)
