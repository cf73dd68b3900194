"""Which provider a model string means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.llm import LLMProvider

__all__ = ["resolve_provider"]

_NOT_BUILT: Final = ("anthropic", "openai", "azure", "bedrock", "gemini", "ollama")


def resolve_provider(spec: str) -> LLMProvider:
    """The provider of a model string.

    Args:
        spec: `"vendor:model"`, such as `"mock:mock-1"`; a vendor alone means its default model.

    Returns:
        A provider, ready to be asked.

    Raises:
        ConfigError: The vendor is unknown, or its adapter is not part of this version; names it and what there is.
    """
    vendor = spec.partition(":")[0].strip().lower()
    if vendor == "mock":
        from agentfootprint.llm import Mock

        return Mock()
    if vendor in _NOT_BUILT:
        raise ConfigError(
            "model",
            f"The model string {spec!r} names the vendor {vendor!r}, whose adapter is not part of this version.",
            fix='Pass a provider object of your own, or go on without a model: Agent(Mock(["..."]), ...).',
        )
    raise ConfigError(
        "model",
        f"The model string {spec!r} names no vendor that is known.",
        fix='Write "vendor:model" with the vendor "mock", or pass a provider object.',
    )
