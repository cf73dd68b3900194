"""Models on a machine of one's own, by Ollama's native API."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.providers.ollama.client import OllamaProvider as OllamaProvider
    from agentfootprint.providers.ollama.errors import OllamaUnavailableError as OllamaUnavailableError
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            "OllamaProvider": "agentfootprint.providers.ollama.client",
            "OllamaUnavailableError": "agentfootprint.providers.ollama.errors",
        },
    )

__all__ = ["OllamaProvider", "OllamaUnavailableError"]
