"""What did a call of a batch come to, and what may it run with?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec import Struct

from agentfootprint.llm import ToolCall
from agentfootprint.tools import NO_VALUE, CheckedArgs, CoverageReading
from agentfootprint.trace import FrozenDict, Value

if TYPE_CHECKING:
    from agentfootprint.tools import Tool, ToolStatus

__all__ = ["Passed", "Settled", "frozen_args"]


def frozen_args(call: ToolCall) -> FrozenDict:
    """The arguments of a call, which its constructor froze."""
    return cast("FrozenDict", call.args)


class _Settled(Struct, gc=False, eq=False):
    text: str


class Settled(_Settled, gc=False, eq=False, kw_only=True):
    """What one call came to."""

    result: Value = NO_VALUE
    error: bool = False
    ran: bool = False
    refused: bool = False
    denied: bool = False
    """Whether the checker or a rule kept it from running."""
    replayed: bool = False
    """Whether a recording answered for the tool, with what the rules about results have seen."""
    status: ToolStatus | None = None
    coverage: CoverageReading | None = None


class Passed(NamedTuple):
    """A call that passed its gates."""

    tool: Tool[..., Any]
    args: FrozenDict
    """As the gates left them."""
    checked: CheckedArgs | None
