"""`agentfootprint serve`: an agent behind a URL, for a page or a program that speaks AG-UI."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agentfootprint._optional import optional
from agentfootprint.cli.agents import import_agent, running_their_code
from agentfootprint.cli.errors import AddressError, UsageError
from agentfootprint.cli.front import streams_of

if TYPE_CHECKING:
    from agentfootprint.agui import AgUi
    from agentfootprint.cli.streams import Streams
    from agentfootprint.hosting import SqliteSessions

__all__ = ["HELP", "serve"]

HELP: Final = """\
Usage: agentfootprint serve --agui MODULE:ATTRIBUTE [OPTIONS]

Serve an agent in AG-UI: POST with the request of an AG-UI client answers with
a stream of events. Ctrl-C ends it: what still goes on after 3 seconds is
cancelled, and what there is of it is kept.

Agent      --agui MOD:ATTR   The agent, imported from the current directory.
           --sessions FILE   Keep threads in this file, so that they outlive
                             the process; several may share it.

Address    --host HOST       Default 127.0.0.1: this machine only. Nobody is
                             asked who they are.
           --port PORT       Default 8000; 0 takes a free one.
           --path PATH       Default /agent.

Output     --json -q

Examples   agentfootprint serve --agui refunds:agent
           agentfootprint serve --agui refunds:agent --sessions threads.db
"""
_HIGHEST_PORT: Final = 65535
_BACKLOG: Final = 2048
_DRAIN_SECONDS: Final = 3
_AT_LAST_SECONDS: Final = 30
"""For what can't be cancelled in order."""
_LOOK_SECONDS: Final = 0.1
_HERE: Final = ("127.0.0.1", "localhost", "::1")


def serve(
    context: typer.Context,
    agui: Annotated[str | None, typer.Option("--agui", metavar="MODULE:ATTRIBUTE")] = None,
    sessions: Annotated[Path | None, typer.Option("--sessions", metavar="FILE")] = None,
    host: Annotated[str, typer.Option("--host", metavar="HOST")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT")] = 8000,
    path: Annotated[str, typer.Option("--path", metavar="PATH")] = "/agent",
) -> None:
    """Serve an agent in AG-UI."""
    streams = streams_of(context)
    if agui is None:
        raise UsageError("No agent is named.", fix="Name one: agentfootprint serve --agui refunds:agent.")
    if not 0 <= port <= _HIGHEST_PORT:
        raise UsageError(f"--port {port} is no port.", fix=f"Give one from 1 to {_HIGHEST_PORT}, or 0 for a free one.")
    with optional("uvicorn", extra="agui", needed_by="agentfootprint serve"):
        import uvicorn
    from agentfootprint.agui import agui_app
    from agentfootprint.hosting import SqliteSessions

    agent: Any = import_agent(agui, option="--agui", needed=("run", "stream"))
    store = None if sessions is None else SqliteSessions(sessions)
    app: Any = agui_app(agent, path=path, sessions=store)
    config = uvicorn.Config(
        _guarded(app) if host in _HERE else app,
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=_AT_LAST_SECONDS,
    )

    def announce(bound: socket.socket) -> None:
        _announce(streams, agui, _url(host, bound.getsockname()[1], path), sessions)
        if host not in _HERE:
            streams.warn("Whoever reaches this address can talk to the agent: nobody is asked who they are.")

    asyncio.run(_served(uvicorn.Server(config), app.state.agui, lambda: _bound(host, port), announce, store))


def _guarded(app: Any) -> Callable[..., Coroutine[Any, Any, None]]:  # noqa: ANN401  an ASGI application
    """The application for names of this machine only: under a name of its own, led here, no page talks to the agent."""

    async def guarded(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401  as ASGI has it
        if scope["type"] == "http" and not _is_for_here(scope["headers"]):
            await send({"type": "http.response.start", "status": 421, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    return guarded


def _is_for_here(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    named = next((value for name, value in headers if name == b"host"), b"").decode("latin-1").lower()
    name = named[1:].partition("]")[0] if named.startswith("[") else named.partition(":")[0]
    return name in _HERE


async def _served(
    server: Any,  # noqa: ANN401  uvicorn's
    adapter: AgUi,
    bind: Callable[[], socket.socket],
    announce: Callable[[socket.socket], None],
    store: SqliteSessions | None,
) -> None:
    """Serve until the process is told to end; what can't work is refused before anything is announced."""
    try:
        if store is not None:
            await store.open()
        with bind() as bound:
            announce(bound)
            with running_their_code():  # what its tools print goes to stderr
                draining = asyncio.create_task(_drained(server, adapter))
                try:
                    await server.serve(sockets=[bound])
                finally:
                    draining.cancel()
    finally:
        if store is not None:
            await _to_the_end(store.aclose())


async def _drained(server: Any, adapter: AgUi) -> None:  # noqa: ANN401  uvicorn's
    """Cancel what still goes on a while after the server was told to end, so that its clients learn how it ended."""
    while not server.should_exit:  # noqa: ASYNC110  uvicorn sets no event
        await asyncio.sleep(_LOOK_SECONDS)
    await asyncio.sleep(_DRAIN_SECONDS)
    await adapter.aclose()


async def _to_the_end(closing: Coroutine[Any, Any, None]) -> None:
    """Wait for it although Ctrl-C has cancelled the task that waits."""
    task, interrupted = asyncio.create_task(closing), None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted


def _bound(host: str, port: int) -> socket.socket:
    """A socket at the address, before anything is announced.

    Raises:
        AddressError: Another program has it, or this machine has not.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise AddressError(f"{host}:{port} can't be listened at: {reason}.", where=f"{host}:{port}") from error


def _url(host: str, port: int, path: str) -> str:
    shown = "127.0.0.1" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host  # noqa: S104  compared, not bound
    return f"http://{shown}:{port}{path}"


def _announce(streams: Streams, named: str, url: str, sessions: Path | None) -> None:
    kept = "in memory, until this ends; --sessions FILE keeps them" if sessions is None else str(sessions)
    streams.give(
        text=lambda: f"SERVING {named} in AG-UI at {url}\nTHREADS {kept}",
        line=lambda: url,
        document=lambda: {"agent": named, "url": url, "sessions": None if sessions is None else str(sessions)},
    )
