"""Tests of agentfootprint.flow.again.points."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.flow import BranchFailedError, CheckpointError
from agentfootprint.flow.again.points import (
    ChainFrame,
    ForkFrame,
    Kept,
    MountFrame,
    PausePoint,
    frames_to_wire,
    kept,
    point_from_wire,
)
from agentfootprint.trace import ABSENT, FrozenDict, freeze, thaw

TEXTS = st.text(min_size=1, max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
).map(freeze)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=2).map(freeze)
ENDS = st.one_of(VALUES.map(Kept), st.tuples(TEXTS, TEXTS).map(lambda e: Kept(BranchFailedError(*e), is_error=True)))


def points(depth: int) -> st.SearchStrategy[PausePoint]:
    none: dict[str, PausePoint] = {}
    pending = st.dictionaries(TEXTS, points(depth - 1), max_size=2) if depth else st.just(none)
    frames = st.one_of(
        st.builds(MountFrame, TEXTS, OBJECTS, st.none() | OBJECTS),
        st.builds(ChainFrame, TEXTS),
        st.builds(ForkFrame, TEXTS, TEXTS, st.dictionaries(TEXTS, ENDS, max_size=2), pending),
    )
    return st.builds(
        PausePoint,
        TEXTS,
        VALUES,
        st.none() | st.just("interrupt"),
        st.lists(VALUES, max_size=2).map(tuple),
        st.just(ABSENT) | VALUES,
        st.lists(frames, max_size=3).map(tuple),
    )


def wire_of(point: PausePoint) -> dict[str, Any]:
    """A point as it stands among what is pending in a fork."""
    frames = frames_to_wire([ForkFrame("f", "a", {}, {"b": point})], states=True)
    return json.loads(json.dumps(frames))[0]["pending"]["b"]


@given(points(2))
def test_a_point_goes_over_the_wire_and_back(point: PausePoint) -> None:
    wire = wire_of(point)

    again = point_from_wire(wire)

    assert wire_of(again) == wire
    assert (again.stage_id, again.by, again.half is ABSENT) == (point.stage_id, point.by, point.half is ABSENT)
    assert thaw(again.data) == thaw(point.data)
    assert [type(frame) for frame in again.frames] == [type(frame) for frame in point.frames]


def test_the_state_of_a_mount_on_the_way_stands_elsewhere() -> None:
    frame = MountFrame("sf", FrozenDict({"x": 1}))

    wire = frames_to_wire([frame], states=False)
    again = point_from_wire({"pausedStageId": "sf/ask", "resumeFrames": wire}, states={"sf": FrozenDict({"x": 2})})

    assert wire == [{"mount": "sf"}]
    assert again.frames == (MountFrame("sf", FrozenDict({"x": 2})),)


def test_an_error_keeps_its_class_and_words() -> None:
    frames = [ForkFrame("f", "a", {"b": kept(KeyError("gone"), is_error=True)})]

    once = point_from_wire({"pausedStageId": "a", "resumeFrames": frames_to_wire(frames, states=False)})
    twice = point_from_wire({"pausedStageId": "a", "resumeFrames": frames_to_wire(once.frames, states=False)})

    for point in (once, twice):
        (frame,) = point.frames
        assert isinstance(frame, ForkFrame)
        error = frame.results["b"].result
        assert isinstance(error, BranchFailedError)
        assert (error.name, error.args[0]) == ("KeyError", "gone")


NO_FRAMES: list[tuple[Any, str]] = [
    ("text", "resumeFrames"),
    ([1], "resumeFrames[0]"),
    ([{}], "resumeFrames[0]"),
    ([{"mount": 1}], "resumeFrames[0].mount"),
    ([{"mount": "sf"}], "resumeFrames[0].state"),
    ([{"mount": "sf", "state": {}, "args": []}], "resumeFrames[0].args"),
    ([{"decider": ""}], "resumeFrames[0].decider"),
    ([{"fork": "f"}], "resumeFrames[0]"),
    ([{"fork": "f", "branch": "a", "results": []}], "resumeFrames[0].results"),
    ([{"fork": "f", "branch": "a", "results": {"b": 1}}], "resumeFrames[0].results.b"),
    ([{"fork": "f", "branch": "a", "results": {"b": {"isError": 1}}}], "resumeFrames[0].results.b.isError"),
    (
        [{"fork": "f", "branch": "a", "results": {"b": {"isError": True, "message": 1}}}],
        "resumeFrames[0].results.b.message",
    ),
    ([{"fork": "f", "branch": "a", "pending": {"b": {}}}], "resumeFrames[0].pending.b.pausedStageId"),
]


@pytest.mark.parametrize(("frames", "field"), NO_FRAMES)
def test_what_is_no_frame_is_refused_with_the_way_to_it(frames: Any, field: str) -> None:
    with pytest.raises(CheckpointError) as refused:
        point_from_wire({"pausedStageId": "ask", "resumeFrames": frames})

    assert refused.value.field == field
    assert field in str(refused.value)
