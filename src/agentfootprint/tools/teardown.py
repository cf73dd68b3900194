"""What is cleaned up when a tool call or a run is over, and in which order (CTX-4)?

Cleanups start newest first and run side by side, each bounded in time. One that fails or hangs never holds up another,
and never changes what the run gives.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Literal, TypeAlias

from agentfootprint.tools.errors import ToolTeardownTimeoutError

__all__ = ["Cleanup", "Teardown", "TeardownScope"]

Cleanup: TypeAlias = Callable[[], Awaitable[None] | None]
TeardownScope: TypeAlias = Literal["call", "run"]

_log = logging.getLogger(__name__)
_DEFAULT_TIMEOUT: Final = 5.0


class Teardown:
    """The cleanups of one scope of one run. Registering is safe from worker threads.

    Args:
        timeout: Seconds each cleanup may take.
    """

    def __init__(self, timeout: float = _DEFAULT_TIMEOUT) -> None:
        self.timeout = timeout
        self.closed = False
        self._cleanups: dict[tuple[str, str], Cleanup] = {}

    def __len__(self) -> int:
        return len(self._cleanups)

    def register(self, tool: str, key: str, cleanup: Cleanup) -> None:
        """Keep a cleanup for later; a second one under the same tool and key is not kept, the first stays."""
        self._cleanups.setdefault((tool, key), cleanup)

    async def close(self) -> tuple[Exception, ...]:
        """Run what was registered, once; a second call does nothing.

        Returns:
            What went wrong, in the order of starting; each was logged, none is raised.
        """
        self.closed = True
        pending, self._cleanups = self._cleanups, {}
        newest_first = [(tool, cleanup) for (tool, _), cleanup in reversed(pending.items())]
        outcomes = await asyncio.gather(*(self._run(tool, cleanup) for tool, cleanup in newest_first))
        return tuple(outcome for outcome in outcomes if outcome is not None)

    async def _run(self, tool: str, cleanup: Cleanup) -> Exception | None:
        bound = asyncio.timeout(self.timeout)
        try:
            async with bound:
                if inspect.iscoroutinefunction(cleanup):
                    await cleanup()
                else:
                    outcome = await asyncio.to_thread(cleanup)  # a plain function may block
                    if inspect.isawaitable(outcome):
                        await outcome
        except Exception as failure:  # noqa: BLE001  the user's cleanup, which may raise anything
            problem = ToolTeardownTimeoutError(tool, self.timeout) if bound.expired() else failure
            _log.warning("A cleanup of the tool %r failed with %s.", tool, type(problem).__name__)
            return problem
        return None
