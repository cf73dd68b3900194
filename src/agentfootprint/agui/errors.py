"""What can be refused when an agent speaks AG-UI."""

from __future__ import annotations

from agentfootprint.errors import AgentFootprintError

__all__ = ["AgUiIdError"]


class AgUiIdError(AgentFootprintError, TypeError):
    """An id was asked for with a part that would not keep ids apart; `part` names it, the value is never shown."""

    code = "ERR_AG_UI_ID"

    def __init__(self, part: str, wanted: str) -> None:
        self.part = part
        super().__init__(f"An AG-UI id needs {part} to be {wanted}.", fix=f"Give such a {part}.")
