"""What can go wrong with a run: its input, its answer, its time."""

from __future__ import annotations

from typing import Literal

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "DeadlineExceededError",
    "InvalidRunInputError",
    "OutputSchemaError",
    "RunCancelledError",
]


class InvalidRunInputError(AgentFootprintError, TypeError):
    """What was given to `run` is no message (AGT-11); `received` is its shape, never its value."""

    code = "ERR_INVALID_RUN_INPUT"

    def __init__(self, runner: str, received: str) -> None:
        super().__init__(
            f"{runner} needs a message, but got {received}.",
            fix='Give a text that is not empty, or {"message": text}.',
        )
        self.runner = runner
        self.received = received


class OutputSchemaError(AgentFootprintError, ValueError):
    """The answer does not fit the declared output (AGT-127).

    `raw_output` is the answer's text, `stage` where it failed, `path` the first field at fault.
    """

    code = "ERR_OUTPUT_SCHEMA"

    def __init__(
        self,
        raw_output: str,
        stage: Literal["json-parse", "schema-validate"],
        path: str | None,
        attempts: int,
    ) -> None:
        where = f" at {path!r}" if path else ""
        what = "is not JSON" if stage == "json-parse" else f"does not fit the output type{where}"
        tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        super().__init__(
            f"The answer {what}, after {tries}.",
            fix="Read result.text for the answer as it is, or allow more Output(retries=).",
        )
        self.raw_output = raw_output
        self.stage: Literal["json-parse", "schema-validate"] = stage
        self.path = path


class RunCancelledError(AgentFootprintError):
    """The run was cancelled through its handle; `reason` as given."""

    code = "ERR_CANCELLED"

    def __init__(self, run_id: str, reason: str | None) -> None:
        super().__init__(
            f"The run {run_id} was cancelled{f': {reason}' if reason else ''}.",
            fix="Start it again when it is wanted.",
        )
        self.run_id = run_id
        self.reason = reason


class DeadlineExceededError(AgentFootprintError, TimeoutError):
    """The run took longer than `limits.deadline` allows; `deadline` in seconds."""

    code = "ERR_DEADLINE"

    def __init__(self, run_id: str, deadline: float) -> None:
        super().__init__(
            f"The run {run_id} did not finish within its deadline of {deadline:g} s.",
            fix="Raise Limits(deadline=), or make its tools and model faster.",
        )
        self.run_id = run_id
        self.deadline = deadline
