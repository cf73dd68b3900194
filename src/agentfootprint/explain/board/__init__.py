"""The page that shows why an answer came out so: one file, made from one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.explain.board.check import validate_board as validate_board
    from agentfootprint.explain.board.errors import BoardDocumentError as BoardDocumentError
    from agentfootprint.explain.board.page import render_board as render_board
    from agentfootprint.explain.board.records import RecordPool as RecordPool
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            "BoardDocumentError": "agentfootprint.explain.board.errors",
            "RecordPool": "agentfootprint.explain.board.records",
            "render_board": "agentfootprint.explain.board.page",
            "validate_board": "agentfootprint.explain.board.check",
        },
    )

__all__: list[str] = []
