"""Vendors of models, one file each, imported only when used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.providers.resolving import resolve_provider as resolve_provider
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(__name__, {"resolve_provider": "agentfootprint.providers.resolving"})

__all__ = ["resolve_provider"]
