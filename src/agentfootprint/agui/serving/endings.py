"""How did the run of a request end, as its client is told it (AGU-11, AGU-15, AGU-16)?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import UNSET

from agentfootprint.agent import (
    CheckpointFormatError,
    DecisionRequiredError,
    InputRequestError,
    InvalidRunInputError,
    MessageDeniedError,
    PauseAnswerRequiredError,
    RunCheckpointError,
    StaleDecisionError,
)
from agentfootprint.agui.errors import AgUiRefusedError
from agentfootprint.agui.mapping.outcomes import Cancelled, ErrorCode, Failed, Interrupted, Outcome, Succeeded
from agentfootprint.errors import AgentFootprintError
from agentfootprint.llm import error_bucket, humanize_llm_error, looks_like_context_window_exceeded
from agentfootprint.trace import ValueRefusedError, freeze, thaw

if TYPE_CHECKING:
    from agentfootprint.agent import Paused, RunResult
    from agentfootprint.agui.options import AgUiOptions

__all__ = ["failed", "for_peer", "interrupted", "outcome_of", "refusal_of"]

_KNOWN: Final[Mapping[str, tuple[ErrorCode, str]]] = {
    "ERR_POLICY_HALT": ("policy_halt", "A policy stopped the run."),
    "ERR_OUTPUT_SCHEMA": ("schema_unmet", "The answer does not have the form that was declared for it."),
    "ERR_DEADLINE": ("timeout", "The run took longer than it may."),
    "ERR_PROVIDER_TIMEOUT": ("timeout", "The model took longer to answer than it may."),
    "ERR_MESSAGE_DENIED": ("run_failed", "A rule of this application denied the message or the answer."),
}
_UNTOLD: Final = ("raw", "unknown")
"""Kinds of errors that have no sentence of ours."""
_CANCELLED: Final = "The run was cancelled."


def outcome_of(result: RunResult[Any], options: AgUiOptions) -> Outcome:
    """The outcome of a run that came to a result."""
    if result.paused is not None:
        return interrupted(result.paused)
    if result.ended_because == "cancelled":
        return Cancelled()
    shown = thaw(freeze(options.result(result))) if callable(options.result) else UNSET  # refused here if no JSON
    return Succeeded(text=result.text, result=shown)


def interrupted(paused: Paused) -> Interrupted:
    """The outcome of a run that waits for a person."""
    return Interrupted(consent_urls=_consent_urls([each.data for each in paused.questions]))


def _consent_urls(questions: list[Mapping[str, Any]]) -> dict[str, str]:
    urls: dict[str, str] = {}
    for data in questions:
        consent: object = data.get("authorization")
        if isinstance(consent, Mapping):
            asked = cast("Mapping[str, object]", consent)
            session, url = asked.get("sessionId"), asked.get("authorizationUrl")
            if isinstance(url, str):
                urls[session if isinstance(session, str) else ""] = url
    return urls


def failed(error: BaseException) -> Outcome:
    """The outcome of a run that raised; what is said are sentences of ours, never words of a vendor or of a tool."""
    cause = error.cause if isinstance(error, RunCheckpointError) else error
    code = cause.code if isinstance(cause, AgentFootprintError) else ""
    if code == "ERR_CANCELLED":
        return Cancelled()
    if code in _KNOWN:
        kind, sentence = _KNOWN[code]
        return Failed(code=kind, message=sentence)
    if looks_like_context_window_exceeded(cause):
        return Failed(code="context_window", message="The conversation is longer than the model can read.")
    said = "The run failed." if error_bucket(cause) in _UNTOLD else humanize_llm_error(cause)
    return Failed(message=said)


def for_peer(outcome: Outcome, protocol_version: str | None) -> Outcome:
    """The outcome as a client of that version can read it: before 1.0 nothing is `cancelled` (AGU-83)."""
    if isinstance(outcome, Cancelled) and protocol_version is None:
        return Failed(code="cancelled", message=_CANCELLED)
    return outcome


def refusal_of(error: Exception) -> AgUiRefusedError:
    """Why the agent did not begin, in words without anything of the request."""
    if isinstance(error, AgUiRefusedError):
        return error
    if isinstance(error, InvalidRunInputError):
        return AgUiRefusedError("invalid_input", "The message has no text.", fix="Send a text that is not empty.")
    answers = (
        DecisionRequiredError,
        InputRequestError,
        PauseAnswerRequiredError,
        StaleDecisionError,
        ValueRefusedError,
    )
    if isinstance(error, answers):
        return AgUiRefusedError(
            "interrupt_invalid", "The answer does not fit what was asked.", fix="Answer as the interrupt describes it."
        )
    if isinstance(error, CheckpointFormatError):
        return AgUiRefusedError(
            "internal", "The conversation can't be taken up by this agent.", fix="Begin a new thread."
        )
    if isinstance(error, MessageDeniedError):
        return AgUiRefusedError("invalid_input", "A rule denied the message.", fix="Say it otherwise.")
    return AgUiRefusedError("internal", "The run could not be started.", fix="Try again later.")
