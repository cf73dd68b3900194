"""What can be wrong with a board document: it is refused by name and place, never drawn half."""

from __future__ import annotations

from agentfootprint.explain.errors import ExplainError

__all__ = ["BoardDocumentError"]


class BoardDocumentError(ExplainError):
    """A board document doesn't have the shape of `shape.py`; `where` says which part.

    Args:
        where: The part at fault, as a path (`sources[0].score`). Never a text of the document.
        problem: What is wrong with it.
    """

    code = "ERR_BOARD_DOCUMENT"

    def __init__(self, where: str, problem: str) -> None:
        self.where = where
        super().__init__(
            f"The board document is wrong at {where!r}: {problem}.",
            fix="Make it with why.board(), or follow the shape described in agentfootprint.explain.board.shape.",
        )
