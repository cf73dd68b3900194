"""Where calls ran side by side and one of them asked a person: how do the results come into call order?

Calls behind the one that asked may have ended before the answer is there. Their messages stand in the window at once,
for whoever reads it meanwhile; when the answer comes, all of the batch is put in call order (AGT-57).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from agentfootprint.trace import FrozenList, JsonObject, Value

__all__ = ["in_call_order", "read_noted"]


def read_noted(noted: Value) -> tuple[Sequence[int] | None, int]:
    """What the pause noted: places of the calls with a result, and how many calls were announced.

    A note that is none, from a checkpoint that somebody else wrote, counts as absent.
    """
    if not isinstance(noted, Mapping):
        return None, 0
    found = cast("JsonObject", noted)
    places, announced = found.get("answered"), found.get("announced")
    if type(announced) is not int or not isinstance(places, (FrozenList, list, tuple)):
        return None, 0
    known = list(cast("Sequence[object]", places))
    if not all(type(place) is int and place >= 0 for place in known) or len(set(known)) != len(known):
        return None, 0
    return cast("list[int]", known), announced


def in_call_order(history: FrozenList, places: Sequence[int]) -> FrozenList:
    """The window with the tool messages at its end in call order.

    Args:
        history: The window; its last messages are those of one batch, one for each of `places`.
        places: Of which call each of them is.
    """
    start = len(history) - len(places)
    tail = history.tail(start) if start >= 0 else ()
    if start < 0 or any(message.role != "tool" for message in tail):
        return history  # somebody changed it meanwhile
    ordered = [message for _, message in sorted(zip(places, tail, strict=True), key=lambda pair: pair[0])]
    return history[:start].extend(ordered)
