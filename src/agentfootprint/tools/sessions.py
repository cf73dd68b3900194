"""What do the tools of an agent keep open beyond a run, for a session or until the agent is closed (CTX-4)?

One `ToolSessions` an agent. What is kept belongs to one session of one tenant and principal; another session's is never
reached, whatever key a tool chose. What nobody used for long, and what is too many, is cleaned up by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

from agentfootprint.events import Payload
from agentfootprint.identity import encode_identity_field
from agentfootprint.tools.teardown import Cleanup, CloseReason, Kept, SessionHook, TeardownScope, clean_up

if TYPE_CHECKING:
    from agentfootprint.identity import Identity

__all__ = ["ToolSessions", "tool_session_key"]

_IDLE: Final = 900.0
_MOST: Final = 64


class _Caller(Protocol):
    """What of a tool's context says whose a session is."""

    @property
    def tool_call_id(self) -> str: ...
    @property
    def session_id(self) -> str | None: ...
    @property
    def run_id(self) -> str | None: ...
    @property
    def identity(self) -> Identity | None: ...


def tool_session_key(ctx: _Caller, scope: TeardownScope) -> str | None:
    """Which session of a tool a call belongs to, as one text (CTX-5); `None` where there is none.

    Args:
        ctx: The tool's context.
        scope: How long the session lasts.
    """
    if scope == "shutdown":
        return None
    if scope == "call":
        return f"c={encode_identity_field(ctx.tool_call_id)}" if ctx.tool_call_id else None
    last = ctx.session_id if scope == "session" else ctx.run_id
    if not last:
        return None
    who = ctx.identity
    tenant = encode_identity_field(None if who is None else who.tenant)
    principal = encode_identity_field(None if who is None else who.principal)
    return f"t={tenant}/p={principal}/{scope[0]}={encode_identity_field(last)}"


@dataclass(slots=True)
class _Session:
    kept: Kept
    session_id: str | None
    tell: SessionHook
    used_at: float


class ToolSessions:
    """What the tools of one agent keep open; use it on the event loop.

    Args:
        timeout: Seconds each cleanup may take.
        idle: Seconds after which what nobody used is cleaned up, looked at whenever something is kept.
        most: How many things may be open; the one that was not used for longest makes room.
        clock: Tells the time, in seconds.
    """

    def __init__(
        self,
        timeout: float = 5.0,
        *,
        idle: float = _IDLE,
        most: int = _MOST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout = timeout
        self._idle = idle
        self._most = most
        self._clock = clock
        self._open: dict[tuple[str, str, str, str], _Session] = {}
        self._closing: set[asyncio.Task[object]] = set()

    def __len__(self) -> int:
        return len(self._open)

    def keep(
        self,
        tool: str,
        key: str,
        cleanup: Cleanup,
        *,
        scope: Literal["session", "shutdown"],
        owner: str,
        session_id: str | None,
        tell: SessionHook,
        runner_id: str | None = None,
        label: str | None = None,
    ) -> Payload:
        """Keep a cleanup for later; a second one under the same tool, owner and key is not kept, the first stays.

        Args:
            tool: The tool's name.
            key: What is kept.
            cleanup: How it is cleaned up.
            scope: How long it is kept.
            owner: Whose it is; nobody else's is found under its key.
            session_id: The session that `close` names.
            tell: Files how its cleanup goes, with the meta of the run that opened it.
            runner_id: The code runner's id.
            label: The tool's own words for it.

        Returns:
            The event that says so, which the caller files.
        """
        now = self._clock()
        place = (scope, owner, tool, key)
        known = self._open.get(place)
        if known is not None:
            known.used_at = now
            payload = known.kept.reused()
        else:
            kept = Kept(tool, scope, key, cleanup, runner_id, label)
            self._open[place] = _Session(kept, session_id, tell, now)
            payload = kept.started()
        self._sweep(now)
        return payload

    def _sweep(self, now: float) -> None:
        idle = [place for place, each in self._open.items() if now - each.used_at >= self._idle]
        self._begin(idle, "idle")
        spare = len(self._open) - self._most
        if spare > 0:
            coldest = sorted(self._open, key=lambda place: self._open[place].used_at)
            self._begin(coldest[:spare], "evicted")

    def _begin(self, places: list[tuple[str, str, str, str]], reason: CloseReason) -> None:
        if places:
            task = asyncio.get_running_loop().create_task(self._close(places, reason))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self, session_id: str | None = None, reason: CloseReason = "session-end") -> int:
        """Clean up what is kept for a session, or for all.

        Args:
            session_id: The session; `None`: every one.
            reason: Stands in the events.

        Returns:
            How many things were open.
        """
        places = [
            place
            for place, each in self._open.items()
            if place[0] == "session" and (session_id is None or each.session_id == session_id)
        ]
        await self._close(places, reason)
        return len(places)

    async def close_all(self) -> int:
        """Clean up everything, and wait for what is being cleaned up already; gives how many things were open."""
        places = list(self._open)
        await self._close(places, "shutdown")
        if self._closing:
            await asyncio.wait(self._closing)
        return len(places)

    async def _close(self, places: Iterable[tuple[str, str, str, str]], reason: CloseReason) -> None:
        due = [self._open.pop(place) for place in places]
        heard = {id(each.kept): each.tell for each in due}
        await clean_up(
            (each.kept for each in reversed(due)),
            reason,
            self._timeout,
            lambda kept, payload: heard[id(kept)](payload),
        )
