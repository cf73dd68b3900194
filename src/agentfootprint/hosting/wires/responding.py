"""How does a Starlette application send a stream of events?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from agentfootprint._optional import optional

with optional("sse_starlette", extra="server", needed_by="EventStreamResponse"):
    from sse_starlette import EventSourceResponse, ServerSentEvent

if TYPE_CHECKING:
    import anyio

__all__ = ["EventStreamResponse"]

_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class EventStreamResponse(EventSourceResponse):
    """A response that sends framed events as they are: give it what `sse` gives, or bytes (SSE-5).

    It needs the extra `server`. When the client goes, the iterator is closed.

    Args:
        content: Pieces of the stream, framed already: text or bytes.
        status_code: The response's status.
        headers: More headers.
        ping: After how many seconds a comment is sent, so that nothing between closes the connection; 0 for never.
        send_timeout: How long one piece may take to be sent, in seconds.
        client_close_handler_callable: Called when the client has gone.
        shutdown_event: Set when the server stops, so that the iterator may say so and end.
    """

    def __init__(
        self,
        content: AsyncIterator[str] | AsyncIterator[bytes],
        *,
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        ping: float = 15,
        send_timeout: float | None = None,
        client_close_handler_callable: Callable[[Any], Awaitable[None]] | None = None,
        shutdown_event: anyio.Event | None = None,
    ) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]  sse-starlette leaves its dict of an event open
            _as_bytes(content),
            status_code=status_code,
            headers={**(headers or {}), **_HEADERS},
            ping=ping,
            ping_message_factory=_ping,
            send_timeout=send_timeout,
            client_close_handler_callable=client_close_handler_callable,
            shutdown_event=shutdown_event,
        )


def _ping() -> ServerSentEvent:
    return ServerSentEvent(comment="ping", sep="\n")


async def _as_bytes(content: AsyncIterator[str] | AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Bytes are sent as they are; text would be framed once more."""
    try:
        async for piece in content:
            yield piece.encode() if isinstance(piece, str) else piece
    finally:
        close = getattr(content, "aclose", None)
        if close is not None:
            await close()
