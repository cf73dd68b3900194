"""Tests of agentfootprint.observe.export.batching."""

from __future__ import annotations

import threading
import weakref

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.observe.export.batching import MOST_WAITING, Batches, SendFailed

LONG = 60.0


class Receiver:
    """Takes batches; fails as it is told to."""

    def __init__(self, *failures: Exception | None) -> None:
        self.failures = list(failures)
        self.got: list[list[int]] = []
        self.asked = threading.Semaphore(0)

    def __call__(self, batch: list[int]) -> None:
        failure = self.failures.pop(0) if self.failures else None
        self.asked.release()
        if failure is not None:
            raise failure
        self.got.append(batch)


def made(receiver: Receiver, *, batch: int = 3, interval: float = LONG) -> Batches[int]:
    return Batches(receiver, target="nowhere", batch=batch, interval=interval)


def test_a_whole_batch_goes_out_by_itself_and_the_rest_waits() -> None:
    receiver = Receiver()
    batches = made(receiver)

    batches.put(1, 2)
    batches.put(3)

    assert receiver.asked.acquire(timeout=10)
    assert receiver.got == [[1, 2, 3]]
    batches.stop()


def test_what_waits_goes_out_when_the_interval_is_over() -> None:
    receiver = Receiver()
    batches = made(receiver, interval=0.01)

    batches.put(1)

    assert receiver.asked.acquire(timeout=10)
    assert receiver.got == [[1]]


def test_a_receiver_that_is_busy_is_not_asked_again_at_once() -> None:
    receiver = Receiver(SendFailed("Throttled", again=True))
    batches = made(receiver)

    batches.put(1, 2, 3, 4, 5, 6)

    assert receiver.asked.acquire(timeout=10)
    assert not receiver.asked.acquire(timeout=0.2)
    assert len(batches) == 6
    batches.stop()


async def test_a_flush_asks_a_busy_receiver_once_more_and_ends() -> None:
    receiver = Receiver(SendFailed("Throttled", again=True))
    batches = made(receiver)
    batches.stop()
    batches.put(1, 2, 3, 4)

    with pytest.raises(AgentFootprintError, match="Throttled; nothing is lost"):
        await batches.flush()
    assert receiver.got == []
    await batches.flush()

    assert receiver.got == [[1, 2, 3], [4]]


async def test_what_was_refused_is_lost_and_what_comes_behind_is_not() -> None:
    receiver = Receiver(SendFailed("Refused", lost=2), ValueError("marker-7f3a"))
    batches = made(receiver)
    batches.stop()
    batches.put(*range(9))

    with pytest.raises(AgentFootprintError, match="ValueError; 5 are lost") as failed:
        await batches.flush()

    assert receiver.got == [[6, 7, 8]]
    assert (batches.lost, "marker" in str(failed.value)) == (5, False)


def test_the_oldest_make_room() -> None:
    batches = made(Receiver(), batch=MOST_WAITING * 2)

    batches.put(*range(MOST_WAITING))
    with pytest.raises(AgentFootprintError, match="1 are lost"):
        batches.put(-1)

    assert len(batches) == MOST_WAITING
    batches.stop()


def test_nothing_keeps_one_that_nobody_holds() -> None:
    batches = made(Receiver())
    gone = weakref.ref(batches)

    del batches

    assert gone() is None
