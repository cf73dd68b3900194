"""Tests of agentfootprint.flow.observers.capture."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agentfootprint.flow import (
    BranchOutcome,
    CommitSeen,
    EmitSeen,
    FlowDevWarning,
    NextSeen,
    ReadSeen,
    RunEnded,
    Step,
    enable_dev_mode,
)
from agentfootprint.flow.observers.capture import Envelope, captured
from agentfootprint.flow.watch.sightings import Mutation
from agentfootprint.trace import FrozenDict, freeze, payload_summary

STEP = Step(run_id="r", stage_id="a", runtime_stage_id="a#0", stage_name="A", depth=0)
SCOPE: dict[str, Any] = {
    "timestamp": 1,
    "stage_name": "A",
    "stage_id": "a",
    "runtime_stage_id": "a#0",
    "pipeline_id": "",
}


def ended(value: Any) -> RunEnded:
    return RunEnded(timestamp=1, traversal_context=STEP, payload=value)


def test_an_event_of_frozen_values_is_shared_and_not_copied() -> None:
    event = ReadSeen(**SCOPE, key="k", value=freeze({"big": [1, 2, 3]}))

    assert captured(event, "clone") is event
    assert captured(event, "ref") is event


def test_an_object_that_could_still_change_is_copied() -> None:
    mine = {"a": [1]}
    kept = captured(ended(mine), "clone")
    mine["a"].append(2)

    assert isinstance(kept, RunEnded)
    assert kept.payload == freeze({"a": [1]})
    assert captured(ended(mine), "ref").to_wire()["payload"] == {"a": [1, 2]}


def test_the_ends_of_branches_keep_what_they_are() -> None:
    ends = {"a": BranchOutcome("a", ValueError("no"), is_error=True)}

    kept = captured(ended(ends), "clone")

    assert isinstance(kept, RunEnded)
    assert kept.payload == ends
    assert kept.payload is not ends


def test_what_can_not_be_copied_is_described_and_said_in_dev_mode() -> None:
    enable_dev_mode()
    try:
        with pytest.warns(FlowDevWarning, match="'payload' of RunEnded can't be copied"):
            kept = captured(ended({"a": {1, 2}}), "clone")
    finally:
        enable_dev_mode(on=False)

    assert isinstance(kept, RunEnded)
    assert kept.payload == payload_summary({"a": {1, 2}})


def test_an_object_that_raises_when_it_is_looked_at_is_unreadable() -> None:
    class Hostile(dict[str, int]):
        def items(self) -> Any:
            raise RuntimeError("no")

    kept = captured(ended(Hostile(a=1)), "clone")

    assert isinstance(kept, RunEnded)
    assert kept.payload["type"] == "unreadable"


def test_a_summary_describes_values_and_keeps_the_names() -> None:
    read = captured(ReadSeen(**SCOPE, key="k", value=freeze(list(range(100)))), "summary")
    committed = captured(
        CommitSeen(**SCOPE, mutations=(Mutation(key="k", value="x" * 500, operation="set"),)), "summary"
    )

    assert isinstance(read, ReadSeen)
    assert (read.key, read.value["__payloadSummary"], read.value["size"]) == ("k", True, 100)
    assert isinstance(committed, CommitSeen)
    assert committed.mutations[0].key == "k"
    assert len(committed.mutations[0].value["preview"]) == 80


def test_a_value_that_is_absent_stays_absent_in_a_summary() -> None:
    event = ReadSeen(**SCOPE, key="k")

    assert captured(event, "summary") is event


@pytest.mark.parametrize(
    ("event", "channel", "method", "runtime_stage_id"),
    [
        (ReadSeen(**SCOPE, key="k"), "scope", "onRead", "a#0"),
        (NextSeen(timestamp=1, traversal_context=STEP, from_="A", to="B"), "flow", "onNext", "a#0"),
        (
            EmitSeen(
                timestamp=1,
                name="x",
                payload=None,
                stage_name="A",
                runtime_stage_id="a#0",
                subflow_path=(),
                pipeline_id="",
            ),
            "emit",
            "onEmit",
            "a#0",
        ),
    ],
)
def test_an_envelope_says_where_its_event_belongs(event: Any, channel: str, method: str, runtime_stage_id: str) -> None:
    envelope = Envelope(7, "run", event)

    assert envelope.to_wire() == {
        "seq": 7,
        "channel": channel,
        "method": method,
        "runtimeStageId": runtime_stage_id,
        "runId": "run",
        "payload": event.to_wire(),
        "capturedAt": 1,
    }


def test_an_envelope_can_not_be_changed() -> None:
    envelope = Envelope(0, "run", ended(FrozenDict({})))

    with pytest.raises(AttributeError):
        envelope.seq = 1  # type: ignore[misc]
    assert msgspec.structs.asdict(envelope)["seq"] == 0
