"""What can be wrong with a declared piece of context."""

from __future__ import annotations

from agentfootprint.errors import AgentFootprintError

__all__ = ["ContextDefinitionError"]


class ContextDefinitionError(AgentFootprintError, ValueError):
    """A piece of context can't work as it was declared; raised where it is written (CTX-2).

    `piece` is its id, `field` the field at fault.
    """

    code = "ERR_CONTEXT_DEFINITION"

    def __init__(self, piece: str, field: str, problem: str, *, fix: str) -> None:
        super().__init__(problem, fix=fix)
        self.piece = piece
        self.field = field
