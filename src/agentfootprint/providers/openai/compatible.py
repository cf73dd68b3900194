"""How is a server asked that speaks OpenAI's Chat Completions in its own manner?

Servers: vLLM, LM Studio, llama.cpp, OpenRouter, gateways and the like, through OpenAI's official SDK. Not assumed: a
forced tool choice, output held to a schema, a key.
"""

from __future__ import annotations

from agentfootprint.llm import ThinkingHandler, find_thinking_handler
from agentfootprint.providers.openai.client import OpenAIProvider
from agentfootprint.providers.openai.request import Dialect, EmptyContent
from agentfootprint.providers.options import HttpOptions
from agentfootprint.providers.secrets import KeySource

__all__ = ["OpenAICompatibleProvider"]

_NO_KEY = "none"  # the SDK wants one; a server that needs none does not look


class OpenAICompatibleProvider(OpenAIProvider):
    """A model behind an endpoint that speaks OpenAI's Chat Completions.

    Args:
        base_url: Its address, with `/v1` where it has that.
        model: The model to ask when a request names none.
        empty_content: How an assistant turn that has calls and no text is said (DEC-5): without the key, as null, or
            as an empty text.
        http: Key and timeout. The key is never read from the environment: OpenAI's is not for other servers.

    Raises:
        MissingExtraError: The package `openai` is not installed.
    """

    thinking_handler: ThinkingHandler | None = find_thinking_handler("ollama")
    """Such servers tell their thinking in a field of its own."""

    def __init__(
        self,
        base_url: str,
        *,
        model: str | None = None,
        empty_content: EmptyContent = "omit",
        http: HttpOptions | None = None,
    ) -> None:
        self._http = http or HttpOptions()
        self._open(Dialect(default_model=model, is_legacy=True, empty_content=empty_content), base_url)

    def _key_source(self) -> KeySource | None:
        if self._http.client is not None and self._http.api_key is None:
            return None
        return KeySource(self.name, self._http.api_key or _NO_KEY, variable="", label="the endpoint")
