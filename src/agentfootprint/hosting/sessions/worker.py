"""Where does the blocking work of one store run?

On one thread of the store's own, in the order it was asked for (DEC-50): never on the event loop, never on the pool
that everybody shares, and never two pieces at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["OneThread"]

T = TypeVar("T")


class OneThread:
    """One thread; it starts with the first piece of work."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, work: Callable[[], T]) -> T:
        """Do a piece of work. Cancelled while it waits its turn it is not done; once begun it is done to its end."""
        return await asyncio.wrap_future(self._executor.submit(work))

    async def finish(self, work: Callable[[], object]) -> None:
        """Do a last piece of work after all others, also if the caller is cancelled; take no more."""
        last = self._executor.submit(work)
        self._executor.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(last))
