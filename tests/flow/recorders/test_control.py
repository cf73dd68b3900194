"""Tests of agentfootprint.flow.recorders.control (random charts: tests/flow/test_random_charts.py)."""

from __future__ import annotations

import asyncio
from typing import Any

from agentfootprint.flow import (
    Chart,
    Choice,
    ControlDepRecorder,
    Decider,
    Flow,
    Pausable,
    Rule,
    Selector,
    Stage,
    StageContext,
    State,
    decide,
    select,
)
from agentfootprint.trace import ControlDep, causal_chain, keys_read_from_execution_tree


def seed(s: State) -> None:
    s["n"] = 5


def write(s: State, ctx: StageContext) -> None:
    s["out"] = ctx.runtime_stage_id


def choose(s: State) -> Choice:
    return decide(s, [Rule(when={"n": {"gt": 3}}, then="x", label="big")], default="y")


def deciding() -> Flow:
    decider = Decider(choose, [Stage(write, id="x"), Stage(write, id="y")], id="d")
    return Chart.of("Decided", Stage(seed, id="seed"), decider, Stage(write, id="end")).build()


def test_the_branch_that_was_chosen_depends_on_the_decision_and_what_joins_does_not() -> None:
    recorder = ControlDepRecorder()

    deciding().run_sync(recorders=[recorder])

    lookup = recorder.as_lookup()
    assert lookup("x#2") == ControlDep("d#1", "big")
    assert lookup("end#3") is None
    (told,) = recorder.decisions()
    assert (told["deciderRuntimeStageId"], told["chosen"], told["ruleLabel"]) == ("d#1", "x", "big")
    assert told["evidence"]["chosen"] == "x"


def test_it_feeds_a_causal_chain() -> None:
    recorder = ControlDepRecorder()
    executor = deciding().executor(recorders=[recorder])
    executor.run_sync()
    snapshot = executor.snapshot()
    assert snapshot.execution_tree is not None

    reads = keys_read_from_execution_tree(snapshot.execution_tree)
    root = causal_chain(snapshot.commit_log, "x#2", reads, control_deps=recorder.as_lookup())

    assert root is not None
    assert [(edge.parent.runtime_stage_id, edge.kind, edge.key) for edge in root.parent_edges] == [
        ("d#1", "control", "big")
    ]


def test_every_branch_of_a_selection_depends_on_it_by_its_own_rule() -> None:
    def pick(s: State) -> Any:
        rules = [Rule(when={"n": {"lt": 9}}, then="y", label="small"), Rule(when={"n": {"gt": 3}}, then="x")]
        return select(s, rules)

    recorder = ControlDepRecorder()
    selector = Selector(pick, [Stage(write, id="x"), Stage(write, id="y")], id="p")

    Chart.of("Selected", Stage(seed, id="seed"), selector).build().run_sync(recorders=[recorder])

    lookup = recorder.as_lookup()
    assert (lookup("x#2"), lookup("y#3")) == (ControlDep("p#1"), ControlDep("p#1", "small"))


def test_a_resume_goes_on_and_a_new_run_begins_anew() -> None:
    def ask(s: State) -> Any:
        return {"q": 1}

    def answered(s: State, answer: Any) -> None:
        s["out"] = answer

    recorder = ControlDepRecorder()
    decider = Decider(choose, [Pausable(ask, answered, id="x"), Stage(write, id="y")], id="d")
    executor = Chart.of("Decided", Stage(seed, id="seed"), decider).build().executor(recorders=[recorder])

    async def run() -> None:
        result = await executor.run()
        assert result.checkpoint is not None
        await executor.resume(result.checkpoint, 1)

    asyncio.run(run())
    assert recorder.as_lookup()("x#3") == ControlDep("d#1", "big")

    asyncio.run(executor.run())
    assert len(recorder.decisions()) == 1


def test_the_snapshot_lists_the_choices() -> None:
    recorder = ControlDepRecorder()

    snapshot = deciding().run_sync(recorders=[recorder]).snapshot().to_wire()

    (shown,) = snapshot["recorders"]
    assert shown["data"]["decisions"][0]["ruleLabel"] == "big"
    assert shown["data"]["decisions"][0]["evidence"]["rules"][0]["type"] == "filter"
