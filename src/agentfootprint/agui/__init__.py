"""AG-UI: an agent's events as the protocol that user interfaces speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.agui.errors import AgUiIdError as AgUiIdError
    from agentfootprint.agui.ids import AgUiIdKind as AgUiIdKind
    from agentfootprint.agui.ids import AgUiIds as AgUiIds
    from agentfootprint.agui.ids import MintedId as MintedId
    from agentfootprint.agui.ids import agui_id as agui_id
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            "AgUiIdError": "agentfootprint.agui.errors",
            **dict.fromkeys(("AgUiIdKind", "AgUiIds", "MintedId", "agui_id"), "agentfootprint.agui.ids"),
        },
    )

__all__ = ["AgUiIds", "agui_id"]
