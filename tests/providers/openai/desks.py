"""Whom the tests of this room ask."""

from __future__ import annotations

from typing import Any

from agentfootprint.providers import HttpOptions, OpenAICompatibleProvider, OpenAIProvider
from agentfootprint.testing import FakeVendor
from tests.providers.chances import KEY


def model_at(vendor: FakeVendor, model: str | None = None, **http: Any) -> OpenAIProvider:
    """The adapter for OpenAI, talking to a fake vendor that speaks today's OpenAI."""
    given: dict[str, Any] = {"api_key": KEY, "base_url": vendor.base_url, **http}
    return OpenAIProvider(model, http=HttpOptions(**given)).with_options(legacy_dialect=False)


def compatible_at(vendor: FakeVendor, model: str | None = None, **http: Any) -> OpenAICompatibleProvider:
    """The adapter for compatible servers."""
    return OpenAICompatibleProvider(vendor.base_url, model=model, http=HttpOptions(**http))
