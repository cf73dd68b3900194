"""Tests of agentfootprint.observe.views.routes."""

from __future__ import annotations

from typing import Any

from agentfootprint.observe import RouteLog
from agentfootprint.observe.views.routes import RouteTrip
from tests.observe.made import event, tool_end, tool_start

NOTHING: dict[str, Any] = {
    "activeCount": 0,
    "skippedCount": 0,
    "evaluatedTotal": 0,
    "activeIds": [],
    "skippedDetails": [],
    "triggerKindCounts": {},
    "skillCatalog": [],
}


def evaluated(log: RouteLog, number: int, *, move: Any = None, routing: Any = None) -> None:
    more = {key: value for key, value in (("cursorMove", move), ("routing", routing)) if value is not None}
    log.hear(
        event(
            "context.evaluated", {"iteration": number, **NOTHING, **more}, at=f"sf-injection-engine/evaluate#{number}"
        )
    )


def moved(log: RouteLog, number: int, by: str, came: str | None, to: str) -> None:
    evaluated(log, number, move={"by": by, "to": to, **({} if came is None else {"from": came})})


def refused(log: RouteLog, number: int, asked: str) -> None:
    payload: dict[str, Any] = {"requestedId": asked, "allowed": [], "iteration": number, "posture": "rails"}
    log.hear(event("skill.rejected", payload))


def test_a_hop_says_where_from_where_to_and_what_moved_it() -> None:
    log = RouteLog()

    log.hear(tool_start("c1", "lookup"))
    log.hear(tool_end("c1"))
    log.hear(tool_start("c2", "never", not_dispatched={"cause": "halt"}))
    log.hear(tool_end("c2", not_dispatched={"cause": "halt"}))
    evaluated(
        log,
        2,
        move={"by": "route", "from": "billing", "to": "refunds", "reachable": []},
        routing=[{"injectionId": "refunds", "flavor": "skill", "via": "route", "label": "paid"}],
    )

    (hop,) = log.hops()
    assert (hop.outcome, hop.from_skill, hop.to_skill, hop.iteration) == ("route", "billing", "refunds", 2)
    assert (hop.edge_label, hop.last_tool, hop.reachable) == ("paid", "lookup", ())


def test_a_file_that_does_not_say_what_moved_the_position_is_read_by_its_rows() -> None:
    log = RouteLog()

    evaluated(log, 1, routing=[{"injectionId": "billing", "flavor": "skill", "via": "entry"}])
    evaluated(log, 2, routing=[{"injectionId": "billing", "flavor": "skill", "via": "entry"}])
    evaluated(log, 3)

    assert [(hop.outcome, hop.to_skill) for hop in log.hops()] == [("entry", "billing")]
    assert "inferred" in log.hops()[0].why


def test_two_skills_that_alternate_trip_once_until_something_else_happens() -> None:
    trips: list[RouteTrip] = []
    log = RouteLog(on_trip=trips.append)

    for number, skill in enumerate("ababa"):
        moved(log, number, "route", None, skill)

    assert [(trip.kind, trip.skills, trip.iteration) for trip in trips] == [("ping-pong", ("a", "b"), 3)]
    assert log.trips() == tuple(trips)


def test_three_refusals_in_a_row_trip_once_until_a_move() -> None:
    log = RouteLog()

    for number in range(4):
        refused(log, number, "vip")
    moved(log, 5, "route", "a", "b")
    refused(log, 6, "vip")

    assert [(trip.kind, trip.skills) for trip in log.trips()] == [("rejected-cap", ("vip",))]
    assert [hop.outcome for hop in log.hops()] == [*["rejected"] * 4, "route", "rejected"]
    assert log.hops()[0].requested_skill == "vip"


def test_a_position_that_was_kept_is_a_hop_and_no_move() -> None:
    log = RouteLog()

    moved(log, 1, "entry", None, "a")
    moved(log, 2, "stay", "a", "a")
    evaluated(log, 3, move={"by": "none"})

    assert [hop.outcome for hop in log.hops()] == ["entry", "stay"]
