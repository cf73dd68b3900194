"""Tests of agentfootprint.trace.runlog.writing."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from agentfootprint.trace import LineWriter
from tests.flow.random_charts import RandomChart, charts, drive

relaxed = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@relaxed
@given(charts())
def test_lines_do_not_depend_on_how_rows_come_in_as_long_as_steps_are_whole(drawn: RandomChart) -> None:
    journal = drive(drawn.flow.executor()).journals[0]

    at_once = LineWriter(journal).lines(journal.rows).count(b"\n")
    one_by_one = LineWriter(journal)
    apart = sum(one_by_one.lines([row]).count(b"\n") for row in journal.rows)

    assert apart >= at_once


def test_the_end_and_a_resume_are_lines_of_their_own() -> None:
    from agentfootprint.trace import Journal

    writer = LineWriter(Journal(()))

    assert writer.end("done") == b'["z","done"]\n'
    assert writer.resumed("7-1") == b'["id","7-1"]\n'
