"""The `agentfootprint` command: parse, ask the library, print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.cli.app import main as main
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(__name__, {"main": "agentfootprint.cli.app"})

__all__: list[str] = []
