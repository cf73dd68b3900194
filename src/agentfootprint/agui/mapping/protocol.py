"""Which models does AG-UI speak with? All that maps and serves imports them here, so that an error names the extra."""

from __future__ import annotations

from agentfootprint._optional import optional

with optional("ag_ui", extra="agui", needed_by="The AG-UI adapter"):
    from ag_ui import core

__all__ = ["core"]
