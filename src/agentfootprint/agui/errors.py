"""What can be refused when an agent speaks AG-UI."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "AgUiIdError",
    "AgUiMapperStateError",
    "AgUiRefusal",
    "AgUiRefusedError",
    "AgUiSequenceError",
    "AgUiThreadError",
]

AgUiRefusal: TypeAlias = Literal[
    "invalid_input",
    "thread_busy",
    "interrupt_pending",
    "interrupt_unknown",
    "interrupt_incomplete",
    "interrupt_invalid",
    "interrupt_expired",
    "internal",
]
"""Why a request starts no run: the codes of RUN_ERROR that come before one (AGU-16)."""


class AgUiIdError(AgentFootprintError, TypeError):
    """An id was asked for with a part that would not keep ids apart; `part` names it, the value is never shown."""

    code = "ERR_AG_UI_ID"

    def __init__(self, part: str, wanted: str) -> None:
        self.part = part
        super().__init__(f"An AG-UI id needs {part} to be {wanted}.", fix=f"Give such a {part}.")


class AgUiMapperStateError(AgentFootprintError, RuntimeError):
    """A mapper was used out of its order: begin, map as often as wanted, end."""

    code = "ERR_AG_UI_MAPPER_STATE"

    def __init__(self, problem: str) -> None:
        super().__init__(problem, fix="Make one Mapper for each AG-UI run; call begin, then map, then end once.")


class AgUiSequenceError(AgentFootprintError, ValueError):
    """A stream holds an event that a client refuses (AGU-84); `index` and `rule` say which and why."""

    code = "ERR_AG_UI_SEQUENCE"

    def __init__(self, index: int, event_type: str, rule: str, problem: str) -> None:
        self.index = index
        self.event_type = event_type
        self.rule = rule
        super().__init__(
            f"Event {index} ({event_type}) {problem}.", fix="Send what a client accepts; the mapper's events are."
        )


class AgUiThreadError(AgentFootprintError, ValueError):
    """What a store holds for a thread is not what was kept of it; `member` names the part, no content is shown."""

    code = "ERR_AG_UI_THREAD"

    def __init__(self, member: str, problem: str) -> None:
        self.member = member
        super().__init__(
            f"The stored facts of an AG-UI thread can't be read: {member!r} {problem}.",
            fix="Look at the session in its store; mend it, or forget the session.",
        )


class AgUiRefusedError(AgentFootprintError, ValueError):
    """A request starts no run; `reason` is the code that the client gets (AGU-16), no value stands in its words."""

    code = "ERR_AG_UI_REFUSED"

    def __init__(self, reason: AgUiRefusal, problem: str, *, fix: str) -> None:
        self.reason: AgUiRefusal = reason
        super().__init__(problem, fix=fix)
