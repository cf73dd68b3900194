"""Tests of agentfootprint.providers.clients."""

from __future__ import annotations

import asyncio

import pytest

from agentfootprint.llm import ProviderError
from agentfootprint.providers.clients import LoopClients


class Client:
    """Knows whether it was closed, and in which loop."""

    def __init__(self) -> None:
        self.closed_in: asyncio.AbstractEventLoop | None = None
        self.closed = asyncio.Event()

    async def aclose(self) -> None:
        self.closed_in = asyncio.get_running_loop()
        self.closed.set()


def clients() -> LoopClients[Client]:
    return LoopClients(Client, Client.aclose, owner="vendor")


def test_a_loop_has_one_client_that_is_closed_with_it() -> None:
    held = clients()

    async def use() -> tuple[Client, Client]:
        return await held.get(), await held.get()

    first, again = asyncio.run(use())
    other, _ = asyncio.run(use())

    assert first is again
    assert first is not other
    assert first.closed_in is not None
    assert other.closed_in is not None


async def test_calls_at_the_same_time_share_one() -> None:
    held = clients()

    found = await asyncio.gather(*(held.get() for _ in range(5)))

    assert len(set(map(id, found))) == 1
    await held.aclose()
    assert found[0].closed_in is asyncio.get_running_loop()


async def test_after_closing_there_is_none_and_closing_again_does_nothing() -> None:
    held = clients()
    await held.aclose()
    await held.aclose()

    with pytest.raises(ProviderError, match=r"\[vendor\] The provider was closed"):
        await held.get()


async def test_a_client_of_another_running_loop_is_closed_there() -> None:
    held = clients()
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()

    def elsewhere() -> Client:
        async def use() -> Client:
            client = await held.get()
            loop.call_soon_threadsafe(ready.set)
            await client.closed.wait()
            return client

        return asyncio.run(use())

    task = asyncio.create_task(asyncio.to_thread(elsewhere))
    await ready.wait()
    await held.aclose()

    assert (await task).closed_in is not loop
