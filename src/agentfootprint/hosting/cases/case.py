"""What is one case of the suite, and what do all of them share?

A case is an async function of a fresh store. It returns when the store keeps the law, and raises `ConformanceError`
when it does not; `EnvironmentFailedError` says that nothing can be said: the store could not even do the control.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from agentfootprint.errors import AgentFootprintError
from agentfootprint.hosting.sessions.envelope import CONVERSATION, Envelope
from agentfootprint.hosting.sessions.port import SessionStore, SupportsForget, SupportsListing, SupportsRetention

__all__ = [
    "ConformanceCase",
    "ConformanceError",
    "Corrupt",
    "EnvironmentFailedError",
    "Forgetting",
    "Listing",
    "Retaining",
    "expect",
    "opened",
    "said",
    "text_of",
]

Corrupt: TypeAlias = Callable[[Any, str], Awaitable[None] | None]
"""Puts something that is no envelope under a session id, past the store: `corrupt(store, session_id)`."""


class ConformanceError(AgentFootprintError, AssertionError):
    """A store broke a law of its port."""

    code = "ERR_CONFORMANCE"


class EnvironmentFailedError(AgentFootprintError, RuntimeError):
    """A case could not be judged: what the store stores in does not work here."""

    code = "ERR_CONFORMANCE_ENVIRONMENT"


class Listing(SessionStore, SupportsListing, Protocol):
    """A store that lists."""


class Forgetting(SessionStore, SupportsForget, Protocol):
    """A store that forgets."""


class Retaining(SessionStore, SupportsRetention, Protocol):
    """A store that says who deletes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceCase:
    """One law, and how it is checked: `await case(store)` on a fresh store."""

    name: str
    """The same in every implementation."""
    law: str
    """What a store must do, in a sentence."""
    check: Callable[..., Awaitable[None]]
    members: tuple[str, ...] = ()
    """The optional members without which the case does not apply."""
    harness_needs: tuple[str, ...] = ()
    """The hooks of the harness that it uses."""

    @property
    def __name__(self) -> str:  # so that it is a good id of a parametrised test
        return self.name

    def missing(self, store: object) -> list[str]:
        """The optional members that a store lacks."""
        return [member for member in self.members if not callable(getattr(store, member, None))]

    async def __call__(self, store: SessionStore, *, corrupt: Corrupt | None = None) -> None:
        """Check a fresh store.

        Args:
            store: It must be empty, and may be written to.
            corrupt: The hook, for the case that needs it.

        Raises:
            ConformanceError: The store breaks the law, or the hook is missing.
            EnvironmentFailedError: Nothing can be said.
        """
        if "corrupt" not in self.harness_needs:
            await self.check(store)
        elif corrupt is None:
            raise ConformanceError(
                f"The case {self.name!r} needs the hook 'corrupt'.",
                fix="Give the harness one that puts something unreadable under a session id, or declare the case.",
            )
        else:
            await self.check(store, corrupt)


def expect(holds: object, problem: str, law: str) -> None:
    """Go on only if a law holds.

    Raises:
        ConformanceError: It does not.
    """
    if not holds:
        raise ConformanceError(problem, fix=law)


def said(
    text: str, *, by: str | None = None, saved_at: int = 1_700_000_000_000, planted: dict[str, Any] | None = None
) -> Envelope:
    """A stored conversation of one message and its answer.

    Args:
        text: What the user said; the cases tell conversations apart by it.
        by: Whom the conversation names.
        saved_at: In ms since 1970.
        planted: Members put beside the identity, where no store may look for an owner.
    """
    identity = {} if by is None else {"identity": {"conversationId": "c", "principal": by}}
    data = {
        "version": 1,
        "runId": "run-1",
        "history": [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}],
        "lastCompletedIteration": 1,
        "originalInput": {"message": text},
        "checkpointedAt": saved_at,
    }
    return Envelope(format=CONVERSATION, data={**data, **identity, **(planted or {})}, saved_at=saved_at)


def text_of(envelope: Envelope | None) -> str | None:
    """What the user said in a stored conversation; `None` for no envelope."""
    return None if envelope is None else str(envelope.to_wire()["data"]["history"][0]["content"])


async def opened(store: SessionStore, session_id: str) -> str | None:
    """What the user said in the conversation that a session id opens."""
    return text_of(await store.hydrate(session_id))
