"""What is going on, as a document that a client can watch?

Invariants (AGU-52): only what stands under `agentfootprint` is ever changed; what changed in one event is one delta,
with a value for each member that changed; the client's own state is opaque, and one that is no object is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, cast

from agentfootprint.agui.mapping.calls import OpenCall
from agentfootprint.agui.mapping.moments import Moment, clean, told, whole
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.mapping.usage import Spent
from agentfootprint.events import (
    CostTick,
    Event,
    IterationStart,
    PauseRequest,
    PauseResume,
    SkillActivated,
    SkillDeactivated,
    Token,
)
from agentfootprint.observe import StatusLine
from agentfootprint.trace import thaw

__all__ = ["LiveDocument"]

_KEY: Final = "agentfootprint"
_NO_STATE: Final[Mapping[str, Any]] = {}
_WRITING: Final = {"streaming": "Writing the answer…"}
"""The text itself is sent as a message; a line that repeats it would be sent again with every piece of it."""


class LiveDocument:
    """The state document of one run.

    Args:
        client_state: The client's own state; `None` when it has none.
        is_wanted: Whether state is sent at all.
    """

    def __init__(self, client_state: object, *, is_wanted: bool) -> None:
        given: object = _NO_STATE if client_state is None else client_state
        self.is_live = is_wanted and isinstance(given, Mapping)
        self._client: dict[str, Any] = thaw(cast("Any", given)) if self.is_live else {}
        self._status = StatusLine(templates=_WRITING)
        self._doc: dict[str, Any] = {
            "status": "running",
            "line": "",
            "iteration": 0,
            "activeTools": [],
            "usage": {"inputTokens": 0, "outputTokens": 0},
            "activeSkills": [],
        }

    def snapshot(self, stamp: Mapping[str, Any] | None = None) -> core.Event:
        """The whole of it."""
        return core.StateSnapshotEvent(snapshot={**self._client, _KEY: thaw(self._doc)}, **(stamp or {}))

    def paused(self, pending: Sequence[core.Interrupt]) -> None:
        """The run waits, though no event said so."""
        self._doc |= {"status": "paused", "pending": [question.id for question in pending]}

    def hear(
        self, moment: Moment, calls: Sequence[OpenCall], spent: Spent, pending: Sequence[core.Interrupt]
    ) -> list[core.Event]:
        """Take an event into account, when all others have."""
        event, payload = moment.event, moment.payload
        kind = event.type
        if kind == Token.type and self._doc["line"] == _WRITING["streaming"]:
            return []  # it says so already
        tokens_in, tokens_out = spent.totals
        changed: dict[str, Any] = {
            "line": self._line(event),
            "activeTools": [{"toolCallId": call.id, "name": call.tool_name} for call in calls],
            "usage": {"inputTokens": tokens_in, "outputTokens": tokens_out},
        }
        if kind == IterationStart.type:
            changed["iteration"] = whole(payload, "iter_index") or self._doc["iteration"]
        elif kind == CostTick.type:
            cost = told(told(payload, "cumulative"), "estimated_usd")
            if isinstance(cost, (int, float)) and not isinstance(cost, bool):
                changed["costUsd"] = cost
        elif kind in (SkillActivated.type, SkillDeactivated.type):
            changed["activeSkills"] = self._skills(payload, active=kind == SkillActivated.type)
        elif kind == PauseRequest.type:
            changed |= {"status": "paused", "pending": [question.id for question in pending]}
        elif kind == PauseResume.type:
            changed |= {"status": "running", "pending": None}
        return self._delta(changed, moment.stamp)

    def end(self, status: Literal["done", "failed"], stamp: Mapping[str, Any]) -> list[core.Event]:
        """The run is over."""
        return self._delta({"status": status, "line": "", "activeTools": [], "pending": None}, stamp)

    def _line(self, event: Event[Any]) -> str:
        self._status.hear(event)
        return clean(self._status.line() or "")

    def _skills(self, payload: object, *, active: bool) -> list[str]:
        skill: object = told(payload, "skill_id")
        known: list[str] = self._doc["activeSkills"]
        if not isinstance(skill, str):
            return known
        others = [each for each in known if each != skill]
        return [*others, clean(skill)] if active else others

    def _delta(self, changed: Mapping[str, Any], stamp: Mapping[str, Any]) -> list[core.Event]:
        patch: list[dict[str, Any]] = []
        for key, value in changed.items():
            if self._doc.get(key) == value:
                continue
            path = f"/{_KEY}/{key}"
            if value is None:
                del self._doc[key]
                patch.append({"op": "remove", "path": path})
                continue
            patch.append({"op": "replace" if key in self._doc else "add", "path": path, "value": value})
            self._doc[key] = value
        if not patch:
            return []
        return [core.StateDeltaEvent(delta=cast("Any", patch), **stamp)]  # the models read operations from objects
