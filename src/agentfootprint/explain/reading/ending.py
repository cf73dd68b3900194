"""How did a run end, where it did not end with an answer of its own accord? Read off the state, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from agentfootprint.trace import as_object

if TYPE_CHECKING:
    from agentfootprint.recording import Recording

__all__ = ["Ending", "gave_answer", "recorded_ending"]

_LIMITS: Final = {
    "max-iterations": "the limit of iterations was reached",
    "cost-budget": "the cost budget was used up",
}


class Ending(NamedTuple):
    """What kept a run from an answer of its own."""

    flag: str
    """A word for programs: `paused`, `halted`, `denied`, `stopped-early` or `output-unmet`."""
    note: str
    """A sentence for people, without its full stop."""


def recorded_ending(recording: Recording) -> Ending | None:
    """What kept a run from an answer of its own; `None` when nothing did, or nothing is on record.

    Args:
        recording: The run.
    """
    if recording.ended == "paused":
        tool = _text(recording, "pausedToolName")
        about = f" about a call of {tool}" if tool else ""
        return Ending("paused", f"the run waits for a person{about}; its last model call led there and is no answer")
    halted = _text(recording, "policyHaltReason")
    if halted:
        checker, tool = _text(recording, "policyHaltCheckerId"), _text(recording, "policyHaltTarget")
        return Ending("halted", f"the permission checker {checker!r} stopped the run at a call of {tool}: {halted}")
    phase = _text(recording, "messageDeniedPhase")
    if phase:
        what = "denied the message" if phase == "input" else "withheld the answer from the caller"
        rule, why = _text(recording, "messageDeniedBy"), _text(recording, "messageDeniedReason")
        return Ending("denied", f"the rule {rule!r} {what}: {why}")
    return _cut(recording) or _misfit(recording)


def gave_answer(recording: Recording) -> bool:
    """Whether the run's last model call gave an answer; one that led to a question or a halt did not."""
    if not recording.calls or not recording.calls[-1].finished:
        return False
    ending = recorded_ending(recording)
    return ending is None or ending.flag not in _WITHOUT_ANSWER


_WITHOUT_ANSWER: Final = ("paused", "halted")


def _cut(recording: Recording) -> Ending | None:
    early = as_object(recording.value_at("stoppedEarly"))
    if early is None:
        return None
    reason = str(early.get("reason", ""))
    wrapped = "; one more call without tools was made to sum up" if early.get("wrappedUp") is True else ""
    return Ending("stopped-early", f"the run was stopped early: {_LIMITS.get(reason, reason)}{wrapped}")


def _misfit(recording: Recording) -> Ending | None:
    if as_object(recording.value_at("outputContractUnmet")) is None:
        return None
    return Ending("output-unmet", "the answer does not fit the output type that was asked for")


def _text(recording: Recording, key: str) -> str:
    found: object = recording.value_at(key)
    return found if isinstance(found, str) else ""
