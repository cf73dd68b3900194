"""What can be wrong with a declared piece of context."""

from __future__ import annotations

from collections.abc import Sequence

from agentfootprint.errors import AgentFootprintError, ConfigError

__all__ = ["ContextDefinitionError", "DeliveryRoleError", "WindowMessageError"]


class ContextDefinitionError(AgentFootprintError, ValueError):
    """A piece of context can't work as it was declared; raised where it is written (CTX-2).

    `piece` is its id, `field` the field at fault.
    """

    code = "ERR_CONTEXT_DEFINITION"

    def __init__(self, piece: str, field: str, problem: str, *, fix: str) -> None:
        super().__init__(problem, fix=fix)
        self.piece = piece
        self.field = field


class DeliveryRoleError(ConfigError):
    """A piece is to be said in a role that the model does not take inside a conversation (MSG-1).

    `piece`, `role` and `provider` are what met, `carried` the roles that would do. Nothing is re-roled or dropped.
    """

    code = "ERR_DELIVERY_ROLE"

    def __init__(self, piece: str, role: str, provider: str, carried: Sequence[str]) -> None:
        super().__init__(
            "context",
            f"The piece {piece!r} is a message of the role {role!r}; {provider} carries {' and '.join(carried)} only.",
            fix='Leave slot="messages" out to put it into the system prompt, use one of those roles, '
            "or return the words from the tool that they are about.",
        )
        self.piece = piece
        self.role = role
        self.provider = provider
        self.carried = tuple(carried)


class WindowMessageError(AgentFootprintError, TypeError):
    """A message of the conversation has no text where text belongs (AGT-39); nothing is sent.

    `position` is its index, `role` its role, `origin` where it came from.
    """

    code = "ERR_WINDOW_MESSAGE"

    def __init__(self, position: int, role: str, origin: str, found: str) -> None:
        super().__init__(
            f"Message {position} ({role}, from {origin}) holds a {found} where its text belongs.",
            fix="Give every message a text; an empty one is a text.",
        )
        self.position = position
        self.role = role
        self.origin = origin
