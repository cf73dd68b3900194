"""How does one dialect read a request and write what comes back?

A wire is a set of pure functions: no socket, no status code, no clock, no path (the host is given paths). A host reads
a request with it, runs the turn, and writes one terminal (`output`, `awaiting`, `failure`), with `chunk`s before it
when the caller reads a stream. A dialect whose answers are made from more than one request also `SupportsMount`, as
AG-UI does, whose threads keep what clients were shown: a host then mounts it under the path, and calls nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from agentfootprint.agent import Agent
from agentfootprint.hosting.sessions.port import SessionStore
from agentfootprint.hosting.verifying.port import IdentityVerifier
from agentfootprint.trace import ABSENT, Absent, Json, JsonObject

__all__ = [
    "MountedWire",
    "ReadRequest",
    "RequestFacts",
    "SupportsAwaiting",
    "SupportsConversations",
    "SupportsMount",
    "Wire",
]


def _none() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """What a host knows of a request, and all that a wire may look at."""

    body: Json = field(default=None, repr=False)
    """The parsed JSON. A wire judges its shape."""
    headers: Mapping[str, str] = field(default_factory=_none, repr=False)
    """Under lower-case names."""
    query: Mapping[str, str] = field(default_factory=_none, repr=False)
    is_secure: bool = False
    """Whether the caller came by https."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """What a request asks for, in words that are no dialect's."""

    input: str = field(default="", repr=False)
    """The user's message; empty when it has none."""
    decision: Json | Absent = field(default=ABSENT, repr=False)
    """The answer to an open question. Its presence makes the request a resume, also when it is `None` (HST-4)."""
    session_id: str | None = None
    user_id: str | None = field(default=None, repr=False)
    """Whom the request names by itself: a claim, which a verifier must prove."""
    op: str | None = None
    """Another thing than a turn, such as `session-list`."""
    args: JsonObject = field(default_factory=dict[str, Any], repr=False)
    """What the op names, such as `sessionId`."""
    idempotency_key: str | None = field(default=None, repr=False)
    reply_headers: Mapping[str, str] = field(default_factory=_none, repr=False)
    """Headers that the answer gets, such as a cookie; never `content-type` (HST-13)."""
    parsed: object = field(default=None, repr=False)
    """The wire's own reading of the body, for its own use."""


@runtime_checkable
class Wire(Protocol):
    """One dialect: bodies in, bodies out. `JsonObject`s are what the host writes as JSON."""

    def read_request(self, facts: RequestFacts) -> ReadRequest:
        """Read a request.

        Raises:
            AgentFootprintError: The body is not what the dialect says; the message names fields, never values.
        """
        ...

    def health(self, uptime_ms: int) -> JsonObject:
        """The body that says the service lives."""
        ...

    def output(self, text: str) -> JsonObject:
        """The body of a turn that was answered."""
        ...

    def failure(self, message: str, code: str | None) -> JsonObject:
        """The body of a request that failed; the message is fit for the caller already."""
        ...

    def chunk(self, text: str) -> JsonObject:
        """A piece of the answer while it is written: a preview of the same text."""
        ...


@runtime_checkable
class SupportsAwaiting(Protocol):
    """A wire that can carry a question; without it a turn that asks fails, after it was stored (HST-2)."""

    def awaiting(self, pending: JsonObject) -> JsonObject:
        """The body of a turn that waits for a person; never the checkpoint (HST-22)."""
        ...


@runtime_checkable
class SupportsConversations(Protocol):
    """A wire that can be read from a handshake, for connections that stay open."""

    def read_conversation(self, facts: RequestFacts) -> ReadRequest:
        """Read a handshake: whose connection it is, and which session it names."""
        ...


class MountedWire(Protocol):
    """An agent in one dialect, as a part of an application."""

    @property
    def adapter(self) -> AbstractAsyncContextManager[Any]:
        """Entered while the application lives: leaving it ends what still goes on, and keeps what is left of it."""
        ...

    @property
    def routes(self) -> Sequence[Any]:
        """What the application serves, as its web framework has routes."""
        ...


@runtime_checkable
class SupportsMount(Protocol):
    """A wire that serves a path by itself."""

    def mount(
        self,
        agent: Agent[Any, Any],
        path: str,
        *,
        sessions: SessionStore | None = None,
        verifier: IdentityVerifier | None = None,
    ) -> MountedWire:
        """Put an agent under a path.

        Args:
            agent: Who answers.
            path: Where it is asked.
            sessions: Where conversations are kept; without it in memory.
            verifier: Proves who sends a request; without one nobody is proven.
        """
        ...
