"""Anthropic's Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.providers.anthropic.client import AnthropicProvider as AnthropicProvider
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(__name__, {"AnthropicProvider": "agentfootprint.providers.anthropic.client"})

__all__ = ["AnthropicProvider"]
