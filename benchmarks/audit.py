"""What does an audit chain cost beside a bare loop that writes the same records canonically and hashes them?

`python -m benchmarks.audit [EVENTS]`. Two floors: one that writes with `json.dumps`, sorted, and one that writes with
the package's own canonical form, which is faster. Time is the processor's, the best of three.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from agentfootprint import Agent, Fact, Limits, Mock, tool
from agentfootprint.events import Event
from agentfootprint.observe import AuditExporter, verify_audit
from agentfootprint.observe.audit.canonical import record_hash

__all__ = ["events_of_a_run", "figures"]


def events_of_a_run(count: int) -> list[Event[Any]]:
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
    return (events * (count // len(events) + 1))[:count]


def _fastest(work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def _with_json(records: list[dict[str, Any]]) -> None:
    for record in records:
        text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        hashlib.sha256(text.encode()).hexdigest()


def _with_ours(records: list[dict[str, Any]]) -> None:
    for record in records:
        record_hash(record)


def figures(events: list[Event[Any]]) -> dict[str, float]:
    """Microseconds an event, and what hashing and verifying take of each floor.

    Args:
        events: What is recorded.
    """

    def hashed() -> AuditExporter:
        audit = AuditExporter(include_token_events=True)
        for event in events:
            audit.export(event)
        return audit

    bundle = hashed().bundle()
    records = [{key: value for key, value in record.items() if key != "hash"} for record in bundle["records"]]
    plain, ours = _fastest(lambda: _with_json(records)), _fastest(lambda: _with_ours(records))
    hashing, verifying = _fastest(hashed), _fastest(lambda: verify_audit(bundle))
    return {
        "hashing, us an event": hashing / len(events) * 1e6,
        "hashing to json.dumps": hashing / plain,
        "verifying to json.dumps": verifying / plain,
        "hashing to our canonical form": hashing / ours,
        "verifying to our canonical form": verifying / ours,
    }


if __name__ == "__main__":
    made = events_of_a_run(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    gc.freeze()
    print(json.dumps({name: round(value, 2) for name, value in figures(made).items()}, indent=2))
