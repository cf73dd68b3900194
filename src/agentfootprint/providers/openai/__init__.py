"""OpenAI's Chat Completions, and endpoints that speak them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.providers.openai.azure import AzureOpenAIProvider as AzureOpenAIProvider
    from agentfootprint.providers.openai.client import OpenAIProvider as OpenAIProvider
    from agentfootprint.providers.openai.compatible import OpenAICompatibleProvider as OpenAICompatibleProvider
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            "AzureOpenAIProvider": "agentfootprint.providers.openai.azure",
            "OpenAICompatibleProvider": "agentfootprint.providers.openai.compatible",
            "OpenAIProvider": "agentfootprint.providers.openai.client",
        },
    )

__all__ = ["AzureOpenAIProvider", "OpenAICompatibleProvider", "OpenAIProvider"]
