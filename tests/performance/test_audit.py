"""What an audit chain costs beside a bare loop that canonicalises and hashes the same records.

The goal is 1.5 times, at 100,000 events; the bounds here leave room for a busy machine. Time is that of the process,
the best of three, so that neighbours count little.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint import Agent, Fact, Limits, Mock, tool
from agentfootprint.events import Event
from agentfootprint.observe import AuditExporter, verify_audit

COUNT = 20_000
ROOM = 2.5


@pytest.fixture(scope="module")
def many() -> list[Event[Any]]:
    """The events of a run of 40 iterations, again and again."""

    @tool
    async def lookup(order_id: str) -> str:
        """Look up one order by its number."""
        return f"Order {order_id}: shipped. " * 12

    calls = [Mock.call("lookup", order_id=f"A-{n:04}") for n in range(39)]
    agent = Agent(
        Mock([*calls, "Done."]), system="Be brief.", tools=[lookup], context=[Fact("who", "Dana Reyes.")],
        limits=Limits(iterations=50),
    )  # fmt: skip
    events = list(agent.run_sync("Look them up.").recording.events)
    return (events * (COUNT // len(events) + 1))[:COUNT]


def fastest(work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def bare(records: list[dict[str, Any]]) -> None:
    for record in records:
        text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        hashlib.sha256(text.encode()).hexdigest()


def test_hashing_and_verifying_cost_little_more_than_a_bare_loop(many: list[Event[Any]]) -> None:
    def hashed() -> AuditExporter:
        audit = AuditExporter(include_token_events=True)
        for event in many:
            audit.export(event)
        return audit

    bundle = hashed().bundle()
    bodies = [{key: value for key, value in record.items() if key != "hash"} for record in bundle["records"]]
    floor = fastest(lambda: bare(bodies))

    hashing, verifying = fastest(hashed) / floor, fastest(lambda: verify_audit(bundle)) / floor

    assert hashing <= ROOM
    assert verifying <= ROOM


def test_the_cost_of_a_record_does_not_depend_on_how_long_the_chain_is(many: list[Event[Any]]) -> None:
    audit = AuditExporter(include_token_events=True)

    def more(events: list[Event[Any]]) -> float:
        start = time.process_time()
        for event in events:
            audit.export(event)
        return time.process_time() - start

    early = more(many[:5_000])
    more(many)
    late = more(many[:5_000])

    assert late <= ROOM * early
