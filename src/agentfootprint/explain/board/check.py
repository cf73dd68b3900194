"""Is this a board document? Types by `shape.py`, then what types can't say: indices, spans, ids, verdicts.

A message names the place and never quotes the document (it may hold prompts).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any, cast

import msgspec

from agentfootprint.explain.board.errors import BoardDocumentError
from agentfootprint.explain.board.shape import FORMAT, Board, Rate, Slot, SlotName, Source
from agentfootprint.trace import JsonObject, freeze, thaw

__all__ = ["validate_board"]

SLOTS: tuple[SlotName, ...] = ("system", "messages", "tools")


def validate_board(document: JsonObject) -> Board:
    """Check a board document and give it back as plain dicts and lists.

    Args:
        document: The document, plain or frozen. It is not changed.

    Returns:
        A copy of it, keys that are not known kept.

    Raises:
        BoardDocumentError: It doesn't have the shape; `where` says which part.
        ValueRefusedError: It holds something that is not JSON.
    """
    plain: Any = thaw(freeze(document))
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:  # pyright: ignore[reportUnknownMemberType]  JSON
        raise BoardDocumentError("format", f"it is not {FORMAT!r}")
    try:
        board = msgspec.convert(plain, Board)
    except msgspec.ValidationError as wrong:
        problem, _, where = str(wrong).partition(" - at ")
        raise BoardDocumentError(where.strip("`").removeprefix("$.") or "$", problem) from None
    _check_sources(board)
    _check_records(board)
    _check_custody(board)
    _check_proof(board)
    return cast("Board", plain)


def _unique(where: str, names: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise BoardDocumentError(f"{where}[{index}]", "its id stands there twice")
        seen.add(name)
    return seen


def _check_spans(where: str, spans: Iterable[list[int]], length: int) -> None:
    end = 0
    for span in spans:
        if len(span) != 2 or not end <= span[0] <= span[1] <= length:  # noqa: PLR2004  start and end
            raise BoardDocumentError(where, f"{span} is no ascending [start, end) within 0 to {length}")
        end = span[1]


def _check_sources(board: Board) -> None:
    ids = _unique("sources", (source["id"] for source in board["sources"]))
    if board.get("of", None) not in {None, *ids}:
        raise BoardDocumentError("of", "it is not the id of a source")
    for index, source in enumerate(board["sources"]):
        if not 0 <= source.get("score", 0.0) <= 1:
            raise BoardDocumentError(f"sources[{index}].score", "it is not within 0 to 1")
        _check_spans(f"sources[{index}].shared", source.get("shared", []), len(board["answer"]["text"]))


def _check_records(board: Board) -> None:
    ids = {source["id"] for source in board["sources"]}
    for index, record in enumerate(board["records"]):
        if record.get("source", None) not in {None, *ids}:
            raise BoardDocumentError(f"records[{index}].source", "it is not the id of a source")
        span = record.get("span")
        if span is not None:
            _check_spans(f"records[{index}].span", [span], len(record["text"]))
    _unique("calls", (call["step"] for call in board["calls"]))
    before = {name: [0, *accumulate(record["slot"] == name for record in board["records"])] for name in SLOTS}
    for index, call in enumerate(board["calls"]):
        for name in SLOTS:
            _check_slot(f"calls[{index}].{name}.records", before[name], call[name])


def _check_slot(where: str, before: list[int], slot: Slot) -> None:
    """Each range within the records and of this slot; `before[i]` counts the slot's records before index i."""
    for start, end in slot["records"]:
        _check_spans(where, [[start, end]], len(before) - 1)
        if before[end] - before[start] != end - start:
            raise BoardDocumentError(where, "it names a record of another slot")


def _check_custody(board: Board) -> None:
    for source in board["sources"]:
        if source["id"] not in board["custody"]:
            raise BoardDocumentError("custody", "a source has no chain in it")
    for position, hops in enumerate(board["custody"].values()):
        for index, hop in enumerate(hops):
            highlight = hop.get("highlight")
            if highlight is not None and highlight not in hop.get("content", ""):
                raise BoardDocumentError(
                    f"custody.(chain {position})[{index}].highlight", "it is no exact part of the hop's content"
                )


def _check_rate(where: str, rate: Rate) -> None:
    if not 0 <= rate["flips"] <= rate["samples"]:
        raise BoardDocumentError(where, "flips are not within 0 to samples")
    interval = rate.get("interval")
    if interval is not None and not (len(interval) == 2 and 0 <= interval[0] <= interval[1] <= 1):  # noqa: PLR2004  low and high
        raise BoardDocumentError(f"{where}.interval", "it is no [low, high] within 0 to 1")


def _check_proof(board: Board) -> None:
    proof = board.get("proof")
    joint = proof.get("joint") if proof is not None else None
    if joint is not None:
        _check_rate("proof.joint", joint)
    for index, source in enumerate(board["sources"]):
        if proof is None and ("verdict" in source or "untested" in source):
            raise BoardDocumentError(f"sources[{index}].verdict", "a document without a proof can't hold it (EXP-3)")
        _check_verdict(f"sources[{index}].verdict", source)


def _check_verdict(where: str, source: Source) -> None:
    verdict = source.get("verdict")
    if verdict is None:
        return
    _check_rate(f"{where}.removed", verdict["removed"])
    _check_rate(f"{where}.baseline", verdict["baseline"])
    if "recovered" in verdict:
        _check_rate(f"{where}.recovered", verdict["recovered"])
    effect = verdict.get("effect")
    if effect is not None and not (len(effect) == 3 and -1 <= effect[1] <= effect[0] <= effect[2] <= 1):  # noqa: PLR2004  estimate, low, high
        raise BoardDocumentError(f"{where}.effect", "it is no [estimate, low, high] within -1 to 1")
