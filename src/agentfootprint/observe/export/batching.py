"""How does what an exporter makes wait, and go out in batches, without the run ever waiting for it (SNK-8)?

Invariants: what waits is bounded; sending happens in a thread, one batch at a time and in order; everything that was
lost is counted, and whoever calls next is told. A flush ends when nothing waits, or when a pass sent nothing.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, Generic, TypeVar

from agentfootprint.observe.errors import ExportFailedError

__all__ = ["MOST_WAITING", "Batches", "SendFailed"]

MOST_WAITING: Final = 10_000
"""Things that wait at most; the oldest make room."""
_LONGEST_PAUSE: Final = 60.0

T = TypeVar("T")


class SendFailed(Exception):  # noqa: N818  never seen outside the room: what becomes of it is an ExportFailedError
    """A batch did not go out, or not whole.

    Args:
        problem: What the receiver said, in its code for it; never what was sent.
        lost: How many things of the batch are lost.
        again: Whether the batch may go out when it is tried again; then it is kept, and nothing of it is lost.
    """

    def __init__(self, problem: str, *, lost: int = 0, again: bool = False) -> None:
        super().__init__(problem)
        self.problem = problem
        self.lost = lost
        self.again = again


class Batches(Generic[T]):
    """Things that wait to be sent.

    Args:
        send: Sends a batch; called in a thread. Raises `SendFailed`.
        cut: How many of the things given make the next batch, at least one.
        target: What errors call the receiver.
        batch: How many things don't wait for the interval.
        interval: Seconds a thing waits at most.
    """

    def __init__(
        self,
        send: Callable[[list[T]], None],
        *,
        target: str,
        batch: int,
        interval: float,
        cut: Callable[[Sequence[T]], int] | None = None,
    ) -> None:
        self.lost = 0
        """Things that never went out."""
        self._send = send
        self._cut = cut
        self._target = target
        self._batch = batch
        self._interval = interval
        self._waiting: list[T] = []
        self._failure: ExportFailedError | None = None
        self._wake = threading.Condition()
        self._sending = threading.Lock()
        self._sender: threading.Thread | None = None
        self._stopped = False
        self._pause = 0.0
        """Seconds to wait after a batch that may go out later."""
        atexit.register(_send_at_exit, weakref.ref(self))

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, *things: T) -> None:
        """Have things sent soon.

        Raises:
            ExportFailedError: An earlier batch failed; says how much is lost so far. These things are kept.
        """
        with self._wake:
            self._waiting.extend(things)
            self._make_room()
            if self._waiting and self._sender is None and not self._stopped:
                self._sender = threading.Thread(target=self._send_soon, name="export-batches", daemon=True)
                self._sender.start()
            elif len(self._waiting) >= self._batch:
                self._wake.notify_all()
        self._tell()

    async def flush(self) -> None:
        """Send what waits, until nothing does or nothing more goes out; also after `stop`.

        Raises:
            ExportFailedError: Something did not go out; says how much is lost so far.
        """
        await asyncio.to_thread(self.send_all)
        self._tell()

    def stop(self) -> None:
        """Send no more without being asked; what waits stays for a later `flush`."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()

    def send_all(self) -> None:
        """Send what waits, in this thread; a failure is kept for whoever calls next."""
        with self._sending:
            while self._send_one():
                pass

    def _send_one(self) -> bool:
        """Send a batch; whether there may be another."""
        with self._wake:
            count = min(len(self._waiting), self._batch)
            if count and self._cut is not None:
                count = max(1, self._cut(list(islice(self._waiting, count))))
            batch, self._waiting = self._waiting[:count], self._waiting[count:]
        if not batch:
            return False
        try:
            self._send(batch)
        except SendFailed as failed:
            with self._wake:
                if failed.again:
                    self._pause = min(_LONGEST_PAUSE, 2 * self._pause or self._interval)
                    self._waiting[:0] = batch
                    self._make_room()
                else:
                    self.lost += failed.lost
                self._failed(failed.problem, failed)
            return not failed.again
        except Exception as error:  # noqa: BLE001  a client of the application's own; the thread must live
            with self._wake:
                self.lost += len(batch)
                self._failed(type(error).__name__, error)
            return True
        self._pause = 0.0
        return True

    def _make_room(self) -> None:
        over = len(self._waiting) - MOST_WAITING
        if over > 0:
            del self._waiting[:over]
            self.lost += over
            self._failed(f"more than {MOST_WAITING} wait", None)

    def _failed(self, problem: str, cause: BaseException | None) -> None:
        self._failure = ExportFailedError(self._target, problem, dropped=self.lost)
        self._failure.__cause__ = cause

    def _tell(self) -> None:
        with self._wake:
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _send_soon(self) -> None:
        """The thread: it ends when nothing waits, and the next thing starts another."""
        while True:
            with self._wake:
                if self._pause:  # asking again at once would only be refused again
                    self._wake.wait_for(lambda: self._stopped, self._pause)
                else:
                    self._wake.wait_for(lambda: self._stopped or len(self._waiting) >= self._batch, self._interval)
                if self._stopped:
                    self._sender = None
                    return
            self.send_all()
            with self._wake:
                if not self._waiting:
                    self._sender = None
                    return


def _send_at_exit(batches: weakref.ref[Batches[T]]) -> None:
    found = batches()
    if found is not None:
        found.send_all()
