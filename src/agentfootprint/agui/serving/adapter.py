"""How does an agent answer AG-UI requests, whatever carries them?"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.options import AgUiOptions
from agentfootprint.agui.serving.replies import Reply
from agentfootprint.agui.serving.served import ServedRun, Site
from agentfootprint.agui.serving.starting import check_runner
from agentfootprint.hosting import InMemorySessions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from types import TracebackType
    from typing import Self

    from agentfootprint.agent import RunOptions
    from agentfootprint.compose import AnyRunner
    from agentfootprint.hosting import SessionStore
    from agentfootprint.identity import Identity

__all__ = ["AgUi"]

CLOSING_SECONDS: Final = 30.0
"""How long runs may take to end when the server does."""
_log = logging.getLogger("agentfootprint.agui")


class AgUi:
    """An agent that is spoken to in AG-UI, by whatever carries the events; `agui_app` carries them over HTTP.

    One serves all threads and callers of a process; with a store that processes share, any of them can answer.

    Args:
        agent: Who answers. It may run many times at once.
        options: How its runs are shown.
        sessions: Where threads are kept; without it in memory, for as long as this object lives.
        on_input: Called with each request before its run; what it returns are the run's options. The only reader of
            `forwardedProps` (AGU-65).

    Raises:
        ConfigError: `agent` is none.
        MissingExtraError: The package `ag-ui-protocol` is not installed.

    Example:
        >>> import asyncio
        >>> from ag_ui.core import RunAgentInput, UserMessage
        >>> from agentfootprint import Agent, Mock
        >>> async def ask() -> object:
        ...     asked = RunAgentInput(thread_id="t", run_id="r", messages=[UserMessage(id="u", content="Hi.")])
        ...     events = [event async for event in AgUi(Agent(Mock("Hello."))).run(asked)]
        ...     return events[-1].result
        >>> asyncio.run(ask())
        'Hello.'
    """

    def __init__(
        self,
        agent: AnyRunner,
        *,
        options: AgUiOptions | None = None,
        sessions: SessionStore | None = None,
        on_input: Callable[[core.RunAgentInput], RunOptions | None] | None = None,
    ) -> None:
        check_runner(agent)
        self.agent = agent
        self.options = AgUiOptions() if options is None else options
        self.sessions: SessionStore = InMemorySessions() if sessions is None else sessions
        self._site = Site(agent=agent, options=self.options, store=self.sessions, on_input=on_input)
        self._running: set[ServedRun] = set()
        self._has_said_tools = False
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether it was closed: then it begins no run."""
        return self._is_closed

    def run(
        self, run_agent_input: core.RunAgentInput, *, identity: Identity | None = None, session_id: str | None = None
    ) -> AsyncGenerator[core.Event]:
        """Answer one request: RUN_STARTED to one terminal event, whatever happens (AGU-10, AGU-11).

        Leaving the iteration early cancels the run, or lets it finish, as `options.on_disconnect` says; where it may
        be left early, hold it with `contextlib.aclosing`.

        Args:
            run_agent_input: The request.
            identity: Who sends it, as something else than the request proves; its conversation is not looked at.
                Whoever sends a request decides what it answers under this name (AGU-74).
            session_id: The session that keeps the thread; without it one made of tenant, principal and thread, so that
                nobody reaches the thread of somebody else (AGU-62).

        Returns:
            `ag_ui.core` events, as they happen.
        """
        return self.reply(run_agent_input, identity=identity, session_id=session_id).events()

    def reply(
        self, given: core.RunAgentInput, *, identity: Identity | None = None, session_id: str | None = None
    ) -> Reply:
        """As `run`, for a transport that must know how far behind its client is."""
        if given.tools and not self._has_said_tools:
            self._has_said_tools = True
            _log.info("An AG-UI client offers tools of its own; they are left out.")
        return Reply(lambda: self._begin(given, identity, session_id), given, self.options)

    def _begin(self, given: core.RunAgentInput, identity: Identity | None, session_id: str | None) -> ServedRun:
        served = ServedRun(self._site, given, identity, session_id, is_refused=self._is_closed)
        self._running.add(served)
        served.task.add_done_callback(lambda _: self._running.discard(served))
        return served

    async def aclose(self) -> None:
        """Begin no more runs, cancel those that go on and wait until they are kept; clean up what questions hold open.

        Entering it again opens it again.
        """
        self._is_closed = True
        running = tuple(self._running)
        if running:
            stopping = [asyncio.create_task(each.stop()) for each in running]
            _, late = await asyncio.wait(stopping, timeout=CLOSING_SECONDS)
            if late:  # a tool that can't be cancelled, or a store that does not answer: their claims run out
                _log.error("%d AG-UI runs did not end in %d seconds and were left.", len(late), CLOSING_SECONDS)
            for task in (*late, *(each.task for each in running)):
                task.cancel()
        await self._site.waiting.drop_all()

    async def __aenter__(self) -> Self:
        self._is_closed = False
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()
