"""What an audit chain costs beside a bare loop that canonicalises and hashes the same records.

The goal is 1.5 times, at 100,000 events (`python -m benchmarks.audit`); the bounds here leave room for a busy machine.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from agentfootprint.events import Event
from agentfootprint.observe import AuditExporter
from benchmarks import audit

pytestmark = pytest.mark.usefixtures("quick_collections")

COUNT = 20_000
ROOM = 2.5


@pytest.fixture(scope="module")
def many() -> list[Event[Any]]:
    return audit.events_of_a_run(COUNT)


def test_hashing_and_verifying_cost_little_more_than_a_bare_loop(many: list[Event[Any]]) -> None:
    figures = audit.figures(many)

    assert figures["hashing to json.dumps"] <= ROOM
    assert figures["verifying to json.dumps"] <= ROOM


def test_the_cost_of_a_record_does_not_depend_on_how_long_the_chain_is(many: list[Event[Any]]) -> None:
    chain = AuditExporter(include_token_events=True)

    def more(events: list[Event[Any]]) -> float:
        start = time.process_time()
        for event in events:
            chain.export(event)
        return time.process_time() - start

    early = more(many[:5_000])
    more(many)
    late = more(many[:5_000])

    assert late <= ROOM * early
