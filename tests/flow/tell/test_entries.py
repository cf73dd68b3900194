"""Tests of agentfootprint.flow.tell.entries: asking a narrative for a part of it."""

from __future__ import annotations

from agentfootprint.flow import Chart, Narrative, Stage, StageContext, State, Subflow


def work(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1


def narrative() -> Narrative:
    inner = Chart.of("In", Stage(work, id="i"))
    flow = Chart.of(
        "Told", Stage(work, id="a"), Subflow(inner, id="sf", input=("n",), inputs="mutable"), Stage(work, id="b")
    )
    return flow.build().run_sync().narrative


def test_it_is_a_sequence_of_lines_and_prints_as_a_text() -> None:
    told = narrative()

    assert len(told) == len(told.entries()) == len(list(told)) == 12
    assert told[0].type == "stage"
    assert [entry.text for entry in told[:2]] == told.texts()[:2]
    assert str(told).splitlines()[1] == "  Step 1: Read n = undefined"
    assert repr(told) == "Narrative(12 lines)"


def test_lines_are_found_by_step_and_up_to_a_moment() -> None:
    told = narrative()

    assert told.entries_for_step("b#3")[0].text == "Stage 2: Next, it moved on to B."
    ranges = told.entry_ranges()
    assert (ranges["a#0"].first_idx, ranges["a#0"].end_idx) == (0, 3)
    assert told.entries_up_to({"a#0"}) == told[:3]
    assert told.entries_up_to(set(ranges)) == told.entries()


def test_lines_are_found_by_mount() -> None:
    by_mount = narrative().entries_by_subflow()

    assert list(by_mount) == ["", "sf"]
    assert {entry.runtime_stage_id for entry in by_mount["sf"]} == {"sf#1", "sf/i#2"}


def test_on_the_wire_a_line_has_what_applies_and_never_the_value() -> None:
    told = narrative()

    write = told[2]

    assert write.raw_value == 1
    assert write.to_wire() == {
        "type": "step",
        "text": "Step 2: Write n = 1",
        "depth": 1,
        "stageName": "A",
        "stageId": "a",
        "runtimeStageId": "a#0",
        "stepNumber": 2,
        "key": "n",
    }
    assert all("rawValue" not in line for line in told.to_wire())


def test_no_lines_are_a_narrative_too() -> None:
    assert list(Narrative()) == []
    assert str(Narrative()) == ""
