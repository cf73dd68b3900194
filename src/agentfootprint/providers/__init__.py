"""Vendors of models, imported only when used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.providers.anthropic import AnthropicProvider as AnthropicProvider
    from agentfootprint.providers.environment import ResolvedProvider as ResolvedProvider
    from agentfootprint.providers.environment import make_provider as make_provider
    from agentfootprint.providers.environment import provider_from_env as provider_from_env
    from agentfootprint.providers.ollama import OllamaProvider as OllamaProvider
    from agentfootprint.providers.ollama import OllamaUnavailableError as OllamaUnavailableError
    from agentfootprint.providers.openai import AzureOpenAIProvider as AzureOpenAIProvider
    from agentfootprint.providers.openai import OpenAICompatibleProvider as OpenAICompatibleProvider
    from agentfootprint.providers.openai import OpenAIProvider as OpenAIProvider
    from agentfootprint.providers.options import HttpOptions as HttpOptions
    from agentfootprint.providers.resolving import resolve_provider as resolve_provider
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            "AnthropicProvider": "agentfootprint.providers.anthropic",
            "AzureOpenAIProvider": "agentfootprint.providers.openai",
            "HttpOptions": "agentfootprint.providers.options",
            "OllamaProvider": "agentfootprint.providers.ollama",
            "OllamaUnavailableError": "agentfootprint.providers.ollama",
            "OpenAICompatibleProvider": "agentfootprint.providers.openai",
            "OpenAIProvider": "agentfootprint.providers.openai",
            "ResolvedProvider": "agentfootprint.providers.environment",
            "make_provider": "agentfootprint.providers.environment",
            "provider_from_env": "agentfootprint.providers.environment",
            "resolve_provider": "agentfootprint.providers.resolving",
        },
    )

__all__ = [
    "AnthropicProvider",
    "AzureOpenAIProvider",
    "HttpOptions",
    "OllamaProvider",
    "OpenAICompatibleProvider",
    "OpenAIProvider",
    "ResolvedProvider",
    "provider_from_env",
    "resolve_provider",
]
