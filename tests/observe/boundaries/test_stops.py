"""Tests of agentfootprint.observe.boundaries.stops."""

from __future__ import annotations

from typing import Any

from agentfootprint.observe import build_run_steps
from tests.observe.boundaries.test_graph import answered, asked, boundary
from tests.observe.made import desk


def entered(address: str, kind: str = "LLMCall") -> dict[str, Any]:
    return boundary("subflow.entry", address, inside=True, primitiveKind=kind)


def left(address: str) -> dict[str, Any]:
    return boundary("subflow.exit", address, inside=True)


def said(steps: Any) -> list[tuple[str, str, str]]:
    return [(move.from_, move.to, move.label) for step in steps for move in step.transitions]


PIPE = [
    boundary("run.entry", "__root__#0", isRoot=True),
    *(entered("step-a#1"), asked("step-a", 2), answered("step-a", 2, calls=1)),
    *(asked("step-a", 3, "tool→llm"), answered("step-a", 3), left("step-a#1")),
    *(entered("step-b#4"), asked("step-b", 5), answered("step-b", 5), left("step-b#4")),
]


def test_a_sequence_stops_where_its_parts_hand_on() -> None:
    steps = build_run_steps([*PIPE, boundary("run.exit", "__root__#0", isRoot=True)])

    assert said(steps) == [
        ("actor:user", "step-a", "asks"),
        ("step-a", "step-b", "forwards"),
        ("step-b", "actor:user", "answers"),
    ]
    assert [step.seq for step in steps] == [0, 1, 2]


def test_a_run_that_failed_or_still_goes_on_has_not_answered() -> None:
    failed = boundary("run.exit", "__root__#0", isRoot=True, payload={"error": "no"})

    assert [label for *_, label in said(build_run_steps(PIPE))] == ["asks", "forwards"]
    assert [label for *_, label in said(build_run_steps([*PIPE, failed]))] == ["asks", "forwards"]


def test_looking_into_a_part_shows_what_passes_inside() -> None:
    steps = build_run_steps(PIPE, ["step-a"])

    assert [step.kind for step in steps] == ["react"] * 4
    assert [label for *_, label in said(steps)] == ["user→llm", "llm→tool", "tool→llm", "llm→user"]
    assert build_run_steps(PIPE, ["__root__", "step-a"]) == steps
    assert build_run_steps(PIPE, ["nowhere"]) == ()


def test_a_merge_stands_where_the_last_branch_left() -> None:
    fork = [boundary("fork.branch", "seed#0", parentSubflowId="Seed", childName=name) for name in ("x", "y")]
    events = [*fork, entered("x#1"), entered("y#2"), left("x#1"), left("y#2")]

    fork_step, merge = build_run_steps(events)

    assert (fork_step.label, merge.label) == ("fork (2)", "merge (2)")
    assert said([merge]) == [("x", "actor:user", "x"), ("y", "actor:user", "y")]
    assert build_run_steps(events[:-1])[-1].kind == "fork"


def test_two_forks_at_one_stage_are_told_apart_by_their_time() -> None:
    forks = [boundary("fork.branch", "seed#0", parentSubflowId="Seed", childName="x", ts=ts) for ts in (1, 1, 2)]

    assert [step.label for step in build_run_steps(forks)] == ["fork (2)", "fork (1)"]


def test_a_recording_can_be_asked_at_once() -> None:
    steps = build_run_steps(desk().run_sync("Weather?").recording)

    assert [step.kind for step in steps] == ["fork", "decide", "decide", "iteration", "fork", "decide", "decide"]
