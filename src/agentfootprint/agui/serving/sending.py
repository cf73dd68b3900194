"""How do events leave over HTTP, to a client that may be slow, silent, or gone?

Invariants: a frame is exactly what the protocol's encoder prints (AGU-80); while nothing happens a comment says that
the connection lives (AGU-81); nothing is kept for a client that does not read: once it is too far behind, it is let go
(SSE-3); a client that has gone is noticed also while nothing is sent to it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Final

from agentfootprint.agui.mapping.protocol import core

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from agentfootprint.agui.serving.replies import Reply

__all__ = ["EventResponse", "frame"]

_log = logging.getLogger("agentfootprint.agui")
HEARTBEAT_SECONDS: Final = 15.0
LOOK_SECONDS: Final = 0.5
"""How often it is looked whether the client still reads."""
STALLED_SECONDS: Final = 60.0
"""How long one frame may wait for a client to read, however little the run has to say."""
_HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
_PARTING_SECONDS: Final = 0.1


def frame(event: core.Event) -> bytes:
    """One event as one frame of the stream."""
    return f"data: {event.model_dump_json(by_alias=True)}\n\n".encode()


class EventResponse:
    """An ASGI response that sends a reply's events as they happen.

    Args:
        reply: Whose events.
        max_lag: How many rows of the run's log the client may be behind.
    """

    def __init__(self, reply: Reply, *, max_lag: int) -> None:
        self._reply = reply
        self._max_lag = max_lag
        self._waits_since: float | None = None
        """When the frame that is being sent was handed over; `None` between frames."""
        self._last = 0.0
        self._one = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  as ASGI has it
        """Send it; returns when all is sent, or the client has gone or was let go."""
        await send({"type": "http.response.start", "status": 200, "headers": list(_HEADERS)})
        self._last = time.monotonic()
        sending = asyncio.create_task(self._events(send))
        watching = [
            asyncio.create_task(each) for each in (self._gone(receive), self._too_far_behind(), self._heartbeats(send))
        ]
        try:
            await asyncio.wait([sending, *watching], return_when=asyncio.FIRST_COMPLETED)
            if sending.done() and not sending.cancelled():
                fault = sending.exception()
                if fault is not None:  # a server that can't send, or a mistake of ours: the client sees a cut stream
                    _log.error("An AG-UI stream was cut: %s.", type(fault).__name__)
                    return
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            for task in (*watching, sending):
                task.cancel()
            await asyncio.wait([*watching, sending])
            for task in watching:
                broke = None if task.cancelled() else task.exception()
                if broke is not None:  # a connection that could not be read or written, and not just closed
                    _log.info("An AG-UI connection broke: %s.", type(broke).__name__)
        if watching[1].done() and not watching[1].cancelled():
            await self._part(send)

    async def _events(self, send: Send) -> None:
        async with aclosing(self._reply.events()) as events:
            async for event in events:
                await self._hand_over(send, frame(event))

    async def _hand_over(self, send: Send, data: bytes) -> None:
        async with self._one:
            self._waits_since = time.monotonic()
            try:
                await send(_body(data))
            finally:
                self._waits_since = None
                self._last = time.monotonic()

    async def _gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async def _too_far_behind(self) -> None:
        """Return once the client is let go."""
        seen = 0
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            waits = self._waits_since
            stalled = waits is not None and time.monotonic() - waits > STALLED_SECONDS
            seen = seen + 1 if self._reply.lag > self._max_lag else 0
            if stalled or seen > 1:  # twice, since a busy server is behind for a moment too
                self._reply.let_go()
                return

    async def _heartbeats(self, send: Send) -> None:
        while True:
            silent = time.monotonic() - self._last
            if silent >= HEARTBEAT_SECONDS and self._waits_since is None:
                await self._hand_over(send, b": ping\n\n")
            await asyncio.sleep(max(LOOK_SECONDS, HEARTBEAT_SECONDS - silent))

    async def _part(self, send: Send) -> None:
        """Say why, if it still gets through."""
        with suppress(TimeoutError, OSError):
            await asyncio.wait_for(send(_body(b": lagged %d\n\n" % self._reply.lag)), _PARTING_SECONDS)


def _body(data: bytes) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": True}
