"""How the steps of a scenario that keep something, or go on with it, are taken: conversations and checkpoints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentfootprint import Agent, Checkpoint, Identity, RunCheckpointError, RunResult
from agentfootprint.agent import Conversation

BUILT_STEPS = frozenset({"followUp", "abandonPause", "checkpoint", "resumeOnError"})
BUILT_STEP_KEYS = {
    "run": frozenset({"identity", "options", "continueFrom", "freshAgent"}),
    "resumeOnError": frozenset({"op", "freshAgent"}),
}
RUNS = ("followUp", "resumeOnError")
READS = frozenset({"abandonPause", "checkpoint"})


class FailedRequestError(Exception):
    """What a scripted provider raises; its status is the vendor's."""

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


def fail(failures: Any, number: int) -> None:
    """Raise where the script says that this request fails."""
    for each in failures:
        if each["request"] == number:
            raise FailedRequestError(each["message"], each.get("status"))


def whom(step: Mapping[str, Any]) -> dict[str, Any]:
    """Whose run a step is, as `Agent.run` takes it."""
    said = step.get("identity")
    named = None if said is None else {re.sub("I", "_i", key).lower(): value for key, value in said.items()}
    return {
        "identity": None if named is None else Identity(**named),
        "session_id": step.get("options", {}).get("sessionId"),
    }


class Kept:
    """What the last run of a scenario left; stored and read again between any two steps."""

    def __init__(self) -> None:
        self._wire: dict[str, Any] = {}

    def result(self, result: RunResult[Any]) -> None:
        self._wire = {"checkpoint": result.checkpoint.to_wire()}
        if result.paused is not None:
            self._wire["pending"] = result.paused.checkpoint.to_wire()

    def error(self, error: Exception) -> None:
        if isinstance(error, RunCheckpointError):
            self._wire = {"checkpoint": Checkpoint.from_json(error.checkpoint.to_json()).to_wire()}

    def conversation(self, agent: Agent[Any, Any]) -> Conversation[Any, Any]:
        return Conversation.from_wire(self._wire, agent=agent)

    @property
    def is_waiting(self) -> bool:
        return "pending" in self._wire

    @property
    def checkpoint(self) -> dict[str, Any]:
        return self._wire["checkpoint"]

    async def read(self, op: str, agent: Agent[Any, Any]) -> Any:
        """The value of a step that asks for what was kept, or gives it up."""
        if op == "checkpoint":
            return shown(self._wire["checkpoint"]) if "checkpoint" in self._wire else None
        conversation = self.conversation(agent)
        dropped = await conversation.abandon_pause()
        self._wire = conversation.to_wire()
        return dropped


def shown(wire: Mapping[str, Any]) -> dict[str, Any]:
    """A checkpoint without what this implementation adds (16.2)."""
    return {key: value for key, value in wire.items() if key != "agentfootprint"}


def cause_of(error: RunCheckpointError) -> dict[str, Any]:
    return {"errorType": "Error", "message": str(error.cause)}
