"""Which proposal does a tool message answer, and does a history hold together?

Invariants: one pairing rule for everybody (AGT-96): a tool message answers the first still open proposal of its id on
the latest assistant turn that proposed that id; a later turn that proposes the id replaces what was open; there is no
falling back to an earlier turn. Folding over what is new costs O(new).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, NamedTuple

from agentfootprint.llm.errors import BrokenPairError
from agentfootprint.llm.messages import LLMMessage, ToolCall

__all__ = ["BrokenPair", "CallPosition", "PairReport", "Pairing", "PairingFold", "verify_pairs"]

BrokenReason = Literal["no-call", "before-call", "duplicate"]


class CallPosition(NamedTuple):
    """Where a proposal stands: the index of its message, and its place among that message's calls."""

    message: int
    call: int


class Pairing:
    """The pairing rule as a fold: tell it the turns and the answers in order."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: dict[str, tuple[int, tuple[int, ...]]] = {}  # by id: the latest turn, and its calls still open

    def propose(self, message: int, calls: Sequence[ToolCall]) -> None:
        """An assistant turn proposes calls; those of an id that was open are replaced."""
        if len(calls) == 1:
            self._open[calls[0].id] = (message, (0,))
            return
        fresh: dict[str, list[int]] = {}
        for index, call in enumerate(calls):
            fresh.setdefault(call.id, []).append(index)
        for call_id, places in fresh.items():
            self._open[call_id] = (message, tuple(places))

    def answer(self, call_id: str) -> CallPosition | None:
        """The proposal that a tool message with this id answers, or `None` when it answers nothing."""
        message, places = self._open.get(call_id, (0, ()))
        if not places:
            return None
        self._open[call_id] = (message, places[1:])
        return CallPosition(message, places[0])

    def knows(self, call_id: str) -> bool:
        """Whether any turn proposed this id."""
        return call_id in self._open


class BrokenPair(NamedTuple):
    """A tool message that was dropped, and why."""

    message: int
    reason: BrokenReason


@dataclasses.dataclass(frozen=True, slots=True)
class PairReport:
    """What the verifier found in a history."""

    messages: tuple[LLMMessage, ...]
    """The history; without the dropped messages."""
    unanswered: tuple[CallPosition, ...]
    """Proposals without a result, by their place in `messages`: to be settled before a model sees them (AGT-99)."""
    dropped: tuple[BrokenPair, ...]
    """Tool messages that answered nothing, by their place in the history given; empty without `repair`."""


class PairingFold:
    """The verifier in the loop: checks what was added since the last time, and knows which calls are open.

    Not for several threads at once: one run owns it.
    """

    __slots__ = ("_pairing", "_unanswered", "length")

    def __init__(self) -> None:
        self._pairing = Pairing()
        self._unanswered: dict[CallPosition, None] = {}
        self.length = 0
        """How many messages were verified."""

    @property
    def unanswered(self) -> tuple[CallPosition, ...]:
        """Proposals without a result so far, in order."""
        return tuple(self._unanswered)

    def broken(self, message: LLMMessage) -> BrokenReason | None:
        """Take in the next message; a tool message that answers nothing is named, and is not counted in."""
        if message.role == "tool":
            call_id = message.tool_call_id or ""
            position = self._pairing.answer(call_id)
            if position is None:
                return "duplicate" if self._pairing.knows(call_id) else "no-call"
            del self._unanswered[position]
        elif message.role == "assistant" and message.tool_calls:
            self._pairing.propose(self.length, message.tool_calls)
            for index in range(len(message.tool_calls)):
                self._unanswered[CallPosition(self.length, index)] = None
        self.length += 1
        return None

    def advance(self, history: Sequence[LLMMessage]) -> None:
        """Verify the messages of a history from `length` on; what came before must be what was verified.

        Raises:
            BrokenPairError: A tool message answers nothing.
        """
        for index in range(self.length, len(history)):
            reason = self.broken(history[index])
            if reason is not None:
                raise BrokenPairError(index, reason)


def verify_pairs(history: Sequence[LLMMessage], *, repair: bool = False) -> PairReport:
    """Check a history that enters, in both directions (DEC-10). Linear in its length.

    Args:
        history: The messages, oldest first.
        repair: Drop tool messages that answer nothing instead of refusing them.

    Raises:
        BrokenPairError: A tool message answers no call, an answered one, or one that comes later; names its index.
    """
    fold = PairingFold()
    kept: list[LLMMessage] = []
    dropped: list[BrokenPair] = []
    proposed: dict[str, int] | None = None
    for index, message in enumerate(history):
        reason = fold.broken(message)
        if reason is None:
            kept.append(message)
            continue
        if proposed is None:
            proposed = {call.id: at for at, later in enumerate(history) for call in later.tool_calls}
        if reason == "no-call" and proposed.get(message.tool_call_id or "", -1) > index:
            reason = "before-call"
        if not repair:
            raise BrokenPairError(index, reason)
        dropped.append(BrokenPair(index, reason))
    return PairReport(tuple(kept), fold.unanswered, tuple(dropped))
