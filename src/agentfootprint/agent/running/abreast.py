"""Which calls of a batch run side by side, and in which order do their results land (02 s.10.3)?

Calls are put through their gates one after the other, in call order; those that pass run together; what they came to
lands in call order again. So history and results are those of a batch whose calls ran one by one, whatever order they
ended in. This module knows nothing of what a gate or a call is: the batch hands it the four things to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any, Final, Generic, Protocol, TypeVar, cast

from agentfootprint.llm import ToolCall
from agentfootprint.tools import PersonAsked, asked_in

__all__ = ["SECOND_QUESTION", "Lane", "Stopped", "run_abreast"]

Passed = TypeVar("Passed")
Result = TypeVar("Result")

_NS_PER_MS: Final = 1_000_000
SECOND_QUESTION: Final = (
    "{tool} was not finished: it asked a person while another call of the same reply already did, and one question is "
    "asked at a time. Call it again when that is answered."
)
"""What the model reads of a second call that asks in one batch (AGT-61)."""


class Lane(Protocol[Passed, Result]):
    """What there is to do with one call; `ordinal` is its place in the batch."""

    def alone(self, call: ToolCall) -> bool:
        """Whether nothing else may run while this one does."""
        ...

    async def gate(self, ordinal: int, call: ToolCall) -> Passed | Result:
        """Announce a call and put it through its gates."""
        ...

    def settled(self, outcome: Passed | Result) -> bool:
        """Whether the gates settled it, so that there is nothing to run."""
        ...

    def execute(self, ordinal: int, call: ToolCall, passed: Passed) -> Awaitable[Result]:
        """Run it."""
        ...

    def refused(self, text: str) -> Result:
        """What a call came to that is not run to its end, as an error."""
        ...

    async def land(self, ordinal: int, call: ToolCall, result: Result, elapsed_ms: int) -> None:
        """File what it came to."""
        ...


@dataclass(slots=True)
class Stopped:
    """Why a batch went no further."""

    error: BaseException
    """A question, or what a gate or the batch itself failed with."""
    ordinal: int
    """Of which call."""
    landed: list[int] = field(default_factory=list[int])
    """Places of the calls that have a result, in the order of their messages."""
    announced: int = 0
    """How many calls have been announced, from the first on."""


@dataclass(slots=True)
class _Entry(Generic[Passed, Result]):
    """One call of a group on its way."""

    ordinal: int
    call: ToolCall
    outcome: Passed | Result
    is_settled: bool
    elapsed_ns: int
    result: Result | None = None
    asked: PersonAsked | None = None


async def run_abreast(
    calls: Sequence[ToolCall], lane: Lane[Passed, Result], *, most: int | None = None
) -> Stopped | None:
    """Run the calls of a batch, side by side where they may.

    Args:
        calls: The calls, in call order.
        lane: What to do with each.
        most: How many may run at once; `None`: all.

    Returns:
        `None` when every call has landed, else what stopped the batch. Whatever ran before, or beside it, has landed.

    Raises:
        asyncio.CancelledError: The run is being stopped; nothing runs any more.
    """
    landed: list[int] = []
    for group in _groups(calls, lane):
        entries: list[_Entry[Passed, Result]] = []
        stopped: Stopped | None = None
        for ordinal, call in group:
            began = perf_counter_ns()
            try:
                outcome = await lane.gate(ordinal, call)
            except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # noqa: BLE001  as when it stood alone: those before it run and land first
                stopped = Stopped(asked_in(error) or error, ordinal)
                break
            settled = lane.settled(outcome)
            entries.append(_Entry(ordinal, call, outcome, settled, perf_counter_ns() - began))
        try:
            asker = await _run(entries, lane, most)
        except asyncio.CancelledError:
            await _land(list(itertools.takewhile(_has_ended, entries)), lane, None, landed)  # what they did is known
            raise
        await _land(entries, lane, asker, landed)
        if asker is not None and asker.asked is not None:
            stopped = Stopped(asker.asked, asker.ordinal)
        if stopped is not None:
            last = group[len(entries)] if len(entries) < len(group) else group[-1]
            stopped.landed, stopped.announced = landed, last[0] + 1
            return stopped
    return None


def _groups(calls: Sequence[ToolCall], lane: Lane[Any, Any]) -> Iterator[list[tuple[int, ToolCall]]]:
    """Neighbours that may run together; a call that must be alone is a group of its own."""
    group: list[tuple[int, ToolCall]] = []
    for ordinal, call in enumerate(calls):
        if lane.alone(call):
            if group:
                yield group
            yield [(ordinal, call)]
            group = []
        else:
            group.append((ordinal, call))
    if group:
        yield group


def _has_ended(entry: _Entry[Any, Any]) -> bool:
    return entry.is_settled or entry.result is not None


async def _run(
    entries: Sequence[_Entry[Passed, Result]], lane: Lane[Passed, Result], most: int | None
) -> _Entry[Passed, Result] | None:
    """Run what passed; gives the first call, in call order, that asks a person."""
    open_ = [entry for entry in entries if not entry.is_settled]
    if not open_:
        return None
    room = contextlib.nullcontext() if most is None else asyncio.Semaphore(most)
    asking = False

    async def one(entry: _Entry[Passed, Result]) -> None:
        nonlocal asking
        async with room:
            if asking:  # what has not begun when a person is asked does not begin
                return
            began = perf_counter_ns()
            try:
                entry.result = await lane.execute(entry.ordinal, entry.call, cast("Passed", entry.outcome))
            except (PersonAsked, BaseExceptionGroup) as raised:
                entry.asked = asked_in(raised)
                if entry.asked is None:
                    raise
                asking = True
            entry.elapsed_ns += perf_counter_ns() - began

    try:
        async with asyncio.TaskGroup() as tasks:
            for entry in open_:
                tasks.create_task(one(entry))
    except BaseExceptionGroup as group:  # no tool's own failure: those are results
        raise group.exceptions[0] from None
    return next((entry for entry in open_ if entry.asked is not None), None)


async def _land(
    entries: Sequence[_Entry[Passed, Result]],
    lane: Lane[Passed, Result],
    asker: _Entry[Passed, Result] | None,
    landed: list[int],
) -> None:
    for entry in entries:
        if entry is asker:
            continue
        if entry.asked is not None:
            if entry.asked.teardown is not None:
                await entry.asked.teardown.close()
            result = lane.refused(SECOND_QUESTION.format(tool=entry.call.name))
        elif entry.is_settled:
            result = cast("Result", entry.outcome)
        elif entry.result is not None:
            result = entry.result
        else:
            continue  # it did not begin
        await lane.land(entry.ordinal, entry.call, result, entry.elapsed_ns // _NS_PER_MS)
        landed.append(entry.ordinal)
