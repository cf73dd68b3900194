"""Which provider a model string means.

A model string is never shown as it is: people paste keys where it belongs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agentfootprint.errors import ConfigError
from agentfootprint.providers.environment import ProviderKind, make_provider

if TYPE_CHECKING:
    from agentfootprint.llm import LLMProvider

__all__ = ["resolve_provider"]

_KINDS: Final[Mapping[str, ProviderKind]] = {
    "mock": "mock",
    "anthropic": "anthropic",
    "openai": "openai",
    "azure": "azure-openai",
    "ollama": "ollama",
}
_NOT_BUILT: Final = ("openai-responses", "bedrock", "gemini", "foundry", "foundry-local")
_VENDOR: Final = re.compile(r"[a-z0-9_-]{1,20}")
_KEY: Final = re.compile(
    r"(sk|pk|rk|key|api|gsk|xai|hf|ghp|gho|aiza|akia|asia|ya29|bearer|token|secret)([_-]|\d|$)|aiza"
)
_MOST_DIGITS: Final = 3


def resolve_provider(spec: str) -> LLMProvider:
    """The provider of a model string (FAC-1); its key and address come from the environment.

    Args:
        spec: `"vendor:model"`, such as `"anthropic:claude-sonnet-4-5"` or `"mock"`; a vendor alone means its default
            model. The model is all that follows the first colon.

    Returns:
        A provider, ready to be asked; nothing was sent yet.

    Raises:
        ConfigError: The vendor is unknown, or its adapter is not part of this version; names it and what there is.
        MissingCredentialError: No key is set for the vendor.
        MissingExtraError: The vendor's package is not installed; names the extra.
    """
    before, _, after = spec.partition(":")
    vendor, model = before.strip().lower(), after.strip()
    if vendor in _KINDS:
        return make_provider(_KINDS[vendor], model or None)
    if vendor in _NOT_BUILT:
        raise ConfigError(
            "model",
            f"The model string names the vendor {vendor!r}, whose adapter is not part of this version.",
            fix='Pass a provider object of your own, or go on without a model: Agent(Mock(["..."]), ...).',
        )
    raise ConfigError(
        "model",
        f"The model string{_shown(vendor)} names no vendor that is known.",
        fix=f'Write "vendor:model" with one of {", ".join(_KINDS)}, or pass a provider object.',
    )


def _shown(vendor: str) -> str:
    """What stands before the colon, if it may be shown: a short name that does not look like a key."""
    if not _VENDOR.fullmatch(vendor) or _KEY.match(vendor) or sum(map(str.isdigit, vendor)) > _MOST_DIGITS:
        return ""
    return f" {vendor!r}"
