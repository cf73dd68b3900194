"""Tests of agentfootprint.trace.questions.quality."""

from __future__ import annotations

from agentfootprint.trace import QualityScore, keys_read_from_map, quality_trace
from tests.trace.logs import bundle


def test_a_step_without_a_score_is_unknown_and_no_drop() -> None:
    log = [bundle(i, f"s#{i}", ("k", "set", i)) for i in range(3)]
    reads = keys_read_from_map({f"s#{i}": ["k"] for i in range(3)})
    scores = {"s#2": QualityScore(0.5), "s#0": QualityScore(1.0)}

    trace = quality_trace(log, "s#2", reads, scores.get)

    assert [frame.score for frame in trace.frames] == [0.5, -1, 1.0]
    assert trace.largest_drop is None
    assert "score=unknown" in str(trace)


def test_the_first_of_two_equal_drops_counts() -> None:
    log = [
        bundle(0, "a#0", ("x", "set", 1)),
        bundle(1, "b#1", ("y", "set", 1)),
        bundle(2, "c#2", ("z", "set", 1)),
    ]
    scores = {"a#0": QualityScore(1.0), "b#1": QualityScore(1.0), "c#2": QualityScore(0.5)}

    trace = quality_trace(log, "c#2", keys_read_from_map({"c#2": ["y", "x"]}), scores.get)

    assert trace.largest_drop is not None
    assert trace.largest_drop.previous_frame.runtime_stage_id == "b#1"


def test_a_step_that_is_not_in_the_log_has_no_trace() -> None:
    trace = quality_trace([], "a#0", lambda _: (), lambda _: QualityScore(1.0))

    assert (trace.start_score, trace.frames) == (-1, ())
