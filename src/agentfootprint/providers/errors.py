"""What an adapter refuses before anything is sent."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from agentfootprint.llm import ProviderBadRequestError

__all__ = ["ThinkingRefusal", "UnsupportedThinkingError"]

ThinkingRefusal: TypeAlias = Literal["no-thinking", "temperature", "budget", "forced-tool-choice"]

_WORDS: Final[dict[ThinkingRefusal, tuple[str, str]]] = {
    "no-thinking": ("does not think", "Leave thinking out, or use a model that thinks."),
    "temperature": ("thinks at temperature 1 only", "Leave the temperature out, or set it to 1."),
    "budget": ("needs a thinking budget of at least 1,024 tokens", "Raise the budget, or leave thinking out."),
    "forced-tool-choice": (
        "can't think and be made to call a tool in one request",
        "Leave thinking out, or let the model choose the tool.",
    ),
}


class UnsupportedThinkingError(ProviderBadRequestError):
    """A request asks a model to think under settings that it would refuse (ANT-13); nothing was sent.

    Args:
        provider: Name of the provider.
        model: The model's id.
        reason: `no-thinking`, `temperature`, `budget` or `forced-tool-choice`.
    """

    code = "ERR_UNSUPPORTED_THINKING"

    def __init__(self, provider: str, model: str, reason: ThinkingRefusal) -> None:
        self.model = model
        self.reason: ThinkingRefusal = reason
        what, fix = _WORDS[reason]
        super().__init__(f"The model {model!r} {what}.", provider=provider, fix=fix, phase="connect")
