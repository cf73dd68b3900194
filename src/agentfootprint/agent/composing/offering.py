"""Which tools is the model offered in a pass: those of the agent, then those of the active pieces.

One name is one tool: the first that has it (SLOT-5). Rows are there for every source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agentfootprint.context import piece_tool_row, slot_totals, tool_rows
from agentfootprint.errors import ConfigError
from agentfootprint.events import OfferedTool
from agentfootprint.tools import tool_schema
from agentfootprint.trace import FrozenList, freeze

if TYPE_CHECKING:
    from agentfootprint.context import Injection
    from agentfootprint.tools import Tool

__all__ = ["ToolOffer", "refuse_name_clashes"]


class ToolOffer:
    """What a model may ask for, and all that follows from it.

    Args:
        registered: The agent's own tools, by name.
        pieces: Active pieces with tools, in declaration order.
    """

    __slots__ = ("by_name", "names", "rows", "schemas", "shown", "totals")

    def __init__(
        self,
        registered: Mapping[str, Tool[..., Any]],
        pieces: Iterable[tuple[Injection, tuple[Tool[..., Any], ...]]] = (),
    ) -> None:
        own = [tool_schema(each) for each in registered.values()]
        rows = [*tool_rows(own)]
        self.by_name: dict[str, Tool[..., Any]] = {**registered}
        for piece, tools in pieces:
            for each in tools:
                rows.append(piece_tool_row(tool_schema(each), piece.id, piece.flavor, len(rows)))
                self.by_name.setdefault(each.name, each)
        schemas = [*own, *(tool_schema(tool) for name, tool in self.by_name.items() if name not in registered)]
        self.schemas: FrozenList = freeze(schemas)
        self.names = tuple(schema.name for schema in schemas)
        """Of the schemas, in order."""
        self.rows: FrozenList = freeze(rows)
        self.totals = slot_totals(rows)
        self.shown = tuple(OfferedTool(name=s.name, description=s.description or None) for s in schemas)


def refuse_name_clashes(
    registered: Mapping[str, Tool[..., Any]], pieces: Mapping[str, tuple[Tool[..., Any], ...]]
) -> None:
    """Refuse two tools of one name that do different things; one tool may stand in several pieces (AGT-3).

    Raises:
        ConfigError: Names the tool and who brings it.
    """
    known = {name: (tool, "tools=[...]") for name, tool in registered.items()}
    for piece, tools in pieces.items():
        for each in tools:
            there, who = known.setdefault(each.name, (each, f"the piece {piece!r}"))
            if there is not each and there.execute is not each.execute:
                raise ConfigError(
                    "context",
                    f"The piece {piece!r} brings a tool {each.name!r}, and {who} has another of that name.",
                    fix='Give one of the two another name: @tool(name="...").',
                )
