"""Tests of agentfootprint.explain.rerunning.bench."""

from __future__ import annotations

import asyncio

import pytest

from agentfootprint import Recording
from agentfootprint.explain import Ablation, NoAgentError, ProveOptions
from agentfootprint.explain.rerunning.bench import Bench
from tests.explain.desks import APPROVED, Foreign, desk

VIP = (Ablation.injection("vip"),)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return desk().run_sync("Refund?").recording


def bench(recording: Recording, foreign: Foreign) -> Bench:
    return Bench(recording, foreign, tools="replay", options=ProveOptions(), deps=None)


async def test_equal_removals_and_seed_are_run_once_also_at_the_same_time(recording: Recording) -> None:
    foreign = Foreign(usd=0.1)
    made = bench(recording, foreign)

    ends = await asyncio.gather(made.run((), 0), made.run((), 0), made.run(VIP, 0), made.run((), 1))
    again = await made.run(VIP, 0)

    assert [end.text for end in ends] == [APPROVED, APPROVED, "Refund DECLINED.", APPROVED]
    assert again is ends[2]
    assert (foreign.shared["runs"], made.spent.runs) == (3, 3)
    assert (made.spent.tokens, made.spent.usd) == (45, pytest.approx(0.3))


async def test_closing_ends_what_still_runs(recording: Recording) -> None:
    foreign = Foreign()
    foreign.hold = asyncio.Event()
    made = bench(recording, foreign)
    waiting = asyncio.create_task(made.run((), 0))
    await foreign.started.get()

    await made.close()

    assert (foreign.shared["in flight"], foreign.shared["cancelled"]) == (0, 1)
    with pytest.raises(asyncio.CancelledError):
        await waiting


def test_a_recording_that_does_not_say_what_was_asked_can_not_be_run_again(recording: Recording) -> None:
    wire = recording.to_wire()
    events = [event for event in wire["events"] if event["type"] != "agentfootprint.agent.turn_start"]
    state = {key: value for key, value in wire["snapshot"]["sharedState"].items() if key != "userMessage"}
    log = [
        {**bundle, "overwrite": {k: v for k, v in bundle["overwrite"].items() if k != "userMessage"}}
        for bundle in wire["snapshot"]["commitLog"]
    ]
    snapshot = {**wire["snapshot"], "sharedState": state, "commitLog": log}
    silent = Recording.from_wire({**wire, "events": events, "snapshot": snapshot})

    if silent.user_message is not None:
        pytest.fail("the recording still says it")
    with pytest.raises(NoAgentError, match="can't be re-run"):
        bench(silent, Foreign())
