"""Which version is installed? Answered without loading a command."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.cli.streams import Streams

__all__ = ["installed_version", "tell_version"]


def installed_version() -> str:
    """The version of this package that is installed."""
    try:
        return importlib.metadata.version("agentfootprint")
    except importlib.metadata.PackageNotFoundError:
        return "unknown: not installed as a package"


def tell_version(streams: Streams) -> None:
    """Print it in the form that was asked for."""
    streams.give(
        text=lambda: f"agentfootprint {installed_version()}",
        line=installed_version,
        document=lambda: {"format": "agentfootprint.version/1", "version": installed_version()},
    )
