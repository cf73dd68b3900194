"""Tests of agentfootprint.flow.tell.reading: a run in words, read off its journal."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentfootprint.flow import (
    Chart,
    Choice,
    Decider,
    FlowRun,
    Fork,
    Handle,
    Narrative,
    NarrativeOptions,
    NarrativeRecorder,
    Part,
    Pausable,
    RetryPolicy,
    Rule,
    Selector,
    Stage,
    StageContext,
    State,
    Subflow,
    SubflowMappingError,
    decide,
    project_narrative,
    select,
)


def set_to(**values: Any) -> Any:
    def stage(s: State) -> None:
        for key, value in values.items():
            s[key] = value

    return stage


def read(*keys: str) -> Any:
    def stage(s: State, ctx: StageContext) -> None:
        for key in keys:
            ctx.get(key)

    return stage


def narrative(*parts: Part, options: NarrativeOptions | None = None, **executor: Any) -> Narrative:
    made = Chart.of("Told", *parts).build().executor(**executor)
    with contextlib.suppress(ValueError, SubflowMappingError):
        asyncio.run(made.run())
    return made.narrative_entries(options)


def test_what_a_stage_did_follows_its_line_in_the_order_it_did_it() -> None:
    def work(s: State, ctx: StageContext) -> None:
        s["b"] = 1
        _ = s["a"]
        ctx.emit("app.seen", {"a": 1})
        del s["a"]
        _ = ctx.get("a")
        ctx.update("b", 2)

    told = narrative(Stage(set_to(a="x"), id="seed"), Stage(work, id="work", description="do it"))

    assert str(told).splitlines() == [
        "Stage 1: The process began with Seed.",
        '  Step 1: Write a = "x"',
        "Stage 2: Next step: do it.",
        "  Step 1: Write b = 1",
        '  Step 2: Read a = "x"',
        "  [emit] app.seen: {a}",
        "  Step 4: Delete a",
        "  Step 5: Read a = undefined",
        "  Step 6: Update b = 2",
    ]


def test_a_description_tells_how_it_began() -> None:
    told = narrative(Stage(set_to(a=1), id="seed", description="fetch it"))

    assert told.texts()[0] == "Stage 1: The process began: fetch it."


def test_what_a_failed_stage_did_is_not_told() -> None:
    def fail(s: State) -> None:
        s["a"] = 1
        raise ValueError("bad luck.")

    told = narrative(Stage(read("x"), id="seed"), Stage(fail, id="boom"))

    assert told.texts()[2:] == ["[Error]: An error occurred at Boom: ValueError: bad luck."]


def test_a_cancelled_stage_is_no_error() -> None:
    async def wait(s: State) -> None:
        await asyncio.sleep(60)

    executor = Chart.of("Told", Stage(wait, id="wait")).build().executor()

    with contextlib.suppress(TimeoutError):
        asyncio.run(executor.run(timeout=0.001))

    assert executor.narrative_entries().texts() == []


def test_a_selector_has_a_line_of_its_own_with_what_it_read() -> None:
    def pick(s: State) -> Any:
        return select(s, [Rule(when={"n": {"gt": 3}}, then="x", label="big"), Rule(when={"n": {"lt": 0}}, then="y")])

    parts: list[Part] = [
        Stage(set_to(n=5), id="seed"),
        Selector(pick, [Stage(read("n"), id="x"), Stage(read("n"), id="y")], id="pick", description="choose"),
    ]

    assert narrative(*parts).texts()[2:] == [
        "Stage 2: Next step: choose.",
        "Step 1: Read n = 5",
        "Step 2: Read n = 5",
        '[Selected]: 1 of 2 paths selected: x "big" (n 5 gt 3 ✓).',
        "[Parallel]: Forking into 1 parallel paths: X.",
        "Stage 3: Next, it moved on to X.",
        "Step 1: Read n = 5",
    ]
    assert narrative(*parts, options=NarrativeOptions(selector_lines=False)).texts()[2:4] == [
        '[Selected]: 1 of 2 paths selected: x "big" (n 5 gt 3 ✓).',
        "[Parallel]: Forking into 1 parallel paths: X.",
    ]


def decision(choose: Any, **more: Any) -> str:
    branches = [Stage(read(), id="x"), Stage(read(), id="y")]
    told = narrative(Stage(set_to(n=5, name="Ann"), id="seed"), Decider(choose, branches, id="d", **more))
    return next(entry.text for entry in told if entry.type == "condition")


def test_a_decision_is_told_with_the_rule_that_made_it() -> None:
    def by_filter(s: State) -> Choice:
        rules = [
            Rule(when={"n": {"gt": 9}}, then="y"),
            Rule(when={"n": {"gte": 5, "in": [4, 5]}, "name": {"eq": "Ann"}}, then="x", label="known"),
        ]
        return decide(s, rules, default="y")

    def by_function(s: State) -> Choice:
        return decide(s, [Rule(when=lambda s: s["n"] > 1 and s["name"] != "", then="x", label="any")], default="y")

    def by_blind_function(s: State) -> Choice:
        return decide(s, [Rule(when=lambda _: True, then="x")], default="y")

    def by_default(s: State) -> Choice:
        return decide(s, [Rule(when=lambda s: s["gone"], then="x"), Rule(when={"n": {"lt": 1}}, then="x")], default="y")

    assert decision(by_filter) == (
        '[Condition]: It evaluated Rule 1 "known": n 5 gte 5 ✓, n 5 in [4,5] ✓, name "Ann" eq "Ann" ✓, and chose X.'
    )
    assert decision(by_function) == '[Condition]: It examined "any": n=5, name="Ann", and chose X.'
    assert decision(by_blind_function) == "[Condition]: It examined, and chose X."
    assert decision(by_default) == ("[Condition]: No rules matched (1 rule(s) threw errors), fell back to default: Y.")


def test_a_decision_without_evidence_is_told_with_its_rationale() -> None:
    def plain(s: State) -> str:
        return "x"

    def explained(s: State, ctx: StageContext) -> str:
        ctx.debug("deciderRationale", "n is odd")
        return "x"

    assert decision(plain) == "[Condition]: A decision was made, and the path taken was X."
    assert decision(explained) == "[Condition]: A decision was made: n is odd, so the path taken was X."
    assert decision(plain, description="looked") == "[Condition]: It looked and chose X."
    assert decision(explained, description="looked") == "[Condition]: It looked: n is odd, so it chose X."


def test_a_mount_is_told_with_what_it_was_given_and_counts_anew() -> None:
    inner = Chart.of("In", Stage(read("x"), id="i", description="look"), Stage(read(), id="j"))
    mount = Subflow(inner, id="sf", name="Sub", input={"x": "a"})

    def computed_map(outer: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"x": outer["a"], "y": [1]}

    computed = Subflow(inner, id="sg", input=computed_map)

    told = narrative(Stage(set_to(a=1), id="seed"), mount, computed, Stage(read(), id="end"))

    assert told.texts()[2:] == [
        "Entering Sub: look.",
        "Input: x = 1",
        "Stage 1: The process began: look.",
        "Step 1: Read x = 1",
        "Stage 2: Next, it moved on to sf/J.",
        "Exiting the Sub subflow.",
        "Entering Sg: look.",
        "Input: x = 1",
        "Input: y = (1 item)",
        "Stage 1: The process began: look.",
        "Step 1: Read x = 1",
        "Stage 2: Next, it moved on to sg/J.",
        "Exiting the Sg subflow.",
        "Stage 2: Next, it moved on to End.",
    ]
    assert set(told.entries_by_subflow()) == {"", "sf", "sg"}
    assert [entry.direction for entry in told if entry.type == "subflow"] == ["entry", "exit", "entry", "exit"]


def test_a_mount_whose_map_failed_was_never_entered() -> None:
    def fail(_: Mapping[str, Any]) -> Mapping[str, Any]:
        raise ValueError("no")

    told = narrative(Stage(read(), id="seed"), Subflow(Chart.of("In", Stage(read(), id="i")), id="sf", input=fail))

    assert told.texts() == ["Stage 1: The process began with Seed."]


def test_attempts_that_failed_are_told_between_what_they_did() -> None:
    calls: list[int] = []

    def flaky(s: State) -> None:
        calls.append(1)
        s["n"] = len(calls)
        if len(calls) == 1:
            raise ValueError("net down")

    told = narrative(Stage(flaky, id="a", retry=RetryPolicy(attempts=2, delay=0)))

    assert told.texts()[1:] == [
        "Step 1: Write n = 1",
        "[Retry]: attempt 1 of 2 at A failed (net down).",
        "Step 3: Write n = 2",
    ]


def test_after_a_pause_the_same_executor_goes_on_telling_and_a_fresh_one_begins_there() -> None:
    def ask(s: State) -> Any:
        return {"q": 1}

    def answered(s: State, answer: Any) -> None:
        s["ok"] = answer

    flow = Chart.of("Told", Stage(read(), id="a"), Pausable(ask, answered, id="p"), Stage(read(), id="b")).build()

    async def run(*, fresh: bool) -> Narrative:
        executor = flow.executor()
        first = await executor.run()
        assert first.checkpoint is not None
        going = flow.executor() if fresh else executor
        return (await going.resume(first.checkpoint.to_wire() if fresh else first.checkpoint, True)).narrative

    same, other = asyncio.run(run(fresh=False)), asyncio.run(run(fresh=True))

    assert same.texts() == [
        "Stage 1: The process began with A.",
        "Execution paused at P.",
        "Execution resumed at P with input.",
        "Stage 2: Next, it moved on to P.",
        "Step 1: Write ok = true",
        "Stage 3: Next, it moved on to B.",
    ]
    assert other.texts() == [
        "Execution resumed at P with input.",
        "Stage 1: The process began with P.",
        "Step 1: Write ok = true",
        "Stage 2: Next, it moved on to B.",
    ]
    assert other[0].runtime_stage_id == "p#2"


def test_nothing_is_told_of_an_executor_that_keeps_no_narrative_or_has_not_run() -> None:
    flow = Chart.of("Told", Stage(read(), id="a")).build()
    silent = flow.executor(narrative=False)

    result = silent.run_sync()

    assert len(flow.executor().narrative_entries()) == 0
    assert list(silent.narrative_entries()) == list(result.narrative) == []


def test_a_native_run_is_told_too_reads_before_writes() -> None:
    def seed(h: Handle) -> None:
        h["a"] = 1

    def work(h: Handle) -> None:
        h["b"] = h["a"] + 1
        h.emit("app.done", h["a"])
        del h["a"]

    run = FlowRun(Chart.of("Told", Stage(seed, id="seed", raw=True), Stage(work, id="work", raw=True)).build())
    asyncio.run(run.start())

    told = project_narrative(run.journal)

    assert told.texts() == [
        "Stage 1: The process began with Seed.",
        "Step 1: Write a = 1",
        "Stage 2: Next, it moved on to Work.",
        "Step 1: Read a = 1",
        "Step 2: Write b = 2",
        "Step 3: Delete a",
        "[emit] app.done: 1",
    ]


def test_a_narrative_may_be_asked_for_while_the_run_is_on_its_way() -> None:
    seen: list[str] = []

    def look(s: State) -> None:
        seen.extend(executor.narrative_entries().texts())

    executor = Chart.of("Told", Stage(set_to(a=1), id="a"), Stage(look, id="b")).build().executor()
    executor.run_sync()

    assert seen == ["Stage 1: The process began with A.", "Step 1: Write a = 1"]


def test_branches_are_told_when_they_are_done() -> None:
    told = narrative(
        Stage(set_to(n=1), id="a"),
        Fork([Stage(read("n"), id="x"), Stage(read("n"), id="y")]),
        Stage(read(), id="b"),
    )

    assert told.texts()[2:] == [
        "[Parallel]: Forking into 2 parallel paths: X, Y.",
        "Stage 2: Next, it moved on to X.",
        "Step 1: Read n = 1",
        "Stage 3: Next, it moved on to Y.",
        "Step 1: Read n = 1",
        "Stage 4: Next, it moved on to B.",
    ]


def test_what_a_validation_found_is_told_with_the_error() -> None:
    @dataclass
    class Found:
        path: tuple[str | int, ...]
        message: str

    class InvalidError(ValueError):
        issues = (Found(("items", 0, "price"), "missing"), Found((), "too short"))

    def check(s: State) -> None:
        raise InvalidError("order refused")

    recorder = NarrativeRecorder()

    told = narrative(Stage(read(), id="a"), Stage(check, id="check"), recorders=[recorder])

    assert told.texts()[1:] == [
        (
            "[Error]: An error occurred at Check: InvalidError: order refused."
            " Validation issues: items.0.price: missing; : too short."
        )
    ]
    assert recorder.narrative().texts() == told.texts()
