"""What is left of a run that ended while it went through calls that had been asked about together?

Those that have landed keep their results, the one that ran may have acted and is told so, and the rest never ran.
"""

from __future__ import annotations

from agentfootprint.agent.keeping.settling import interrupted_message
from agentfootprint.agent.pausing.rejoining import read_noted
from agentfootprint.agent.pausing.settling import settled_message
from agentfootprint.agent.pausing.together.resuming import batch_of, window_with
from agentfootprint.agent.pausing.waiting import TakenUp
from agentfootprint.llm import LLMMessage, NotDispatched
from agentfootprint.trace import FrozenList, Value

__all__ = ["interrupted_window"]


def interrupted_window(taken: TakenUp, history: FrozenList, noted: Value) -> FrozenList:
    """The window of such a run, with an answer for every call.

    Args:
        taken: The calls.
        history: The window as it was committed.
        noted: What the pause noted of the batch.
    """
    answered, _ = read_noted(noted)
    batch = batch_of(taken, history, answered)
    calls = history[batch.turn].tool_calls
    mark = NotDispatched(cause="stopped")
    places = [*(waiting.ordinal for waiting in taken.waiting), *(place for place, _ in batch.undispatched)]
    added: dict[int, LLMMessage] = dict(taken.answers)
    for place in places:
        if place not in added:
            call = calls[place]
            added[place] = interrupted_message(call) if place == taken.running else settled_message(call, mark)
    return window_with(history, batch, answered, added)
