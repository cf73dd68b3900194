"""What is missing on the machine where Ollama should answer, and how is it put there?

Invariants: each refusal names the address that was tried and what to do (OLL-6); each is also the error that other
vendors' adapters raise for the same trouble, so that retries and people treat it alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from agentfootprint.llm import (
    ProviderConnectionError,
    ProviderError,
    ProviderModelNotFoundError,
    ProviderTimeoutError,
)

__all__ = [
    "OllamaModelError",
    "OllamaSilentError",
    "OllamaUnavailableError",
    "OllamaUnreachableError",
    "UnavailableReason",
]

UnavailableReason: TypeAlias = Literal["daemon-unreachable", "model-not-pulled"]

_START = "Start it with: ollama serve (get it at https://ollama.com/download), or name its address in OLLAMA_HOST."


class OllamaUnavailableError(ProviderError):
    """Ollama can't answer on this machine.

    Args:
        problem: One sentence.
        fix: What to do.
        reason: `daemon-unreachable` or `model-not-pulled`.
        base_url: The address that was tried.
        model: The model that is missing.
        available_models: What the machine has; `None` when it would not say.
        status: HTTP status, where there was one.
    """

    code = "ERR_OLLAMA_UNAVAILABLE"

    def __init__(
        self,
        problem: str,
        *,
        fix: str,
        reason: UnavailableReason,
        base_url: str,
        model: str | None = None,
        available_models: Sequence[str] | None = None,
        status: int | None = None,
    ) -> None:
        self.reason = reason
        self.base_url = base_url
        self.model = model
        self.available_models = None if available_models is None else tuple(available_models)
        phase = "connect" if status is None else "headers"
        super().__init__(problem, provider="ollama", fix=fix, status=status, phase=phase)

    @property
    def wire_name(self) -> str:
        """One name for all that is missing."""
        return OllamaUnavailableError.__name__


class OllamaUnreachableError(OllamaUnavailableError, ProviderConnectionError):
    """Nothing answers at the address."""

    def __init__(self, base_url: str) -> None:
        super().__init__(f"Nothing answers at {base_url}.", fix=_START, reason="daemon-unreachable", base_url=base_url)


class OllamaSilentError(OllamaUnavailableError, ProviderTimeoutError):
    """What listens at the address did not begin to answer in time."""

    def __init__(self, base_url: str) -> None:
        super().__init__(
            f"What listens at {base_url} did not begin to answer in time.",
            fix=f"{_START} If the model is slow to load, allow more with HttpOptions(timeout=...).",
            reason="daemon-unreachable",
            base_url=base_url,
        )


class OllamaModelError(OllamaUnavailableError, ProviderModelNotFoundError):
    """The machine does not have the model."""

    def __init__(self, base_url: str, model: str, available_models: Sequence[str] | None) -> None:
        here = f" It has: {', '.join(available_models)}." if available_models else ""
        super().__init__(
            f"The model {model!r} is not on the machine at {base_url}.{here}",
            fix=f"Get it with: ollama pull {model}.",
            reason="model-not-pulled",
            base_url=base_url,
            model=model,
            available_models=available_models,
            status=404,
        )
