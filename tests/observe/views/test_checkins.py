"""Tests of agentfootprint.observe.views.checkins."""

from __future__ import annotations

from agentfootprint.observe import CheckInLog
from tests.observe.made import event

CALL = {"toolName": "refund", "toolCallId": "c1", "iteration": 1}


def test_requests_and_decisions_are_counted_over_runs_until_they_are_reset() -> None:
    log = CheckInLog()

    for run in ("run-1-1", "run-1-2", "run-1-3"):
        log.hear(event("checkin.request", {**CALL, "request": {"tool": "refund"}}, run=run))
    log.hear(event("checkin.decision", {**CALL, "approved": True, "by": "ann"}, run="run-2-4"))
    log.hear(event("checkin.decision", {**CALL, "approved": False, "by": "bob", "note": "Too much"}, run="run-2-5"))
    stats = log.stats()

    assert (stats.requested, stats.approved, stats.declined, stats.pending) == (3, 1, 1, 1)
    assert [(each.by, each.note) for each in log.decisions] == [("ann", None), ("bob", "Too much")]
    assert [each.run_id for each in log.requests] == ["run-1-1", "run-1-2", "run-1-3"]
    log.reset()
    assert log.stats().requested == len(log.requests) == 0


def test_a_decision_that_was_remembered_answers_no_question() -> None:
    log = CheckInLog()

    log.hear(event("checkin.request", {**CALL, "request": {}}))
    log.hear(event("checkin.decision", {**CALL, "approved": True, "by": "ann", "remembered": True}))

    assert (log.stats().approved, log.stats().pending) == (1, 1)
    assert log.decisions[0].remembered
