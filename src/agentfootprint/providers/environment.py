"""Which provider does the environment ask for?

Invariants: the first arm that matches decides (FAC-2); a blank variable is unset (ADP-3); nothing is called, and no
adapter is imported but the one that is made.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from agentfootprint.errors import ConfigError
from agentfootprint.llm import LLMProvider
from agentfootprint.providers.secrets import environment

__all__ = ["ProviderKind", "ResolvedProvider", "make_provider", "provider_from_env"]

ProviderKind: TypeAlias = Literal["mock", "anthropic", "openai", "azure-openai", "ollama"]

_WAYS: Final = "OLLAMA_MODEL, ANTHROPIC_API_KEY, OPENAI_API_KEY, or AZURE_OPENAI_API_KEY with AZURE_OPENAI_ENDPOINT"


class ResolvedProvider(NamedTuple):
    """A provider that was found, and what to ask it for."""

    provider: LLMProvider
    model: str
    """The model for `Agent(..., model)`; a vendor's name means its default."""
    kind: ProviderKind


def provider_from_env(*, fallback_to_mock: bool = False) -> ResolvedProvider:
    """The provider that the environment variables select (FAC-2).

    The first that matches: `OLLAMA_MODEL` (with `OLLAMA_HOST`, which alone selects nothing); Azure's key and endpoint;
    `ANTHROPIC_API_KEY`; `OPENAI_API_KEY`. `LLM_MODEL` names the model of the last two.

    Args:
        fallback_to_mock: Give a `Mock` where nothing is set, instead of refusing.

    Raises:
        ConfigError: Nothing is set, or Azure's deployment or version is missing; names what is.
        MissingExtraError: The package of the vendor that is asked for is not installed.
    """
    kind, model = _selected()
    if kind == "mock" and not fallback_to_mock:
        raise ConfigError(
            "environment",
            "No environment variable names a provider.",
            fix=f"Set {_WAYS}; or pass fallback_to_mock=True to go on without a model.",
        )
    return ResolvedProvider(make_provider(kind, model), model or kind, kind)


def make_provider(kind: ProviderKind, model: str | None = None) -> LLMProvider:
    """A provider of a kind; its key and address come from the environment.

    Args:
        kind: The vendor.
        model: The model to ask when a request names none; Ollama needs one.

    Raises:
        ConfigError: A setting is missing; names it.
        MissingCredentialError: There is no key.
        MissingExtraError: The vendor's package is not installed.
    """
    if kind == "ollama":
        from agentfootprint.providers.ollama import OllamaProvider

        named = model or environment("OLLAMA_MODEL")
        if named is None:
            raise ConfigError(
                "model", "Ollama has no model of its own accord.", fix='Name one, as in "ollama:llama3.2".'
            )
        return OllamaProvider(named)
    if kind == "azure-openai":
        from agentfootprint.providers.openai import AzureOpenAIProvider

        return AzureOpenAIProvider(model)
    if kind == "anthropic":
        from agentfootprint.providers.anthropic import AnthropicProvider

        return AnthropicProvider(model)
    if kind == "openai":
        from agentfootprint.providers.openai import OpenAIProvider

        return OpenAIProvider(model)
    from agentfootprint.llm import Mock

    return Mock()


def _selected() -> tuple[ProviderKind, str | None]:
    """The kind, and the model if the environment names one."""
    if local := environment("OLLAMA_MODEL"):
        return "ollama", local
    if environment("AZURE_OPENAI_API_KEY") and environment("AZURE_OPENAI_ENDPOINT", "OPENAI_BASE_URL"):
        deployment = environment("AZURE_OPENAI_DEPLOYMENT", "MODEL_NAME")
        if deployment is None:
            raise ConfigError(
                "AZURE_OPENAI_DEPLOYMENT",
                "Azure OpenAI is set up, but no deployment is named.",
                fix="Set AZURE_OPENAI_DEPLOYMENT or MODEL_NAME.",
            )
        return "azure-openai", deployment
    if environment("ANTHROPIC_API_KEY"):
        return "anthropic", environment("LLM_MODEL")
    if environment("OPENAI_API_KEY"):
        return "openai", environment("LLM_MODEL")
    return "mock", None
