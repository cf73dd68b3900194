"""What do the parts of the page ask of a document?

A view adds nothing to its document: it finds the call, the records and the source that a part is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentfootprint.explain.board.shape import Board, BoardRecord, Call, Slot, SlotName, Source

__all__ = ["SLOT_TITLES", "View", "name_of"]

SLOT_TITLES: tuple[tuple[SlotName, str], ...] = (
    ("system", "System prompt"),
    ("messages", "Messages"),
    ("tools", "Tools offered"),
)


@dataclass(frozen=True, slots=True)
class View:
    """A checked document and where to look in it."""

    board: Board

    @property
    def tested(self) -> bool:
        """Whether re-runs were made; without them no part may say anything that only they can say."""
        return "proof" in self.board

    @property
    def answer_call(self) -> Call | None:
        """The call that wrote the answer, if the document holds it."""
        step = self.board["answer"]["step"]
        return next((call for call in self.board["calls"] if call["step"] == step), None)

    @property
    def chosen(self) -> int:
        """Position in `sources` of the one to open first, -1 when there is none."""
        sources = self.board["sources"]
        of = self.board.get("of")
        for index, source in enumerate(sources):
            if source["id"] == of if of is not None else self.decides(source):
                return index
        return 0 if sources else -1

    def decides(self, source: Source) -> bool:
        """Whether re-runs showed that the decision changes without it."""
        verdict = source.get("verdict")
        return verdict is not None and verdict["verdict"] == "confirmed"

    def call_before(self, call: Call) -> Call | None:
        """The call before this one in the document."""
        index = next(at for at, each in enumerate(self.board["calls"]) if each["step"] == call["step"])
        return self.board["calls"][index - 1] if index else None

    def indices(self, slot: Slot) -> Iterator[int]:
        """Indices of a slot's records, in the order they were sent."""
        for start, end in slot["records"]:
            yield from range(start, end)

    def records(self, slot: Slot) -> list[BoardRecord]:
        """A slot's records, in the order they were sent."""
        return [self.board["records"][index] for index in self.indices(slot)]

    def words_of(self, name: SlotName, slot: Slot) -> int | None:
        """Characters in a slot: its texts and, in a joined one, what stands between them; `None`: some are unknown."""
        records = self.records(slot)
        if any("unknown" in record for record in records):
            return None
        joints = len(slot.get("joinedBy", "")) * max(0, len(records) - 1) if name == "system" else 0
        return sum(len(record["text"]) for record in records) + joints


def name_of(source: Source) -> str:
    """What to call a source."""
    return source.get("name", source["id"])
