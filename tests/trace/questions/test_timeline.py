"""Tests of agentfootprint.trace.questions.timeline."""

from __future__ import annotations

from agentfootprint.trace import key_timeline, keys_read_from_map, timeline_to_json
from tests.trace.logs import bundle


def test_a_step_that_reads_and_overwrites_saw_the_old_value() -> None:
    log = [bundle(i, f"s#{i}", ("k", "set", i)) for i in range(2)]

    moments = key_timeline(log, "k", keys_read_from_map({"s#1": ["k"]})).moments

    assert [(each.kind, each.commit_idx, each.from_write_idx) for each in moments] == [
        ("write", 0, None),
        ("read", 1, 0),
        ("write", 1, None),
    ]


def test_a_long_timeline_says_how_much_it_leaves_out() -> None:
    log = [bundle(i, f"s#{i}", ("k", "set", i)) for i in range(70)]
    timeline = key_timeline(log, "k", keys_read_from_map({"s#0": ["k"]}))

    assert len(timeline_to_json(timeline)["moments"]) == 71
    assert "(+11 more moments)" in str(timeline)


def test_a_key_without_any_moment_before_the_position_is_no_error() -> None:
    log = [bundle(0, "a#0", ("k", "set", 1))]

    timeline = key_timeline(log, "k", keys_read_from_map({}), before=0)

    assert (timeline.missing, timeline.moments) == (None, ())
