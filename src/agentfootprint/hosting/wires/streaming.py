"""How is a run read over HTTP while it happens?

A reader is a cursor over the run's log: a slow one holds nothing back and costs no queue (SSE-3). The stream ends with
the run, however the run ends; what became of it is read from the handle, not from here.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, Literal

from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, event_to_wire
from agentfootprint.hosting.wires.encoding import comment, encode_sse
from agentfootprint.recording import EventFeed, join_tokens

if TYPE_CHECKING:
    from agentfootprint.agent import RunHandle

__all__ = ["sse"]

_BEHIND: Final = 1024
"""How many events a reader may be behind before neighbouring tokens of one call are joined for it."""
_MAX_LAG: Final = 10_000
_DIGITS: Final = 16
"""A number of more digits counts the events of no run."""

Chosen = Callable[[Event[Any]], bool]
Named = Callable[[Event[Any]], str]


def sse(
    run: RunHandle[Any],
    *,
    format: Literal["full", "text"] = "full",
    form: Literal["native", "wire"] = "native",
    filter: Chosen | None = None,
    event_name: Named | None = None,
    heartbeat: float = 0.0,
    cancel_on_disconnect: bool = False,
    max_lag: int = _MAX_LAG,
    last_event_id: str | None = None,
) -> AsyncGenerator[str]:
    """A run as text to send, piece by piece, for `EventStreamResponse` or a response of your own (SSE-2).

    An event's id is how many the run had had by then. A client that comes back with the last one it saw gets what came
    after it; joined tokens have no id of their own, so that some of them may come twice.

    Args:
        run: What `async with agent.stream(...) as run` gives. It must stay entered while this is read.
        format: `"full"` frames every event as `{type, payload, meta}`; `"text"` gives the answer's tokens, unframed.
        form: Whether events that are carried over are left out (`"native"`) or repeated (`"wire"`). Not with `"text"`.
        filter: Which events are sent; all by default. Not with `"text"`.
        event_name: What an event is called in the stream; its type by default. Not with `"text"`.
        heartbeat: After how many seconds of silence a comment is sent; 0 for never. Not with `"text"`.
        cancel_on_disconnect: Whether closing this, as a server does when the client has gone, cancels the run. A client
            that is too far behind is let go without it: it may come back.
        max_lag: How many events a client may be behind; one further behind gets a comment that says so, and the end.
            Not with `"text"`.
        last_event_id: The `Last-Event-ID` of a client that comes back; one that no stream gave starts at the beginning.

    Raises:
        ConfigError: An option has a value that can't work.
    """
    _check(format, form, heartbeat, max_lag)
    if format == "text":
        named = (filter, event_name, last_event_id)
        if any(each is not None for each in named) or heartbeat or form != "native" or max_lag != _MAX_LAG:
            raise ConfigError("format", "A stream of text has no events to choose or name.", fix='Use format="full".')
        pieces = _text(run)
    else:
        feed = run.recording.feed(form)
        pieces = _events(run, feed, filter, event_name, heartbeat, max_lag, _number(last_event_id))
    return _ending(run, pieces) if cancel_on_disconnect else pieces


def _check(format: object, form: object, heartbeat: float, max_lag: int) -> None:
    if format not in ("full", "text"):
        raise ConfigError("format", "There is no such format.", fix='Use "full" or "text".')
    if form not in ("native", "wire"):
        raise ConfigError("form", "There is no such form.", fix='Use "native" or "wire".')
    if not math.isfinite(heartbeat) or heartbeat < 0:
        raise ConfigError("heartbeat", "The heartbeat is no number of seconds from 0.", fix="Give seconds, or 0.")
    if type(max_lag) is not int or max_lag < 1:
        raise ConfigError("max_lag", "The lag is no whole number of events from 1.", fix="Give one, such as 10_000.")


def _number(last_event_id: str | None) -> int:
    """How many events a client has seen already."""
    given = (last_event_id or "").strip()
    return int(given) if given.isascii() and given.isdecimal() and len(given) < _DIGITS else 0


async def _ending(run: RunHandle[Any], pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """The same pieces; left before their end, it cancels the run."""
    is_read = False
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
        is_read = True
    finally:
        if not is_read:
            await run.cancel("the client has gone")


async def _text(run: RunHandle[Any]) -> AsyncGenerator[str]:
    async for piece in run.text():
        yield piece


async def _events(
    run: RunHandle[Any],
    feed: EventFeed,
    chosen: Chosen | None,
    named: Named | None,
    heartbeat: float,
    max_lag: int,
    seen: int,
) -> AsyncGenerator[str]:
    total, is_first = 0, True
    while True:
        is_over = run.is_over
        events = feed.take()
        before, total = total, total + len(events)
        if not is_first and len(events) > max_lag:  # the first batch is what happened before the client came
            yield comment(f"lagged {len(events)}")
            return
        is_first = False
        events, before = events[max(0, seen - before) :], max(before, seen)
        is_joined = len(events) > _BEHIND
        sent = join_tokens(events) if is_joined else events
        for number, event in enumerate(sent, before + 1):
            if chosen is None or chosen(event):
                name = event.type if named is None else named(event)
                yield encode_sse(name, event_to_wire(event), id=None if is_joined else str(number))
        if is_joined:
            yield f"id: {total}\n\n"  # no event: only the place to go on from
        if feed.is_behind():
            continue
        if is_over:
            return
        async with aclosing(_silence(run, heartbeat)) as pings:
            async for ping in pings:
                yield ping


async def _silence(run: RunHandle[Any], heartbeat: float) -> AsyncGenerator[str]:
    """Wait for more, with a comment now and then."""
    while True:
        try:
            async with asyncio.timeout(heartbeat or None):
                await run.changed()
        except TimeoutError:
            yield comment("ping")
        else:
            return
