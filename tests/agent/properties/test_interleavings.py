"""Turns that pause, fail, are stopped and go on, here and in other processes: what holds in any order of it all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from agentfootprint.agent import Mode
from tests.agent.properties.worlds import Batch, Plan, Step, World

KINDS = ("runs", "runs", "runs", "asks", "asks", "gated", "gated", "looked", "gated", "fails", "barred")
ENDS = ("breaks", "dies", "halting")
"""Calls that end a run: one of them in a world of its own, and not in all, so that others go far."""


def full(kinds: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(kinds, min_size=2, max_size=4)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    is_plain = draw(st.booleans())  # ids that are all different, so that the sequence is judged too
    ids = st.sampled_from(["a", "b", ""])
    kinds = st.sampled_from(KINDS)
    if draw(st.integers(0, 2)) == 0:
        kinds = st.one_of(kinds, kinds, st.sampled_from(ENDS))
    script: list[Batch] = []
    for place in range(draw(st.integers(2, 5))):
        names = draw(st.lists(kinds, min_size=min(1, place % 3), max_size=4)) if place else draw(full(kinds))
        script.append(tuple((name, f"c{place}-{at}" if is_plain else draw(ids)) for at, name in enumerate(names)))
    failing = draw(st.just(frozenset[int]()) | st.frozensets(st.integers(1, 12), min_size=1, max_size=3))
    together = draw(st.booleans())
    modes: list[Mode] = ["dynamic", "dynamic", "classic", "dynamic-grouped"]
    mode = draw(st.sampled_from(modes))
    return Plan(tuple(script), failing, parallel=draw(st.booleans()), together=together, mode=mode)


steps = st.builds(
    Step,
    choice=st.integers(0, 11),
    stops_at=st.none() | st.none() | st.none() | st.integers(1, 60),
    is_killed=st.booleans(),
    is_elsewhere=st.booleans(),
)


async def played(plan: Plan, program: Sequence[Step]) -> World:
    world = World(plan)
    for step in program:
        await world.take(step)
    return world


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans(), program=st.lists(steps, min_size=3, max_size=9))
def test_whatever_happens_calls_are_answered_once_run_once_and_told_as_they_ran(
    plan: Plan, program: Sequence[Step]
) -> None:
    world = asyncio.run(played(plan, program))

    for how in set(world.legs):
        event(how)
