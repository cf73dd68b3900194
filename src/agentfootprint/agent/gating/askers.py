"""Could anything of an agent ask a person about a call, and what becomes of the options about that where nothing could?

Who writes such an option is refused. An agent that was made from another, without some of its tools, does without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentfootprint.agent.gating.rules import hook_of
from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.agent.options import Gates
    from agentfootprint.tools import Tool

__all__ = ["refuse_unasked", "without_unasked"]


def refuse_unasked(gates: Gates, tools: Iterable[Tool[..., Any]], written: Collection[str]) -> None:
    """Refuse an option about questions where nobody would ever be asked one.

    Args:
        gates: The gates that hold.
        tools: All tools of the agent.
        written: The options that were written.

    Raises:
        ConfigError: There is one.
    """
    checks_in = _checks_in(tools)
    if "check_in" in written and gates.check_in is not None and not checks_in:
        raise ConfigError(
            "gates.check_in",
            "gates.check_in is set, and no tool of the agent declares a check-in, so nobody would ever be asked.",
            fix='Declare it on the tool: @tool(check_in="always"), or leave the option out.',
        )
    if "ask_together" in written and gates.ask_together and not (checks_in or _has_rule(gates)):
        raise ConfigError(
            "gates.ask_together",
            "gates.ask_together is set, and neither a tool nor a rule of the agent could ask a person about a call.",
            fix='Declare a check-in on a tool: @tool(check_in="always"), or leave the option out.',
        )


def without_unasked(gates: Gates, tools: Iterable[Tool[..., Any]]) -> Gates:
    """The gates without options that have no meaning any more, as nothing is left that could ask."""
    if _checks_in(tools):
        return gates
    return replace(gates, check_in=None, ask_together=gates.ask_together and _has_rule(gates))


def _checks_in(tools: Iterable[Tool[..., Any]]) -> bool:
    return any(each.check_in is not None for each in tools)


def _has_rule(gates: Gates) -> bool:
    """Whether a rule looks at calls before they run; no other may ask (ACT-2)."""
    return gates.act is not None and any(hook_of(rule, "on_tool_call") for rule in gates.act.tool_rules)
