"""What must be stored before the next call may act (AGT-71)?

A host that stores a run as it goes says how to wait for its last write; nothing is dispatched, and no answer of a
person acts, before that is done. Without a host nothing is awaited at all.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeAlias

__all__ = ["PENDING_WRITE", "PendingWrite", "awaiting_writes", "stored"]

PendingWrite: TypeAlias = Callable[[], Awaitable[object] | None]
"""Gives what is still to be waited for, or `None`; asked each time, never kept."""

PENDING_WRITE: Final[ContextVar[PendingWrite | None]] = ContextVar("agentfootprint_pending_write", default=None)
"""Of the runs started in this context."""


@contextmanager
def awaiting_writes(pending: PendingWrite) -> Generator[None]:
    """Have the runs that are started in the block wait for a host's writes.

    Args:
        pending: Gives the write that is under way, or `None`. What it raises fails the run: an act that could not be
            noted before must not happen.
    """
    token = PENDING_WRITE.set(pending)
    try:
        yield
    finally:
        PENDING_WRITE.reset(token)


async def stored(pending: PendingWrite) -> None:
    """Wait for the write that is under way, if there is one."""
    write = pending()
    if write is not None and inspect.isawaitable(write):
        await write
