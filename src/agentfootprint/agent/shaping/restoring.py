"""What does a paused run go on with: the model and prompt it had, and what it had spent?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.trace import FrozenDict

__all__ = ["restore_shape"]


def restore_shape(scope: RunScope, state: FrozenDict) -> None:
    """Give a new run what the paused one had said and spent (AGT-78, AGT-140).

    Args:
        scope: The new run's.
        state: As the paused run left it.
    """
    if "resolvedModel" in state or "resolvedInstructions" in state:
        from agentfootprint.agent.shaping.configuring import restore_configured  # only where something was said

        restore_configured(scope, state)
    if scope.purse is not None:
        from agentfootprint.agent.spending.charging import restore_purse  # only where there are prices

        restore_purse(scope, state)
