"""How does an agent stand behind a URL: as an application of its own, or as a part of one?"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from agentfootprint._optional import optional
from agentfootprint.agui.serving.adapter import AgUi
from agentfootprint.agui.serving.door import MAX_BODY_BYTES
from agentfootprint.agui.serving.wire import AgUiWire
from agentfootprint.errors import ConfigError

with optional("starlette", extra="agui", needed_by="The AG-UI app"):
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.cors import CORSMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from agentfootprint.agent import RunOptions
    from agentfootprint.agui.mapping.protocol import core
    from agentfootprint.agui.options import AgUiOptions
    from agentfootprint.compose import AnyRunner
    from agentfootprint.hosting import IdentityVerifier, SessionStore

__all__ = ["agui_app"]


def agui_app(
    agent: AnyRunner,
    *,
    path: str = "/agent",
    verifier: IdentityVerifier | None = None,
    sessions: SessionStore | None = None,
    options: AgUiOptions | None = None,
    on_input: Callable[[core.RunAgentInput], RunOptions | None] | None = None,
    max_body_bytes: int = MAX_BODY_BYTES,
    cors_origins: Sequence[str] = (),
) -> ASGIApp:
    """An ASGI application that serves an agent in AG-UI: `POST path` answers with a stream of events (AGU-80).

    It is one of Starlette's; its `state.agui` is the `AgUi` behind it, which ends with the application. Mounted in
    another application it is not told when the server ends: enter `state.agui` in the lifespan of the outer one, or
    take routes instead of an application from `AgUiWire().mount(...)`.

    Args:
        agent: Who answers; one serves all threads.
        path: Where runs are asked for; `GET path/capabilities` says what can be.
        verifier: Proves who sends a request; without one everybody is anonymous. A request that proves nobody gets
            401, unless the verifier lets the anonymous in.
        sessions: Where threads are kept; without it in memory, for as long as the application lives.
        options: How runs are shown.
        on_input: Called with each request before its run; what it returns are the run's options.
        max_body_bytes: How long a request may be; a longer one gets 413.
        cors_origins: Pages of which origins may call it; without any, those of its own only. What other pages can
            send unasked is no JSON by its type, and gets 415.

    Raises:
        ConfigError: An option can't work; names it.
        MissingExtraError: The extra `agui` is not installed.
    """
    if isinstance(cors_origins, str):
        raise ConfigError("cors_origins", "cors_origins is one text.", fix='Give a list: cors_origins=["https://..."].')
    mounted = AgUiWire(options=options).mount(
        agent, path, sessions=sessions, verifier=verifier, on_input=on_input, max_body_bytes=max_body_bytes
    )
    allowed = [
        Middleware(
            CORSMiddleware,
            allow_origins=list(cors_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "accept"],
        )
    ]
    app = Starlette(
        routes=list(mounted.routes),
        middleware=allowed if cors_origins else [],
        lifespan=_closing(mounted.adapter),
    )
    app.state.agui = mounted.adapter
    return app


def _closing(adapter: AgUi) -> Callable[[Starlette], Any]:
    """What goes on when the server stops is cancelled and kept."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with adapter:
            yield

    return lifespan
