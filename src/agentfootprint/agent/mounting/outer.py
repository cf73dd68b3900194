"""What do all parts of a run share that is made of several agents: its ids, its listeners, its log?

One run has one of these, whatever is nested in it. So there is one run id, one log and one stream of events; a part
has nothing of its own but its counters.
"""

from __future__ import annotations

import asyncio
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from agentfootprint.events import Event, EventBus, MetaMarks, Payload, RunFacts
from agentfootprint.trace import Execution, Journal

if TYPE_CHECKING:
    from agentfootprint.agent.mounting.part import AgentPart
    from agentfootprint.agent.options import RecordOptions
    from agentfootprint.agent.pausing.entering import Resumption
    from agentfootprint.identity import Identity
    from agentfootprint.llm import LLMProvider, LLMResponse
    from agentfootprint.recording import Cover

__all__ = ["OuterRun"]


class OuterRun:
    """The run that parts belong to.

    Args:
        facts: What is the same for all its events.
        deps: The caller's own object, for the tools of every part.
        identity: Whose run it is.
        bus: Who listens to native events.
        wire_bus: Who listens to those of the wire's form.
        record: What was said for the run of what its record keeps, over what each agent says.
        origin_run_id: The first run of the turn, where this one goes on with it (DEC-37).
    """

    def __init__(
        self,
        facts: RunFacts,
        *,
        deps: object,
        identity: Identity | None,
        bus: EventBus,
        wire_bus: EventBus,
        record: RecordOptions | None = None,
        origin_run_id: str | None = None,
    ) -> None:
        self.facts = facts
        self.deps = deps
        self.identity = identity
        self.bus = bus
        self.wire_bus = wire_bus
        self.record = record
        self.origin_run_id = origin_run_id or facts.run_id
        self.cover: Cover | None = None
        """What listeners get instead of what a policy keeps out; `None` without a policy."""
        self.waiters: list[asyncio.Future[None]] = []
        """Who waits for more of the stream."""
        self.parts: list[AgentPart] = []
        """The agents that have run, in the order they began."""
        self.asked: list[tuple[LLMProvider, LLMResponse]] = []
        """Model calls that belong to no agent, and whom they were made to."""
        self.taken_up: dict[str, Resumption] = {}
        """What paused parts go on with, by the id of their mount; taken out by the part."""
        self.paused: dict[str, AgentPart] = {}
        """The parts that wait for a person, by the id of their mount."""

    def bind(self, journal: Journal) -> None:
        """Take the journal that the engine made for the run."""
        self.journal = journal

    def emit(self, where: Execution | str, payload: Payload, marks: MetaMarks | None = None) -> None:
        """Record an event and hand it to whoever listens; see `RunScope.emit`."""
        event = Event(payload, where, perf_counter_ns() - self.journal.t0, self.facts, marks)
        self.journal.append(event)
        self.deliver(event)

    def deliver(self, event: Event[Any]) -> None:
        """Hand an event to the listeners of both forms, and wake those who read the run as a stream."""
        if self.cover is not None:
            event = self.journal.shown().rows[-1]
        for bus in (self.bus, self.wire_bus):
            if bus.heard and bus.has_listeners(event.type):
                bus.dispatch(event)
        self.wake()

    def wake(self) -> None:
        """Let every waiting reader of the stream look at the journal again."""
        waiting, self.waiters[:] = [*self.waiters], []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def changed(self) -> None:
        """Wait until something was recorded."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiters.append(waiter)
        await waiter

    def stop(self) -> None:
        """Tools that look learn that nobody wants their result any more (AGT-115)."""
        for part in self.parts:
            part.scope.tool_run.cancelled = True

    def seal(self) -> None:
        """Let nothing more be recorded or heard: something of the run could not be stopped."""
        for part in self.parts:
            part.scope.seal()
        self.bus = self.wire_bus = EventBus()
