"""Tests of the AG-UI files of `vectors/events`; the other files of that area belong to `test_events.py`."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from ag_ui import core
from ag_ui.encoder import EventEncoder
from pydantic import TypeAdapter

from agentfootprint.agui import AgUiIds, AgUiOptions, agui_id, map_events, verify_events
from agentfootprint.agui.mapping.calls import OpenCall
from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.agui.scopes import mount_scope
from agentfootprint.events import Event, event_from_wire
from tests.agui.client import Client, wire_of
from tests.vectors.harness import Case, assert_same, load

EVENTS = load("events")
SCENARIOS: dict[str, list[dict[str, Any]]] = {
    case["name"]: case["expected"]["events"] for case in EVENTS.document("run-streams")["cases"]
}


@pytest.mark.parametrize("case", EVENTS.cases("agui-ids"))
def test_agui_id(case: Case) -> None:
    given = case.input

    assert agui_id(given["runId"], given["kind"], given["n"], given["address"]) == case.expected


@pytest.mark.parametrize("case", EVENTS.cases("agui-minter"))
def test_minter(case: Case) -> None:
    if isinstance(case.expected, dict):
        with pytest.raises(TypeError):
            AgUiIds(case.input["runId"])
        return
    ids = AgUiIds(case.input["runId"])

    answers: list[Any] = []
    for op, *parts in case.input["ops"]:
        answer = ids.next(*parts)._asdict() if op == "next" else ids.at(*parts)
        answers.append(answer)

    assert_same(answers, case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("agui-scope"))
def test_mount_scope(case: Case) -> None:
    """AGU-21."""
    assert mount_scope(case.input) == case.expected


@pytest.mark.parametrize("case", EVENTS.cases("agui-streams"))
def test_stream(case: Case) -> None:
    """Events in, AG-UI events out; and what a client then holds."""
    given = case.input
    stored = given["events"] if "events" in given else SCENARIOS[given["scenario"]]

    sent = list(
        map_events(
            map(event_from_wire, stored),
            thread_id=given["threadId"],
            run_id=given["runId"],
            options=AgUiOptions(**given["options"]),
        )
    )

    assert_same(wire_of(sent), case.expected["events"])
    verify_events(sent)
    assert_same(Client(wire_of(sent)).messages, case.expected["clientMessages"])


@pytest.mark.parametrize("case", EVENTS.cases("agui-interrupts"))
def test_interrupt(case: Case) -> None:
    """A pause and its resume are two runs on one thread; what the second needs of the first is what a store keeps."""
    given = case.input
    options = AgUiOptions(**given["options"])
    stored = [event_from_wire(event) for event in SCENARIOS[given["scenario"]]]
    split = next(i for i, event in enumerate(stored) if event.type == "agentfootprint.pause.resume")
    first = Mapper(given["threadId"], given["runs"][0], options)
    paused = run(first, stored[:split])
    kept = [msgspec.json.decode(msgspec.json.encode(call), type=OpenCall) for call in first.open_calls]
    second = Mapper(given["threadId"], given["runs"][1], options, open_calls=kept, message_ids=dict(first.message_ids))

    resumed = run(second, stored[split:])

    assert_same(wire_of(paused), case.expected["first"])
    assert_same(wire_of(resumed), case.expected["second"])
    verify_events([*paused, *resumed])
    assert_same(Client(wire_of([*paused, *resumed])).messages, case.expected["clientMessages"])


@pytest.mark.parametrize("case", EVENTS.cases("agui-encode"))
def test_encode(case: Case) -> None:
    """AGU-80: the frames are those of the package."""
    event = TypeAdapter[Any](core.Event).validate_python(case.input)

    assert EventEncoder().encode(event) == case.expected


def run(mapper: Mapper, events: list[Event[Any]]) -> list[core.Event]:
    return [*mapper.begin(), *(each for event in events for each in mapper.map(event)), *mapper.end()]
