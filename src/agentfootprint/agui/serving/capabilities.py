"""What can a client ask of an agent that is served in AG-UI (AGU-82)?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentfootprint.agui.mapping.protocol import core

if TYPE_CHECKING:
    from agentfootprint.agui.serving.adapter import AgUi

__all__ = ["capabilities_of"]


def capabilities_of(adapter: AgUi) -> core.AgentCapabilities:
    """Only what is so: how it is shown, and whether it has tools; never which, nor what it is told."""
    options = adapter.options
    live, thinks = options.state == "live", options.reasoning == "full"
    agent: Any = adapter.agent
    tools: object = getattr(getattr(agent, "plan", None), "tools", None)
    has_tools = None if tools is None else bool(tools)
    return core.AgentCapabilities(
        identity=core.IdentityCapabilities(name=getattr(agent, "name", None), type="agentfootprint"),
        transport=core.TransportCapabilities(
            streaming=True, websocket=False, http_binary=False, push_notifications=False, resumable=False
        ),
        tools=core.ToolsCapabilities(supported=has_tools, client_provided=False),
        state=core.StateCapabilities(snapshots=live, deltas=live, persistent_state=False),
        reasoning=core.ReasoningCapabilities(
            supported=thinks, streaming=thinks, encrypted=thinks and options.encrypted_reasoning
        ),
        human_in_the_loop=core.HumanInTheLoopCapabilities(
            supported=True, approvals=True, interrupts=True, approve_with_edits=False
        ),
    )
