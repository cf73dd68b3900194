"""Tests of agentfootprint.agui.threads.facts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint.agui.errors import AgUiThreadError
from agentfootprint.agui.mapping.calls import OpenCall
from agentfootprint.agui.threads.facts import Claim, OpenInterrupt, PastRun, ThreadFacts
from agentfootprint.trace import freeze

CALL = OpenCall(id="r-1/tool-call/0/x", provider_id="c1", n=0, address="x", tool_name="refund", ordinal=0)
FACTS = ThreadFacts(
    messages=(freeze({"id": "u", "role": "user", "content": "Hi."}),),
    runs=(PastRun(run_id="r-0"), PastRun(run_id="r-1", terminal=freeze({"type": "RUN_FINISHED"}))),
    interrupts=(
        OpenInterrupt(
            id="i", gate="checkIn", response_schema=freeze({"type": "object"}), expires_at="2030-01-01T00:00Z"
        ),
    ),
    open_calls=(CALL,),
    message_ids={"": "m"},
    claim=Claim(run_id="r-2", token="t", until=5),
)


@pytest.mark.parametrize("facts", [ThreadFacts(), FACTS])
def test_facts_survive_a_store(facts: ThreadFacts) -> None:
    wire = json.loads(json.dumps(facts.to_wire()))

    assert ThreadFacts.from_wire(wire) == facts
    assert ThreadFacts.from_wire(freeze(wire)) == facts


@pytest.mark.parametrize(
    "wire",
    [
        None,
        [],
        {},
        {"schema": 2},
        {"schema": 1, "messages": "marker"},
        {"schema": 1, "messages": ["marker"]},
        {"schema": 1, "runs": [{"id": 1}]},
        {"schema": 1, "runs": [{"id": "r", "terminal": "marker"}]},
        {"schema": 1, "interrupts": [{"id": "i"}]},
        {"schema": 1, "openCalls": [{"id": "marker"}]},
        {"schema": 1, "messageIds": {"a": 1}},
        {"schema": 1, "claim": {"runId": "r", "token": "t", "until": "marker"}},
    ],
)
def test_what_is_not_as_it_was_written_is_refused_without_its_words(wire: Any) -> None:
    with pytest.raises(AgUiThreadError) as caught:
        ThreadFacts.from_wire(wire)

    assert "marker" not in str(caught.value)


def test_only_the_last_runs_can_be_told_again_and_all_ids_stay_used() -> None:
    facts = ThreadFacts()
    for n in range(20):
        facts = facts.after(f"r-{n}", freeze({"n": n}))

    assert [each.run_id for each in facts.runs] == [f"r-{n}" for n in range(20)]
    assert [each.run_id for each in facts.runs if each.terminal is not None] == [f"r-{n}" for n in range(4, 20)]
    assert facts.run("r-0") == PastRun(run_id="r-0")
    assert facts.run("never") is None


def test_a_run_that_ends_gives_its_claim_up() -> None:
    after = FACTS.after("r-2", None, interrupts=(), open_calls=())

    assert after.claim is None
    assert (after.interrupts, after.open_calls, after.messages) == ((), (), FACTS.messages)
