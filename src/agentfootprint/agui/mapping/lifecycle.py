"""How does a run begin and end for its client?

Invariants (AGU-10, AGU-11, AGU-16): there is one terminal event; what it says of a failure is the record's own plain
sentence, or a fixed one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from agentfootprint.agui.mapping.moments import Moment, label, told
from agentfootprint.agui.mapping.outcomes import ErrorCode, Failed
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.trace import thaw

__all__ = ["Ending", "finished"]

_SENTENCES: Final[Mapping[ErrorCode, str]] = {
    "run_failed": "The run failed.",
    "invalid_input": "The input can't be used.",
    "thread_busy": "A run is going on in this thread. Wait until it has ended.",
    "interrupt_pending": "The thread waits for an answer.",
    "interrupt_unknown": "That question is not open.",
    "interrupt_incomplete": "Not every open question was answered.",
    "interrupt_invalid": "An answer does not fit its question.",
    "interrupt_expired": "The question has expired.",
    "policy_halt": "A policy stopped the run.",
    "schema_unmet": "The answer does not fit the form that was asked for.",
    "context_window": "The conversation is too long for the model.",
    "timeout": "The run took too long.",
    "cancelled": "The run was cancelled.",
    "internal": "The run can't be shown.",
}


_DENIED: Final = "A rule of this application denied the message or the answer."


class Ending:
    """How a run ended, as far as its events say."""

    def __init__(self) -> None:
        self._failed: str | None = None
        self._code: ErrorCode = "run_failed"

    def failed(self, moment: Moment) -> None:
        """The run failed."""
        self._failed = label(moment.payload, "error") or _SENTENCES["run_failed"]

    def halted(self) -> None:
        """A checker stopped the run; the failure follows."""
        self._code = "policy_halt"

    def ruled(self, moment: Moment) -> None:
        """A rule has decided; one that denies the message or the answer of the run ends it without another word."""
        if not moment.scope and told(moment.payload, "at") == "message" and told(moment.payload, "outcome") == "deny":
            self._failed = _DENIED

    def unmet(self) -> None:
        """The answer misses its schema; a failure may follow."""
        self._code = "schema_unmet"

    def answered(self, moment: Moment) -> None:
        """There is an answer, so what failed before was not the run; unless the answer was denied."""
        if told(moment.payload, "denied") is not True:
            self.went_on()

    def went_on(self) -> None:
        """What failed was not the run."""
        self._failed, self._code = None, "run_failed"

    @property
    def failure(self) -> Failed | None:
        """The failure, if there was one."""
        return None if self._failed is None else Failed(message=self._failed, code=self._code)

    def sentence(self, outcome: Failed) -> str:
        """What a person reads of a failure."""
        return outcome.message or self._failed or _SENTENCES[outcome.code]


def finished(
    ids: tuple[str, str],
    outcome: core.RunFinishedOutcome,
    usage: list[core.TokenUsage] | None,
    stamp: Mapping[str, Any],
    result: Any = UNSET,  # noqa: ANN401  any JSON value
) -> core.Event:
    """The event that ends a run which did not fail.

    Args:
        ids: Thread and run.
        outcome: How it ended.
        usage: Tokens by model.
        stamp: Its time.
        result: What the run gave; left out for nothing.
    """
    more: dict[str, Any] = {} if result is UNSET or result is None else {"result": thaw(result)}
    return core.RunFinishedEvent(thread_id=ids[0], run_id=ids[1], outcome=outcome, usage=usage, **more, **stamp)
