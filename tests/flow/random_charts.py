"""Random charts with what must come of them, for property tests.

`charts()` draws a chart made of lines of stages, deciders, selectors, forks, mounts, loops, breaks, failures and
pauses, and says how it must end and how often each stage runs. `drive` runs one, and answers every pause.

    @given(charts())
    def test_something(drawn: RandomChart) -> None:
        driven = drive(drawn.flow.executor())
        assert driven.ending == drawn.ending

Every chart ends: loops are counted in the state. What a stage does depends on the state only, so a run can be
repeated, and a chart can be built with typed stages or raw ones (`drawn.built(raw=True)`).
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

from agentfootprint.flow import Chart, Executor, Flow, FlowResult, PauseCheckpoint
from agentfootprint.trace import Journal
from tests.flow.random_pieces import Again, Choose, Ending, Line, Mount, Node, Op, Pick, Piece, Plain, Play, Spread
from tests.flow.random_stages import Boom, chart_of

__all__ = ["Boom", "Driven", "Ending", "RandomChart", "Shape", "charts", "drive", "drive_async"]

NUMBERS = ("n0", "n1", "n2")
LISTS = ("l0", "l1")
ANSWER = 7
"""What every pause is answered with."""


@dataclass(frozen=True)
class Shape:
    """What may be in a chart."""

    breaks: bool = True
    raises: bool = True
    asks: bool = True
    """Whether stages may pause; never inside forks and selectors, unless `asks_in_branches` holds."""
    asks_in_branches: bool = False
    loops: bool = True
    mounts: int = 2
    """How deep mounts may nest."""
    forks: bool = True
    async_stages: bool = True
    longest: int = 4
    """Most pieces of a line."""


@dataclass(frozen=True)
class RandomChart:
    """A chart, and what must come of it."""

    line: Line

    @cached_property
    def _played(self) -> tuple[Play, Ending]:
        play = Play()
        return play, play.line(self.line, ())

    @property
    def ending(self) -> Ending:
        """How a run ends when every pause is answered."""
        return self._played[1]

    @property
    def asks(self) -> int:
        """How often it pauses on the way."""
        return self._played[0].asks

    @property
    def steps(self) -> Counter[str]:
        """How often each stage is executed, by full id, mounts included, over the run and its resumes."""
        return self._played[0].steps

    def chart(self, *, raw: bool = False) -> Chart:
        """The chart, unbuilt."""
        return chart_of("Random", self.line, raw=raw)

    def built(self, *, raw: bool = False) -> Flow:
        """The chart, built anew."""
        return self.chart(raw=raw).build()

    @cached_property
    def flow(self) -> Flow:
        """The chart, built with typed stages."""
        return self.built()


# how it is drawn


@st.composite
def charts(draw: st.DrawFn, shape: Shape | None = None) -> RandomChart:
    """A random chart.

    Args:
        draw: Given by hypothesis.
        shape: What may be in it; everything but pauses inside branches by default.
    """
    return RandomChart(_Drawing(draw, shape or Shape()).line(depth=0, may_ask=True))


class _Drawing:
    """Draws the pieces, and gives out ids that are unique in the whole chart."""

    def __init__(self, draw: st.DrawFn, shape: Shape) -> None:
        self.draw = draw
        self.shape = shape
        self.count = 0

    def id(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def line(self, *, depth: int, may_ask: bool) -> Line:
        pieces: list[Piece] = [self.plain(may_ask=False, ends=False)]
        for _ in range(self.draw(st.integers(0, self.shape.longest))):
            kinds = ["plain", "plain", "decide"]
            kinds += ["select"] if self.shape.forks else []
            kinds += ["fork"] if self.shape.forks and isinstance(pieces[-1], Plain) and pieces[-1].end == "" else []
            kinds += ["mount"] if depth < self.shape.mounts else []
            pieces.append(self.piece(self.draw(st.sampled_from(kinds)), depth=depth, may_ask=may_ask))
        if self.shape.loops and self.draw(st.booleans()):
            pieces.append(self.again(pieces))
        return Line(tuple(pieces))

    def piece(self, kind: str, *, depth: int, may_ask: bool) -> Piece:
        if kind == "plain":
            return self.plain(may_ask=may_ask)
        if kind == "mount":
            return self.mount(depth=depth, may_ask=may_ask)
        within = may_ask if kind == "decide" else may_ask and self.shape.asks_in_branches
        size = self.draw(st.integers(1, 3))
        nodes = tuple(self.node(depth=depth, may_ask=within and kind != "fork") for _ in range(size))
        if kind == "fork":
            return Spread(nodes)
        ops, has_evidence = self.ops(), self.draw(st.booleans())
        if kind == "decide":
            chosen = self.draw(st.integers(0, size - 1))
            return Choose(self.id("d"), ops, nodes, chosen, has_evidence)
        picked = self.draw(st.sets(st.integers(0, size - 1)))
        return Pick(self.id("p"), ops, nodes, tuple(sorted(picked)), has_evidence)

    def node(self, *, depth: int, may_ask: bool) -> Node:
        if depth < self.shape.mounts and self.draw(st.integers(0, 3)) == 0:
            return self.mount(depth=depth, may_ask=may_ask)
        return self.plain(may_ask=may_ask)

    def plain(self, *, may_ask: bool, ends: bool = True) -> Plain:
        kinds: list[Any] = [""] * 8
        if ends:
            kinds += ["break"] if self.shape.breaks else []
            kinds += ["raise"] if self.shape.raises else []
            kinds += ["ask"] if self.shape.asks and may_ask else []
        end = self.draw(st.sampled_from(kinds))
        is_async = self.shape.async_stages and self.draw(st.booleans())
        return Plain(self.id("s"), self.ops(), end, is_async)

    def mount(self, *, depth: int, may_ask: bool) -> Mount:
        keys = self.draw(st.lists(st.sampled_from((*NUMBERS, *LISTS)), max_size=2, unique=True))
        propagates = self.draw(st.booleans())
        line = self.line(depth=depth + 1, may_ask=may_ask)
        return Mount(self.id("m"), line, tuple(keys), propagates)

    def again(self, pieces: Sequence[Piece]) -> Again:
        targets = [piece.id for piece in pieces if not isinstance(piece, Spread)]
        by: Any = self.draw(st.sampled_from(("break", "branch")))
        return Again(self.id("a"), self.draw(st.sampled_from(targets)), self.draw(st.integers(0, 2)), by)

    def ops(self) -> tuple[Op, ...]:
        numbers = st.tuples(st.sampled_from(("read", "set", "add", "delete", "emit")), st.sampled_from(NUMBERS))
        lists = st.tuples(st.sampled_from(("read", "append")), st.sampled_from(LISTS))
        drawn = self.draw(st.lists(st.tuples(st.one_of(numbers, lists), st.integers(0, 3)), max_size=3))
        return tuple((verb, key, number) for (verb, key), number in drawn)


# how it is run


@dataclass(frozen=True)
class Driven:
    """What came of a run and its resumes."""

    result: FlowResult | None
    """The last one; None when it failed."""
    error: Exception | None
    pauses: tuple[PauseCheckpoint, ...]
    executors: tuple[Executor, ...]
    """Those that ran it, in order: one, unless each resume had a fresh one."""

    @property
    def journals(self) -> list[Journal]:
        """What each executor has on record, also after a failure."""
        runs = [executor._last for executor in self.executors]  # pyright: ignore[reportPrivateUsage]  a failed run has no result
        return [run.journal for run in runs if run is not None]

    @property
    def ending(self) -> Ending:
        """How it ended."""
        if self.result is None:
            return "failed"
        assert self.result.status != "paused"
        return self.result.status


def drive(
    executor: Executor,
    *,
    input: Mapping[str, Any] | None = None,
    fresh: Callable[[], Executor] | None = None,
    answer: Any = ANSWER,
) -> Driven:
    """Run a chart, and resume it until it pauses no more.

    It lets nobody else have the event loop in between, however slow the machine is (DEC-23): two runs of one chart then
    go the same way where branches run side by side.

    Args:
        executor: Of a drawn chart.
        input: The run's input.
        fresh: Makes the executor of each resume, which then gets the checkpoint as JSON; the same by default.
        answer: What each pause is answered with.
    """
    with patch("agentfootprint.flow.walking.walk._SLICE_NS", sys.maxsize):
        return asyncio.run(drive_async(executor, input=input, fresh=fresh, answer=answer))


async def drive_async(
    executor: Executor,
    *,
    input: Mapping[str, Any] | None = None,
    fresh: Callable[[], Executor] | None = None,
    answer: Any = ANSWER,
) -> Driven:
    """As `drive`, inside a running loop."""
    executors, pauses = [executor], list[PauseCheckpoint]()
    result: FlowResult | None = None
    try:
        result = await executor.run(input)
        while result.checkpoint is not None:
            pauses.append(result.checkpoint)
            checkpoint: Any = result.checkpoint
            if fresh is not None:
                checkpoint = checkpoint.to_wire()
                executors.append(fresh())
            result = await executors[-1].resume(checkpoint, answer)
    except Boom as boom:
        return Driven(None, boom, tuple(pauses), tuple(executors))
    return Driven(result, None, tuple(pauses), tuple(executors))
