"""Tests of agentfootprint.trace.crossing.asking."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.flow import (
    Chart,
    Decider,
    FlowResult,
    ForEach,
    Fork,
    Part,
    Pausable,
    Selector,
    Stage,
    Subflow,
)
from agentfootprint.trace import (
    ABSENT,
    CausalNode,
    ChainOptions,
    RunQuestions,
    VariableSlice,
    flatten_causal_chain,
    slice_for_key,
    slice_to_json,
)
from tests.flow.lambdas import one, two


def writes(id: str, key: str, *reads: str, value: Any = None) -> Stage:
    """A stage that reads some keys and writes one."""

    def work(s: Any) -> None:
        found = [s[read] for read in reads]
        s[key] = value if value is not None else (found[0] if found else 0)

    return Stage(work, id=id)


def ran(*parts: Part, args: Mapping[str, Any] | None = None, **options: Any) -> FlowResult:
    return asyncio.run(Chart.of("Test", *parts).build().executor(**options).run(args))


def stored(result: FlowResult) -> dict[str, Any]:
    """The snapshot of a run as a file holds it."""
    return json.loads(json.dumps(result.snapshot().to_wire()))


def steps(found: VariableSlice) -> list[str]:
    return [node.runtime_stage_id for node in nodes(found)]


def nodes(found: VariableSlice) -> list[CausalNode]:
    assert found.root is not None
    return flatten_causal_chain(found.root)


def crossings(found: VariableSlice) -> list[tuple[str, str, str | None, str | None, tuple[str, ...]]]:
    """Edges of kind `map`: from, to, key, source, mounts."""
    return [
        (node.runtime_stage_id, edge.parent.runtime_stage_id, edge.key, edge.source, edge.through)
        for node in nodes(found)
        for edge in node.parent_edges
        if edge.kind == "map"
    ]


def scoring(**maps: Any) -> tuple[Part, ...]:
    """A loan decision whose score is worked out in a mounted chart."""
    inner = Chart.of("Score", writes("halve", "half", "raw"), writes("score", "points", "half"))
    return (
        writes("pull", "income", value=3),
        writes("other", "noise", value=9),
        Subflow(inner, id="sf", **maps),
        writes("verdict", "status", "points"),
    )


DECLARED = {"input": {"raw": "income"}, "output": {"points": "points"}}
FUNCTIONS = {
    "input": one(lambda parent: {"raw": parent["income"]}),
    "output": two(lambda state, parent: {"points": state["points"]}),
}


@pytest.mark.parametrize("maps", [DECLARED, FUNCTIONS], ids=["declared maps", "functions"])
def test_one_slice_goes_through_a_mount_to_the_root_cause_and_back(maps: dict[str, Any]) -> None:
    result = ran(*scoring(**maps))

    found = result.why("status")

    assert steps(found) == ["verdict#5", "sf#2", "sf/score#4", "sf/halve#3", "pull#0"]
    assert crossings(found) == [
        ("sf#2", "sf/score#4", "points", "points", ("sf#2",)),
        ("sf/halve#3", "pull#0", "raw", "income", ("sf#2",)),
    ]
    assert found.notes == ()


@pytest.mark.parametrize("maps", [DECLARED, FUNCTIONS], ids=["declared maps", "functions"])
def test_a_stored_snapshot_gives_the_same_steps(maps: dict[str, Any]) -> None:
    flow = Chart.of("Test", *scoring(**maps)).build()
    result = asyncio.run(flow.run())

    found = RunQuestions.of_snapshot(stored(result), flow.to_spec()).why("status")

    assert steps(found) == steps(result.why("status"))
    assert crossings(found) == crossings(result.why("status"))


def test_a_boundary_that_nothing_describes_is_told_and_not_passed_over() -> None:
    snapshot = stored(ran(*scoring(**DECLARED)))
    for log in (snapshot["commitLog"], snapshot["subflowResults"]["sf"]["treeContext"]["history"]):
        for bundle in log:
            bundle["overwrite"] = dict.fromkeys(bundle["overwrite"], "REDACTED")

    found = RunQuestions.of_snapshot(snapshot).why("status")

    assert steps(found) == ["verdict#5", "sf#2"]
    assert [note.code for note in found.notes] == ["boundary-not-recorded"]
    assert "sf#2" in str(found)
    assert slice_to_json(found)["notes"][0]["code"] == "boundary-not-recorded"


def test_without_a_structure_a_source_is_found_by_its_value_and_said_to_be() -> None:
    inner = Chart.of("Inner", writes("copy", "made", "letter"))
    result = ran(
        writes("pull", "letter", value="Dear Sir or Madam"),
        Subflow(inner, id="sf", input=("letter",), output=("made",)),
        writes("end", "out", "made"),
    )

    found = RunQuestions.of_snapshot(stored(result)).why("out")

    assert steps(found) == ["end#3", "sf#1", "sf/copy#2", "pull#0"]
    assert {note.code for note in found.notes} == {"boundary-inferred"}


def test_a_slice_goes_down_to_the_innermost_chart_of_nested_mounts() -> None:
    tool = Chart.of("Tool", writes("call", "answer", "question"))
    agent = Chart.of("Agent", Subflow(tool, id="tool", input={"question": "task"}, output={"found": "answer"}))
    result = ran(
        writes("ask", "job", value=1),
        Subflow(agent, id="agent", input={"task": "job"}, output={"result": "found"}),
        writes("end", "status", "result"),
    )

    found = result.why("status")

    assert steps(found) == ["end#4", "agent#1", "agent/tool#2", "agent/tool/call#3", "ask#0"]
    assert crossings(found)[-1] == ("agent/tool/call#3", "ask#0", "question", "job", ("agent/tool#2", "agent#1"))


def forked(*children: Any) -> tuple[Part, ...]:
    return writes("start", "x", value=2), Fork(children), writes("join", "out", "runs")


def test_a_stage_after_a_fork_depends_on_what_every_branch_wrote_below_runs() -> None:
    result = ran(*forked(writes("left", "a", "x"), writes("right", "a", value=5)))

    found = result.why("out")

    assert set(steps(found)) == {"join#3", "left#1", "right#2", "start#0"}
    assert {edge[3] for edge in crossings(found)} == {"runs.left.a", "runs.right.a"}


def test_a_key_is_looked_up_in_the_namespace_of_its_branch_first() -> None:
    inner = Chart.of("Inner", writes("show", "shown", "given"))
    result = ran(
        writes("start", "a", value="outside"),
        Fork([Subflow(inner, id="sf", input={"given": "a"}, output={"result": "shown"}), writes("b", "c", "a")]),
    )

    found = result.why("result")

    assert steps(found) == ["start#0", "sf/show#2"]  # the step that forked is also the one that wrote `a`
    assert ("sf/show#2", "start#0", "given", "a", ("sf#1",)) in crossings(found)


def test_a_key_that_only_a_branch_wrote_is_found_there() -> None:
    result = ran(*forked(writes("left", "a", "x"), writes("right", "b", value=5)))

    found = result.why("a")

    assert steps(found) == ["left#1", "start#0"]


def test_what_a_branch_gave_back_is_followed_into_it_from_the_step_that_dispatched_it() -> None:
    def inner(id: str) -> Chart:
        return Chart.of(id, writes("work", "r", "given"))

    flow = Chart.of(
        "Test",
        writes("start", "x", value=2),
        Selector(
            one(lambda s: ["sf-a", "sf-b"]),
            id="pick",
            branches=[
                Subflow(inner("a"), id="sf-a", input={"given": "x"}, output={"first": "r"}),
                Subflow(inner("b"), id="sf-b", input={"given": "x"}, output={"second": "r"}),
            ],
        ),
        writes("end", "out", "second"),
    ).build()
    result = asyncio.run(flow.run())

    found = result.why("out")

    assert "sf-b/work#5" in steps(found)
    assert "sf-a/work#3" not in steps(found)
    assert steps(found)[-1] == "start#0"
    assert steps(RunQuestions.of_snapshot(stored(result), flow.to_spec()).why("out")) == steps(found)


def test_a_read_of_a_key_depends_on_later_writes_of_places_in_it() -> None:
    def patch(s: Any) -> None:
        s["order"]["total"] = s["price"]

    result = ran(
        writes("open", "order", value={"id": 7}),
        writes("price", "price", value=3),
        Stage(patch, id="patch"),
        writes("bill", "bill", "order"),
        commit_values="delta",
    )

    found = result.why("bill")

    assert set(steps(found)) == {"bill#3", "patch#2", "open#0", "price#1"}


def test_a_place_that_was_written_with_the_whole_is_explained_by_the_whole() -> None:
    result = ran(writes("open", "order", value={"id": 7, "total": 3}))

    found = result.why(["order", "total"])

    assert steps(found) == ["open#0"]


def test_a_slice_goes_through_the_passes_of_a_loop_and_their_mounts() -> None:
    inner = Chart.of("Add", Stage(one(lambda s: s.__setitem__("sum", s["n"] + 1)), id="add"))
    result = ran(
        writes("start", "n", value=0),
        Subflow(inner, id="sf", input=("n",), output={"n": "sum"}),
        Decider(
            one(lambda s: "again" if s["n"] < 3 else "stop"),
            id="decide",
            branches=[Stage(one(lambda s: None), id="again", loop_to="sf"), writes("stop", "out", "n")],
        ),
    )

    found = result.why("out")

    assert [step for step in steps(found) if "/add" in step] == ["sf/add#10", "sf/add#6", "sf/add#2"]
    assert steps(found)[-1] == "start#0"
    assert any(edge.kind == "control" for node in nodes(found) for edge in node.parent_edges)


def test_a_stage_that_used_the_input_of_its_mount_depends_on_what_was_mapped_in() -> None:
    def use(s: Any, ctx: Any) -> None:
        s["made"] = ctx.args["given"]

    inner = Chart.of("Inner", Stage(use, id="use"))
    result = ran(writes("start", "x"), Subflow(inner, id="sf", input={"given": "x"}, output=("made",)))

    found = result.why("made")

    assert steps(found) == ["sf#1", "sf/use#2", "start#0"]


def test_a_list_that_a_mount_added_to_depends_on_what_was_there() -> None:
    inner = Chart.of("Inner", writes("more", "r", value=[2]))
    result = ran(writes("start", "all", value=[1]), Subflow(inner, id="sf", output={"all": "r"}))

    found = result.why("all")

    assert set(steps(found)) == {"sf#1", "sf/more#2", "start#0"}


def test_what_a_mount_returned_comes_from_its_last_stage() -> None:
    def last(s: Any) -> int:
        return s["half"] * 2

    inner = Chart.of("Inner", writes("half", "half", "n"), Stage(last, id="last"))
    result = ran(
        writes("start", "n", value=3),
        Subflow(inner, id="sf", input=("n",), output=two(lambda value, parent: {"twice": value + parent["n"]})),
    )

    found = result.why("twice")

    assert steps(found) == ["sf#1", "sf/last#3", "start#0", "sf/half#2"]


def test_the_results_of_a_for_each_come_from_the_branches_of_its_items() -> None:
    result = ran(
        writes("start", "items", value=[1, 2]),
        ForEach(
            lambda item, index: Chart.of("One", writes("one", "made", "item")),
            one(lambda s: s["items"]),
            id="each",
            max_branches=5,
            into="results",
        ),
        writes("end", "out", "results"),
    )

    found = result.why("out")

    assert {"each~0/one#3", "each~1/one#5", "start#0"} <= set(steps(found))
    assert set(steps(found)) == set(steps(RunQuestions.of_snapshot(stored(result)).why("out")))


def test_a_resume_inside_a_mount_goes_on_with_what_was_written_before_the_pause() -> None:
    inner = Chart.of(
        "Inner",
        writes("first", "draft", "topic"),
        Pausable(
            one(lambda s: "ok?"), resume=two(lambda s, answer: s.__setitem__("final", (s["draft"], answer))), id="ask"
        ),
    )
    flow = Chart.of(
        "Test", writes("start", "topic", value=1), Subflow(inner, id="sf", input=("topic",), output=("final",))
    ).build()
    executor = flow.executor()
    paused = asyncio.run(executor.run())
    assert paused.checkpoint is not None

    result = asyncio.run(executor.resume(paused.checkpoint, "yes"))
    elsewhere = asyncio.run(flow.executor().resume(paused.checkpoint.to_wire(), "yes"))

    assert [step.rpartition("#")[0] for step in steps(result.why("final"))][-2:] == ["sf/first", "start"]
    told = elsewhere.why("final")
    assert [note.code for note in told.notes] == ["boundary-not-recorded"]


def test_a_slice_with_tracking_off_says_that_nothing_was_recorded() -> None:
    found = ran(*scoring(**DECLARED), read_tracking="off").why("status")

    assert found.reads_coverage is not None
    assert steps(found)[0] == "verdict#5"


def test_limits_cut_a_slice_that_crosses_boundaries_and_say_so() -> None:
    result = ran(*scoring(**DECLARED))

    found = RunQuestions.of_journal(result.journal).why("status", options=ChainOptions(anchor="writer", max_depth=2))

    assert found.root is not None
    assert found.root.truncated is not None
    assert found.root.truncated.by_depth
    assert "maxDepth reached" in str(found)


def test_without_boundaries_it_is_the_slice_of_the_log() -> None:
    result = ran(writes("a", "x"), writes("b", "y", "x"), writes("c", "z", "x", "y"))
    snapshot = stored(result)
    reads = {"b#1": ["x"], "c#2": ["x", "y"]}

    found = slice_to_json(result.why("z"))

    wire = slice_to_json(slice_for_key(snapshot["commitLog"], "z", lambda step: reads.get(step, [])))
    assert (found["nodes"], found["edges"]) == (wire["nodes"], wire["edges"])


def test_a_map_edge_is_told_in_json_and_in_text() -> None:
    found = ran(*scoring(**DECLARED)).why("status")

    edge = next(edge for edge in slice_to_json(found)["edges"] if edge["kind"] == "map" and edge["key"] == "raw")

    assert edge == {
        "from": "sf/halve#3",
        "to": "pull#0",
        "kind": "map",
        "key": "raw",
        "weight": 1,
        "source": "income",
        "through": ["sf#2"],
    }
    assert "Pull (pull#0) ← via raw ← [map: sf#2 income] [wrote: income]" in str(found)


def test_every_question_can_be_asked_inside_a_mount() -> None:
    result = ran(*scoring(**DECLARED))

    assert steps(result.why("points", within="sf"))[0] == "sf/score#4"
    assert [moment.runtime_stage_id for moment in result.timeline("half", within="sf#2").moments] == [
        "sf/halve#3",
        "sf/score#4",
    ]
    assert result.forward("half", within="sf").root is not None
    assert result.value_at("half", 1, within="sf") == 3


def test_a_forward_slice_names_the_mounts_that_a_value_went_into() -> None:
    result = ran(*scoring(**DECLARED))

    forward, timeline = result.forward("income"), result.timeline("income")

    for notes in (forward.notes, timeline.notes):
        assert [note.code for note in notes] == ["boundary-not-followed"]
        assert "'raw' of sf#2" in notes[0].detail
    assert result.forward("noise").notes == ()


def test_a_value_is_found_by_the_step_after_which_it_held() -> None:
    result = ran(*scoring(**DECLARED))

    assert result.value_at("half", "sf/halve#3") == 3
    assert result.value_at("points", "sf/halve#3") is ABSENT
    assert result.value_at("status", len(result.snapshot().commit_log) - 1) == 3


@pytest.mark.parametrize("ask", ["why", "timeline"])
def test_a_mount_that_is_not_on_record_is_refused_with_those_that_are(ask: str) -> None:
    result = ran(*scoring(**DECLARED))

    with pytest.raises(ConfigError, match="sf#2"):
        getattr(result, ask)("points", within="nowhere")


def test_a_step_that_is_not_on_record_is_refused() -> None:
    with pytest.raises(ConfigError, match="nope#9"):
        ran(writes("a", "x")).value_at("x", "nope#9")


def test_a_key_that_nobody_wrote_and_a_run_that_did_nothing_are_answers() -> None:
    result = ran(writes("a", "x"), initial_state={"before": 1})

    assert result.why("before").missing == "never-written"
    assert RunQuestions.of_snapshot({}).why("x").missing == "empty-log"


def test_a_looped_chart_keeps_one_index_for_all_questions() -> None:
    result = ran(
        writes("start", "n", value=0),
        Stage(one(lambda s: s.__setitem__("n", s["n"] + 1)), id="add"),
        Decider(
            one(lambda s: "again" if s["n"] < 4 else "stop"),
            id="decide",
            branches=[Stage(one(lambda s: None), id="again", loop_to="add"), Stage(one(lambda s: None), id="stop")],
        ),
    )

    births = result.array_provenance("n")

    assert births.missing == "not-an-array"
    assert result.forward("n").root is not None
    assert len(result.timeline("n").moments) > 4


def test_a_boundary_that_is_crossed_for_several_keys_is_told_once() -> None:
    def branch(item: Any, index: int) -> Chart:
        return Chart.of("Each", Stage(one(lambda s: s["item"] + s["index"]), id="add"))

    result = ran(
        writes("start", "all", value=[1]),
        ForEach(branch, one(lambda s: s["all"]), id="each", max_branches=1, into="sums"),
    )

    told = str(result.why("sums"))

    assert told.count("[map: each~0#2 all]") == 1
