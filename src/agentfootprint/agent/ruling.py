"""Who is asked about the calls and messages of a run, if anybody is?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.agent.gating.gates import RunGates
    from agentfootprint.agent.options import Gates

__all__ = ["rules_of"]


def rules_of(gates: Gates) -> RunGates | None:
    """Who is asked about calls and messages; `None` where nobody is."""
    if gates.permission is None and gates.act is None:
        return None
    from agentfootprint.agent.gating.gates import RunGates  # with the first checker or rule

    return RunGates(gates)
