"""What does a thread keep of a question, and what is the question when its answer comes?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.agent import paused_of
from agentfootprint.agui.threads.facts import OpenInterrupt
from agentfootprint.trace import freeze

if TYPE_CHECKING:
    from agentfootprint.agent import PauseCheckpoint, Paused
    from agentfootprint.agui.mapping.mapper import Mapper
    from agentfootprint.agui.mapping.protocol import core

__all__ = ["Waiting", "asked_as"]

_MOST: Final = 256

_METADATA = "agentfootprint"


def asked_as(mapper: Mapper) -> dict[str, Any]:
    """What the client was asked, and what it takes to send the answers' results: fields of `ThreadFacts` (AGU-72)."""
    return {
        "interrupts": tuple(_open(each) for each in mapper.interrupts),
        "open_calls": mapper.open_calls,
        "message_ids": dict(mapper.message_ids),
    }


class Waiting:
    """The questions that this process asked, by thread, with what only it has open for them: cleanups (AGT-74).

    A bounded number: of the oldest what is open is cleaned up, and the question is then as in any other process.
    """

    def __init__(self) -> None:
        self._asked: dict[str, Paused] = {}

    async def keep(self, key: str, paused: Paused) -> None:
        """Remember the question of a thread."""
        await self.drop(key)
        self._asked[key] = paused
        while len(self._asked) > _MOST:
            await self.drop(next(iter(self._asked)))

    def take(self, key: str, stored: PauseCheckpoint) -> Paused:
        """The question that is stored; as this process has it, where it is the same.

        Args:
            key: The thread's.
            stored: From the store, which is the truth.
        """
        live = self._asked.get(key)
        if live is not None and stored.run_id and live.checkpoint.run_id == stored.run_id:
            return live
        return paused_of(stored)

    def answered(self, key: str) -> None:
        """The question has gone over into a run, with all that is open for it."""
        self._asked.pop(key, None)

    async def claimed(self, key: str, taken: Paused | None) -> None:
        """A run has the thread: what waits here for another question than that it takes up was answered elsewhere."""
        if self._asked.get(key) is not taken:
            await self.drop(key)

    async def drop(self, key: str) -> None:
        """The question is nobody's here any more: clean up what is open for it."""
        paused = self._asked.pop(key, None)
        if paused is None:
            return
        parts = paused.checkpoint.live.parts.values()  # of the agents inside a composition
        for each in (paused.checkpoint.live, *parts):
            live = each.take()
            for teardown in (live.call, live.teardown):
                if teardown is not None and not teardown.closed:
                    await teardown.close()

    async def drop_all(self) -> None:
        """The process ends: whoever takes the questions up has nothing of them open."""
        for key in tuple(self._asked):
            await self.drop(key)


def _open(interrupt: core.Interrupt) -> OpenInterrupt:
    about: object = (interrupt.metadata or {}).get(_METADATA)
    gate: object = cast("Mapping[str, object]", about).get("gate") if isinstance(about, Mapping) else None
    schema = interrupt.response_schema
    return OpenInterrupt(
        id=interrupt.id,
        gate=gate if isinstance(gate, str) else "authorization",
        response_schema=None if schema is None else freeze(schema),
        expires_at=interrupt.expires_at,
    )
