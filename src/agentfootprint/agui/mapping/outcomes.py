"""How did a run end, as far as its client is told?

Invariants: what a client reads of a failure is one plain sentence and a code of a fixed list, never a traceback, an
address, a key, an argument or a provider's own text (AGU-16).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET

from agentfootprint.trace import JsonObject

__all__ = ["Cancelled", "ErrorCode", "Failed", "Interrupted", "Outcome", "Succeeded"]

ErrorCode: TypeAlias = Literal[
    "run_failed",
    "invalid_input",
    "thread_busy",
    "interrupt_pending",
    "interrupt_unknown",
    "interrupt_incomplete",
    "interrupt_invalid",
    "interrupt_expired",
    "policy_halt",
    "schema_unmet",
    "context_window",
    "timeout",
    "cancelled",
    "internal",
]
"""The codes of RUN_ERROR (AGU-16)."""

_NO_URLS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded:
    """The run has an answer.

    Args:
        text: The answer as it is handed to the caller; left out, it is read from the events.
        result: What RUN_FINISHED carries, a JSON value; left out, it is what `AgUiOptions.result` says of the text.
        pending_tool_call_ids: Calls of the front end's own tools that wait for their results (AGU-45).
    """

    text: str | None = None
    result: Any = UNSET
    pending_tool_call_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """The run waits for a person; what it asks is read from its events.

    Args:
        data: What is asked, as `Paused.data` has it; only for a run that no event says paused, such as one whose
            request for values was answered in part.
        consent_urls: Where a person consents, by the id of the consent's own session (`sessionId` of the question);
            only for the authenticated owner (AGU-71).
    """

    data: JsonObject | None = field(default=None, repr=False)
    consent_urls: Mapping[str, str] = field(default_factory=lambda: _NO_URLS, repr=False)


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The run was stopped before its end, and did not fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The run failed, or never began.

    Args:
        message: One plain sentence for a person; left out, it is read from the events.
        code: Which kind of failure.
    """

    message: str | None = None
    code: ErrorCode = "run_failed"


Outcome: TypeAlias = Succeeded | Interrupted | Cancelled | Failed
"""What `Mapper.end` takes."""
