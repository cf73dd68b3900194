"""Which client does an adapter use in this event loop, and when is it closed?

Invariants: a client belongs to the loop that first used it and is closed with it (PRT-16): `asyncio.run` shuts down the
asynchronous generators of its loop, and each client is held open by one; a closed adapter makes none any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from agentfootprint.llm import ProviderError

__all__ = ["LoopClients", "WithClients"]

ClientT = TypeVar("ClientT")


class LoopClients(Generic[ClientT]):
    """One client for each running loop.

    Args:
        make: Makes a client; opens no socket.
        close: Closes it.
        owner: Name of the provider, for the refusal after `aclose`.
    """

    __slots__ = ("_close", "_closed", "_held", "_make", "_owner")

    def __init__(
        self, make: Callable[[], ClientT], close: Callable[[ClientT], Awaitable[object]], *, owner: str
    ) -> None:
        self._make = make
        self._close = close
        self._owner = owner
        self._held: dict[int, tuple[asyncio.AbstractEventLoop, ClientT, AsyncGenerator[None, None]]] = {}
        self._closed = False

    async def get(self) -> ClientT:
        """The client of the running loop.

        Raises:
            ProviderError: The provider was closed.
        """
        if self._closed:
            raise ProviderError(
                "The provider was closed and takes no more calls.",
                provider=self._owner,
                fix="Make a new one, or call it before aclose().",
                retryable=False,
                phase="connect",
            )
        loop = asyncio.get_running_loop()
        known = self._held.get(id(loop))
        if known is not None and known[0] is loop:
            return known[1]
        for key in [key for key, (other, _client, _hold) in self._held.items() if other.is_closed()]:
            self._held.pop(key, None)
        client = self._make()
        hold = self._hold(loop, client)
        self._held[id(loop)] = (loop, client, hold)
        await anext(hold)  # from here on the loop knows the generator, and ends it when it shuts down
        return client

    async def aclose(self) -> None:
        """Close all clients; a second time does nothing."""
        self._closed = True
        for loop, _client, hold in list(self._held.values()):
            if loop is asyncio.get_running_loop():
                await hold.aclose()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(hold.aclose(), loop))
        self._held.clear()

    async def _hold(self, loop: asyncio.AbstractEventLoop, client: ClientT) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._held.pop(id(loop), None)
            await self._close(client)


class WithClients:
    """An adapter that opens clients and closes them; `async with` closes it at the end of the block."""

    _clients: LoopClients[Any]

    async def aclose(self) -> None:
        """Close the clients that were made here, never one that was given (PRT-16); a second time does nothing."""
        await self._clients.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
