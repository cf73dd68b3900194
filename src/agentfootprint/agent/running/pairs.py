"""Does every call in a request have its result, and every result its call (DEC-10)?

A batch is written whole: the turn, then one result for each call, in call order. So a look at what is new since the
last request is enough, and costs just that. Only where something else stands there is the whole conversation verified,
by the verifier that stands at the doors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentfootprint.llm import verify_pairs
from agentfootprint.trace import FrozenList

if TYPE_CHECKING:
    from agentfootprint.llm import CallPosition, LLMMessage

__all__ = ["PairGuard"]

_NOTHING: Final = FrozenList([], 0)


class PairGuard:
    """Checks the conversation of one run before each of its requests."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known = _NOTHING

    def check(self, history: FrozenList) -> tuple[CallPosition, ...]:
        """Verify a conversation that is about to be sent.

        Returns:
            The calls without a result; none, unless somebody changed what a run had written.

        Raises:
            BrokenPairError: A result answers no call; names its place.
        """
        known = self._known
        if history is known:
            return ()
        if not _is_whole(history.buf, known.n if history.starts_with(known) else 0, history.n):
            unanswered = verify_pairs(tuple(history)).unanswered
            if unanswered:
                return unanswered
        self._known = history
        return ()


def _is_whole(messages: list[Any], start: int, end: int) -> bool:
    """Whether from a place on each turn has the results of its calls behind it, in call order, and nothing is over."""
    at = start
    while at < end:
        message: LLMMessage = messages[at]
        at += 1
        if message.role == "tool":
            return False
        for call in message.tool_calls:
            if at >= end:
                return False
            answer: LLMMessage = messages[at]
            if answer.role != "tool" or answer.tool_call_id != call.id:
                return False
            at += 1
    return True
