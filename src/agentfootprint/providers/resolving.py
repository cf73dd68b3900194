"""Which provider a model string means.

A model string is never shown as it is: people paste keys where it belongs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.llm import LLMProvider

__all__ = ["resolve_provider"]

_NOT_BUILT: Final = ("anthropic", "openai", "azure", "bedrock", "gemini", "ollama")
_VENDOR: Final = re.compile(r"[a-z0-9_-]{1,20}")
_KEY: Final = re.compile(
    r"(sk|pk|rk|key|api|gsk|xai|hf|ghp|gho|aiza|akia|asia|ya29|bearer|token|secret)([_-]|\d|$)|aiza"
)
_MOST_DIGITS: Final = 3


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
            f"The model string names the vendor {vendor!r}, whose adapter is not part of this version.",
            fix='Pass a provider object of your own, or go on without a model: Agent(Mock(["..."]), ...).',
        )
    raise ConfigError(
        "model",
        f"The model string{_shown(vendor)} names no vendor that is known.",
        fix='Write "vendor:model" with the vendor "mock", or pass a provider object.',
    )


def _shown(vendor: str) -> str:
    """What stands before the colon, if it may be shown: a short name that does not look like a key."""
    if not _VENDOR.fullmatch(vendor) or _KEY.match(vendor) or sum(map(str.isdigit, vendor)) > _MOST_DIGITS:
        return ""
    return f" {vendor!r}"
