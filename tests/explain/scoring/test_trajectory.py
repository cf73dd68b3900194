"""Tests of agentfootprint.explain.scoring.trajectory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain.scoring.trajectory import bucket_by_anchors, find_loop_heads

steps = st.lists(st.sampled_from(["seed#0", "sf-injection-engine#1", "sf-injection-engine/evaluate#2", "call-llm#3"]))


@given(steps)
def test_prelude_and_bodies_are_the_log(log: list[str]) -> None:
    partition = bucket_by_anchors(log, find_loop_heads(log))

    assert [*partition.prelude, *(step for frame in partition.frames for step in frame.body_ids)] == log
    assert all(frame.body_ids[0] == log[frame.head_array_idx] for frame in partition.frames)
