"""Tests that the published client of AG-UI accepts the vectors' streams, and holds the messages that they name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.agui import EventVerifier
from agentfootprint.agui.errors import AgUiSequenceError
from tests.node.client import Client
from tests.vectors.harness import Case, load

EVENTS = load("events")
STREAMS = EVENTS.cases("agui-streams")
INTERRUPTS = EVENTS.cases("agui-interrupts")


@pytest.fixture(scope="module")
def client(node: str, packages: Path) -> Iterator[Client]:
    made = Client(node, packages)
    yield made
    made.close()


@pytest.mark.parametrize("case", STREAMS)
def test_a_stream_leaves_the_client_with_these_messages(case: Case, client: Client) -> None:
    expected = case.expected

    held = client.ask(apply=[{"runId": case.input["runId"], "events": expected["events"]}])

    assert held == {"messages": expected["clientMessages"], "pendingInterrupts": [], "errors": [], "advice": []}


@pytest.mark.parametrize("case", INTERRUPTS)
def test_a_pause_and_its_answer_leave_the_client_with_these_messages(case: Case, client: Client) -> None:
    expected, (first, second) = case.expected, case.input["runs"]
    asked = expected["first"][-1]["outcome"]["interrupts"]

    paused = client.ask(apply=[{"runId": first, "events": expected["first"]}])
    answers = [{"interruptId": each["id"], "status": "resolved", "payload": {"approved": True}} for each in asked]
    whole = client.ask(
        apply=[
            {"runId": first, "events": expected["first"]},
            {"runId": second, "events": expected["second"], "resume": answers},
        ]
    )

    assert paused["pendingInterrupts"] == asked
    assert whole == {"messages": expected["clientMessages"], "pendingInterrupts": [], "errors": [], "advice": []}


def refused_here(events: list[dict[str, Any]]) -> bool:
    verifier = EventVerifier()
    try:
        for event in events:
            verifier.check(event)
    except AgUiSequenceError:
        return True
    return False


@pytest.mark.parametrize("case", STREAMS)
def test_our_check_and_the_clients_refuse_the_same_streams(case: Case, client: Client) -> None:
    events: list[dict[str, Any]] = case.expected["events"]
    places = range(len(events))
    lost = [events[:place] + events[place + 1 :] for place in places]
    twice = [[*events[: place + 1], *events[place:]] for place in places]
    swapped = [[*events[:place], *events[place : place + 2][::-1], *events[place + 2 :]] for place in places[:-1]]
    tried = [events, *lost, *twice, *swapped, [*events, *events]]

    theirs = [client.refusal(each) for each in tried]

    assert [refused_here(each) for each in tried] == [why is not None for why in theirs], theirs
    assert theirs[0] is None
