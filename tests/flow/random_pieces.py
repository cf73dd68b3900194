"""What a random chart is made of, as plain data, and what must come of it when it runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = ["Again", "Choose", "Ending", "Line", "Mount", "Node", "Op", "Pick", "Piece", "Plain", "Play", "Spread"]

Ending: TypeAlias = Literal["done", "broken", "failed"]
Op: TypeAlias = tuple[str, str, int]
"""What a stage does: verb, key, number."""


@dataclass(frozen=True)
class Plain:
    """A stage; `end` says whether it breaks, raises or pauses when it has done its work."""

    id: str
    ops: tuple[Op, ...]
    end: Literal["", "break", "raise", "ask"] = ""
    is_async: bool = False


@dataclass(frozen=True)
class Mount:
    """Another line, with a state of its own."""

    id: str
    line: Line
    keys: tuple[str, ...]
    """What is mapped in and out."""
    propagate_break: bool


@dataclass(frozen=True)
class Choose:
    """A decider and the branch it takes; the last one is its default."""

    id: str
    ops: tuple[Op, ...]
    branches: tuple[Node, ...]
    chosen: int
    has_evidence: bool


@dataclass(frozen=True)
class Pick:
    """A selector and the branches it takes."""

    id: str
    ops: tuple[Op, ...]
    branches: tuple[Node, ...]
    chosen: tuple[int, ...]
    has_evidence: bool


@dataclass(frozen=True)
class Spread:
    """The children of the stage before."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class Again:
    """The end of a line: goes back `times` times.

    `by` says how: a stage that breaks at last before a loop of the main line, or a decider whose branch goes back.
    """

    id: str
    target: str
    times: int
    by: Literal["break", "branch"]


Node: TypeAlias = "Plain | Mount"
Piece: TypeAlias = "Plain | Mount | Choose | Pick | Spread | Again"


@dataclass(frozen=True)
class Line:
    """What comes after what."""

    pieces: tuple[Piece, ...]


@dataclass
class Play:
    """Counts what runs."""

    steps: Counter[str] = field(default_factory=Counter[str])
    asks: int = 0

    def line(self, line: Line, path: tuple[str, ...]) -> Ending:
        pieces, position, rounds = line.pieces, 0, 0
        while position < len(pieces):
            piece = pieces[position]
            position += 1
            if isinstance(piece, Again):
                rounds += 1
                self._ran(piece.id, path)
                if piece.by == "branch":
                    self._ran(f"{piece.id}-{'again' if rounds <= piece.times else 'stop'}", path)
                elif rounds > piece.times:
                    return "broken"
                if rounds > piece.times:
                    return "done"
                position = next(n for n, each in enumerate(pieces) if getattr(each, "id", "") == piece.target)
                continue
            end = self._piece(piece, path)
            if end != "done":
                return end
        return "done"

    def _piece(self, piece: Piece, path: tuple[str, ...]) -> Ending:
        if isinstance(piece, Choose):
            self._ran(piece.id, path)
            return self._node(piece.branches[piece.chosen], path)
        if isinstance(piece, Pick):
            self._ran(piece.id, path)
            for number in piece.chosen:
                self._node(piece.branches[number], path)
            return "done"
        if isinstance(piece, Spread):
            for child in piece.children:
                self._node(child, path)
            return "done"
        assert not isinstance(piece, Again)
        return self._node(piece, path)

    def _node(self, node: Node, path: tuple[str, ...]) -> Ending:
        self._ran(node.id, path)
        if isinstance(node, Mount):
            end = self.line(node.line, (*path, node.id))
            return "done" if end == "broken" and not node.propagate_break else end
        if node.end == "ask":  # the resume enters every mount on the way again
            self.asks += 1
            self._ran(node.id, path)
            for depth in range(len(path)):
                self._ran(path[depth], path[:depth])
        return {"": "done", "ask": "done", "break": "broken", "raise": "failed"}[node.end]  # type: ignore[return-value]  the four ends

    def _ran(self, id: str, path: tuple[str, ...]) -> None:
        self.steps["/".join((*path, id))] += 1
