"""What is cleaned up when a tool call or a run is over, and in which order (CTX-4)?

Cleanups start newest first and run side by side, each bounded in time. One that fails or hangs never holds up another,
and never changes what the run gives.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from agentfootprint.events import (
    Payload,
    ToolsSessionClosed,
    ToolsSessionCloseFailed,
    ToolsSessionReused,
    ToolsSessionStarted,
)
from agentfootprint.tools.errors import ToolTeardownTimeoutError

__all__ = ["Cleanup", "CloseReason", "Kept", "SessionHook", "Teardown", "TeardownScope", "clean_up", "key_hash"]

Cleanup: TypeAlias = Callable[[], Awaitable[None] | None]
TeardownScope: TypeAlias = Literal["call", "run", "session", "shutdown"]
CloseReason: TypeAlias = Literal["call-end", "run-end", "session-end", "shutdown", "idle", "evicted"]
SessionHook: TypeAlias = Callable[[Payload], None]
"""Files an event about something that a tool keeps open."""

_log = logging.getLogger(__name__)
_DEFAULT_TIMEOUT: Final = 5.0
_SHOWN_HEX: Final = 12


def key_hash(key: str) -> str:
    """What is told of a key, which never leaves the process (AGT-157)."""
    return hashlib.sha256(key.encode()).hexdigest()[:_SHOWN_HEX]


@dataclass(slots=True)
class Kept:
    """One thing that a tool keeps open, and how it is cleaned up."""

    tool: str
    scope: TeardownScope
    key: str
    cleanup: Cleanup
    runner_id: str | None = None
    label: str | None = None
    calls: int = 1

    def _named(self) -> dict[str, Any]:
        return {
            "tool": self.tool,
            "scope": self.scope,
            "key_hash": key_hash(self.key),
            "runner_id": self.runner_id,
            "label": self.label,
        }

    def started(self) -> Payload:
        """The event that says it was opened."""
        return ToolsSessionStarted(**self._named())

    def reused(self) -> Payload:
        """Count another use; the event that says so."""
        self.calls += 1
        return ToolsSessionReused(**self._named(), calls=self.calls)

    def closed(self, reason: CloseReason, duration_ms: int, problem: Exception | None) -> Payload:
        """The event that says how its cleanup went."""
        if problem is None:
            return ToolsSessionClosed(**self._named(), reason=reason, duration_ms=duration_ms)
        return ToolsSessionCloseFailed(
            **self._named(),
            reason=reason,
            duration_ms=duration_ms,
            error=str(problem),
            error_class=type(problem).__name__,
        )


class Teardown:
    """The cleanups of one scope of one run. Registering is safe from worker threads.

    Args:
        timeout: Seconds each cleanup may take.
        scope: Which scope it is.
        tell: Files what happens to what is kept; `None`: nobody hears of it.
    """

    def __init__(
        self,
        timeout: float = _DEFAULT_TIMEOUT,
        *,
        scope: Literal["call", "run"] = "run",
        tell: SessionHook | None = None,
    ) -> None:
        self.timeout = timeout
        self.scope: Literal["call", "run"] = scope
        self.tell = tell
        self.closed = False
        self._kept: dict[tuple[str, str], Kept] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def register(
        self, tool: str, key: str, cleanup: Cleanup, *, runner_id: str | None = None, label: str | None = None
    ) -> Payload:
        """Keep a cleanup for later; a second one under the same tool and key is not kept, the first stays.

        Returns:
            The event that says so, which the caller files.
        """
        fresh = Kept(tool, self.scope, key, cleanup, runner_id, label)
        known = self._kept.setdefault((tool, key), fresh)
        return known.started() if known is fresh else known.reused()

    async def close(self) -> tuple[Exception, ...]:
        """Run what was registered, once; a second call does nothing.

        Returns:
            What went wrong, in the order of starting; each was logged, none is raised.
        """
        self.closed = True
        pending, self._kept = self._kept, {}
        reason: CloseReason = "call-end" if self.scope == "call" else "run-end"
        return await clean_up(reversed(pending.values()), reason, self.timeout, lambda _, payload: self._file(payload))

    def _file(self, payload: Payload) -> None:
        if self.tell is not None:
            self.tell(payload)


async def clean_up(
    kept: Iterable[Kept], reason: CloseReason, seconds: float, tell: Callable[[Kept, Payload], object]
) -> tuple[Exception, ...]:
    """Run cleanups, started in the order given, side by side.

    Args:
        kept: What is cleaned up.
        reason: What made it due.
        seconds: How long each may take.
        tell: Files how each went.

    Returns:
        What went wrong, in the order of starting; each was logged, none is raised.
    """

    async def one(each: Kept) -> Exception | None:
        began = time.perf_counter_ns()
        problem = await _run(each.tool, each.cleanup, seconds)
        tell(each, each.closed(reason, (time.perf_counter_ns() - began) // 1_000_000, problem))
        return problem

    outcomes = await asyncio.gather(*(one(each) for each in kept))
    return tuple(outcome for outcome in outcomes if outcome is not None)


async def _run(tool: str, cleanup: Cleanup, seconds: float) -> Exception | None:
    bound = asyncio.timeout(seconds)
    try:
        async with bound:
            if inspect.iscoroutinefunction(cleanup):
                await cleanup()
            else:
                outcome = await asyncio.to_thread(cleanup)  # a plain function may block
                if inspect.isawaitable(outcome):
                    await outcome
    except Exception as failure:  # noqa: BLE001  the user's cleanup, which may raise anything
        problem = ToolTeardownTimeoutError(tool, seconds) if bound.expired() else failure
        _log.warning("A cleanup of the tool %r failed with %s.", tool, type(problem).__name__)
        return problem
    return None
