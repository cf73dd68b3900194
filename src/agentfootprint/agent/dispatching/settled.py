"""What did a call of a batch come to, and what may it run with?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from agentfootprint.llm import ToolCall
from agentfootprint.tools import NO_VALUE, CheckedArgs, CoverageReading
from agentfootprint.trace import FrozenDict, Value

if TYPE_CHECKING:
    from agentfootprint.tools import Tool, ToolStatus

__all__ = ["Passed", "Settled", "frozen_args"]


def frozen_args(call: ToolCall) -> FrozenDict:
    """The arguments of a call, which its constructor froze."""
    return cast("FrozenDict", call.args)


class Settled:
    """What one call came to."""

    __slots__ = ("coverage", "denied", "error", "ran", "refused", "replayed", "result", "status", "text")

    def __init__(self, text: str, *, result: Value = NO_VALUE, error: bool = False, ran: bool = False) -> None:
        self.text = text
        self.result = result
        self.error = error
        self.ran = ran
        self.refused = False
        self.denied = False
        """Whether the checker or a rule kept it from running."""
        self.replayed = False
        """Whether a recording answered for the tool, with what the rules about results have seen."""
        self.status: ToolStatus | None = None
        self.coverage: CoverageReading | None = None


class Passed(NamedTuple):
    """A call that passed its gates."""

    tool: Tool[..., Any]
    args: FrozenDict
    """As the gates left them."""
    checked: CheckedArgs | None
