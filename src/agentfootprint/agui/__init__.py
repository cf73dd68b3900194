"""AG-UI: an agent's events as the protocol that user interfaces speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.agui.errors import AgUiIdError as AgUiIdError
    from agentfootprint.agui.errors import AgUiMapperStateError as AgUiMapperStateError
    from agentfootprint.agui.errors import AgUiRefusedError as AgUiRefusedError
    from agentfootprint.agui.errors import AgUiSequenceError as AgUiSequenceError
    from agentfootprint.agui.errors import AgUiThreadError as AgUiThreadError
    from agentfootprint.agui.ids import AgUiIdKind as AgUiIdKind
    from agentfootprint.agui.ids import AgUiIds as AgUiIds
    from agentfootprint.agui.ids import MintedId as MintedId
    from agentfootprint.agui.ids import agui_id as agui_id
    from agentfootprint.agui.mapping.recorded import map_events as map_events
    from agentfootprint.agui.options import AgUiOptions as AgUiOptions
    from agentfootprint.agui.serving.adapter import AgUi as AgUi
    from agentfootprint.agui.serving.app import agui_app as agui_app
    from agentfootprint.agui.serving.wire import AgUiWire as AgUiWire
    from agentfootprint.agui.verifying.verifier import EventVerifier as EventVerifier
    from agentfootprint.agui.verifying.verifier import verify_events as verify_events
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            **dict.fromkeys(
                ("AgUiIdError", "AgUiMapperStateError", "AgUiRefusedError", "AgUiSequenceError", "AgUiThreadError"),
                "agentfootprint.agui.errors",
            ),
            **dict.fromkeys(("AgUiIdKind", "AgUiIds", "MintedId", "agui_id"), "agentfootprint.agui.ids"),
            "map_events": "agentfootprint.agui.mapping.recorded",
            "AgUiOptions": "agentfootprint.agui.options",
            "AgUi": "agentfootprint.agui.serving.adapter",
            "agui_app": "agentfootprint.agui.serving.app",
            "AgUiWire": "agentfootprint.agui.serving.wire",
            **dict.fromkeys(("EventVerifier", "verify_events"), "agentfootprint.agui.verifying.verifier"),
        },
    )

__all__ = ["AgUi", "AgUiIds", "AgUiOptions", "AgUiWire", "agui_app", "agui_id", "map_events"]
