"""Which calls of a conversation have no result, and what is said in their place?

A vendor refuses a request in which a proposed call is unanswered. So a history that is taken up has each answered, in
its place: behind the turn that proposed it (AGT-99). A call that may have acted is told so, and is not marked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from agentfootprint.agent.pausing.settling import settled_message
from agentfootprint.llm import CallPosition, LLMMessage, NotDispatched, Pairing, ToolCall, verify_pairs
from agentfootprint.trace import FrozenList

__all__ = ["INTERRUPTED_TEXT", "all_answered", "answered_history", "interrupted_message", "with_answers"]

INTERRUPTED_TEXT: Final = (
    "This call of {tool} was interrupted: the run was stopped while it ran. Whether it took effect is not known."
)
_STOPPED: Final = NotDispatched(cause="stopped")
_HISTORY: Final = NotDispatched(cause="history")


def interrupted_message(call: ToolCall) -> LLMMessage:
    """What answers a call that ran when the run was stopped."""
    text = INTERRUPTED_TEXT.format(tool=call.name)
    return LLMMessage("tool", text, tool_call_id=call.id, tool_name=call.name)


def all_answered(history: FrozenList, begun: Collection[CallPosition]) -> FrozenList:
    """The history of a run that was stopped, with an answer for every call.

    Args:
        history: The messages; the last batch may be open.
        begun: The calls that were running.
    """
    report = verify_pairs(tuple(history), repair=True)
    answers = {
        place: interrupted_message(_call(history, place))
        if place in begun
        else settled_message(_call(history, place), _STOPPED)
        for place in report.unanswered
    }
    return with_answers(history, answers)


def answered_history(history: FrozenList, unanswered: Iterable[CallPosition]) -> FrozenList:
    """A history in which calls without a result are said not to have been executed.

    Args:
        history: The messages.
        unanswered: The calls.
    """
    return with_answers(history, {place: settled_message(_call(history, place), _HISTORY) for place in unanswered})


def with_answers(history: FrozenList, answers: dict[CallPosition, LLMMessage]) -> FrozenList:
    """The history with answers for open calls, each where its call stands in its batch (AGT-57); the same for none.

    What stands there keeps its order: behind results that are not in call order, answers come last.

    Args:
        history: The messages.
        answers: What answers each open call.
    """
    if not answers:
        return history
    by_turn: dict[int, list[tuple[int, LLMMessage]]] = {}
    for place in sorted(answers):
        by_turn.setdefault(place.message, []).append((place.call, answers[place]))
    messages: list[LLMMessage] = []
    missing: list[tuple[int, LLMMessage]] = []
    there: list[tuple[int, LLMMessage]] = []
    pairing = Pairing()
    for index, message in enumerate(history):
        place = pairing.answer(message.tool_call_id or "") if message.role == "tool" else None
        if missing and message.role == "tool":
            there.append((-1 if place is None else place.call, message))
            continue
        messages += _merged(there, missing)
        missing, there = by_turn.get(index, []), []
        messages.append(message)
        if message.tool_calls:
            pairing.propose(index, message.tool_calls)
    messages += _merged(there, missing)
    return FrozenList(messages, len(messages))


def _merged(there: list[tuple[int, LLMMessage]], missing: list[tuple[int, LLMMessage]]) -> list[LLMMessage]:
    places = [place for place, _ in there]
    batch = [*there, *missing]
    if places == sorted(places):
        batch.sort(key=lambda each: each[0])
    return [answer for _, answer in batch]


def _call(history: Sequence[LLMMessage] | FrozenList, place: CallPosition) -> ToolCall:
    return history[place.message].tool_calls[place.call]
