"""How many characters may a slot of a request hold before somebody should know?

A slot never drops anything: over its budget it says so, in every pass, and once an agent in the log (SLOT-7, SLOT-8).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agentfootprint.context import MESSAGES_CAP, SYSTEM_PROMPT_CAP, TOOLS_CAP
from agentfootprint.errors import ConfigError
from agentfootprint.events import ContextBudgetPressure

if TYPE_CHECKING:
    from agentfootprint.events import ContextSlotComposed

__all__ = ["DEFAULT_BUDGET", "ContextBudget", "pressure_on", "warn_once"]

_log = logging.getLogger("agentfootprint.agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBudget:
    """How many characters (UTF-16 units) each slot should hold at most; 0 or less is no budget.

    Args:
        system_prompt: The base prompt and the pieces beside it.
        messages: The conversation.
        tools: Names and descriptions of the tools.

    Raises:
        ConfigError: One of them is no whole number.
    """

    system_prompt: int = SYSTEM_PROMPT_CAP
    messages: int = MESSAGES_CAP
    tools: int = TOOLS_CAP

    def __post_init__(self) -> None:
        """Refuse what can't be compared with a count."""
        for name in ("system_prompt", "messages", "tools"):
            given: object = getattr(self, name)
            if type(given) is not int:
                raise ConfigError(
                    f"limits.context_budget.{name}",
                    f"limits.context_budget.{name} is {given!r}.",
                    fix="Give a whole number of characters; 0 for no budget.",
                )


DEFAULT_BUDGET: Final = ContextBudget()


def pressure_on(composed: ContextSlotComposed) -> ContextBudgetPressure | None:
    """What there is to report of a slot that was composed; `None` while it fits (SLOT-8)."""
    budget = composed.budget
    if not 0 < budget.cap < budget.used:
        return None
    return ContextBudgetPressure(
        slot=composed.slot,
        overflow_by=budget.used - budget.cap,
        plan_action="none",
        unit="chars",
        cap=budget.cap,
        projected=budget.used,
    )


def warn_once(told: set[str], agent: str, pressure: ContextBudgetPressure) -> None:
    """One line of log a slot and agent, however often its runs are over the budget."""
    if pressure.slot in told:
        return
    told.add(pressure.slot)
    _log.warning(
        "The %s slot of the agent %r holds %d characters, %d over its budget of %d; nothing is dropped.",
        pressure.slot,
        agent,
        pressure.projected,
        pressure.overflow_by,
        pressure.cap,
    )
