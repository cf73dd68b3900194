"""How does a host that speaks several dialects speak AG-UI too?

It mounts this one: an AG-UI request names its thread, its run and the questions that it answers, so that the answer is
made from what is kept of the thread, not from one request. The bodies that every wire has say the same in plain JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.options import AgUiOptions
from agentfootprint.agui.serving.adapter import AgUi
from agentfootprint.agui.serving.door import MAX_BODY_BYTES, AgUiDoor, agui_routes
from agentfootprint.agui.serving.requests import check_ids, invalid, message_of
from agentfootprint.hosting import ReadRequest, RequestFacts

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.routing import Route

    from agentfootprint.agent import RunOptions
    from agentfootprint.compose import AnyRunner
    from agentfootprint.hosting import IdentityVerifier, SessionStore
    from agentfootprint.trace import JsonObject

__all__ = ["AgUiWire", "Mounted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounted:
    """An agent in AG-UI, as a part of an application."""

    adapter: AgUi
    """Close it when the application ends."""
    routes: tuple[Route, ...]


class AgUiWire:
    """AG-UI beside other dialects of a server: `server.app({"/agent": AgUiWire()})`.

    Args:
        options: How runs are shown.
    """

    def __init__(self, *, options: AgUiOptions | None = None) -> None:
        self.options = AgUiOptions() if options is None else options

    def mount(
        self,
        agent: AnyRunner,
        path: str,
        *,
        sessions: SessionStore | None = None,
        verifier: IdentityVerifier | None = None,
        on_input: Callable[[core.RunAgentInput], RunOptions | None] | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> Mounted:
        """Put an agent under a path: what a host calls instead of the methods below, because this dialect has a mount.

        Args:
            agent: Who answers.
            path: Where runs are asked for; `path/capabilities` says what can be.
            sessions: Where threads are kept; without it in memory.
            verifier: Proves who sends a request; without one everybody is anonymous.
            on_input: Called with each request before its run; what it returns are the run's options.
            max_body_bytes: How long a request may be; a longer one gets 413.

        Raises:
            ConfigError: An option can't work; names it.
        """
        adapter = AgUi(agent, options=self.options, sessions=sessions, on_input=on_input)
        door = AgUiDoor(adapter, verifier, max_body_bytes)
        return Mounted(adapter=adapter, routes=tuple(agui_routes(door, path)))

    def read_request(self, facts: RequestFacts) -> ReadRequest:
        """The message and the thread of a request; whoever answers questions must be mounted.

        Raises:
            AgUiRefusedError: The body is no request, or can't be meant.
        """
        from pydantic import ValidationError  # beside the protocol's models, which are made of it

        try:
            given = core.RunAgentInput.model_validate(facts.body)
        except ValidationError:
            raise invalid("The request is no RunAgentInput.", fix="Send what an AG-UI client sends.") from None
        check_ids(given)
        if given.resume:
            raise invalid("Questions are answered where this wire is mounted.", fix="Send the request to its mount.")
        return ReadRequest(input=message_of(given, ()).text, session_id=given.thread_id, parsed=given)

    def health(self, uptime_ms: int) -> JsonObject:
        """The body that says the service lives."""
        return {"status": "ok", "uptimeMs": uptime_ms}

    def output(self, text: str) -> JsonObject:
        """The body of a turn that was answered."""
        return {"output": text}

    def failure(self, message: str, code: str | None) -> JsonObject:
        """The body of a request that failed."""
        return {"error": message} | ({} if code is None else {"code": code})

    def chunk(self, text: str) -> JsonObject:
        """A piece of the answer while it is written."""
        return {"text": text}
