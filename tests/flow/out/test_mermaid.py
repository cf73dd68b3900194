"""Tests of agentfootprint.flow.out.mermaid."""

from __future__ import annotations

from agentfootprint.flow import Chart, Decider, Handle, LoopTo, Stage, Subflow
from tests.flow.charts import always, nothing, ran, raw
from tests.flow.out.charts import EVERYTHING


def test_each_stage_is_drawn_once_and_mounts_as_one_box() -> None:
    lines = EVERYTHING.to_mermaid().splitlines()

    boxes = [line for line in lines if "-->" not in line]
    assert boxes[:4] == ["flowchart TD", 's["S"]', 'p1["P1"]', 'sf_p["Sf P"]']
    assert len(boxes) == len(set(boxes)) == 16
    assert "b --> j" in lines
    assert lines[-1] == "z --> j"


def test_the_copy_that_a_default_makes_is_drawn() -> None:
    flow = Chart.of("D", Decider(always("a"), [raw("a")], id="d", raw=True, default_node="a")).build()

    assert flow.to_mermaid().splitlines()[-2:] == ["d --> default", 'default["A"]']


def test_quotes_in_a_name_are_escaped() -> None:
    flow = Chart.of("Q", Stage(nothing, id="s", name='Say "hi"', raw=True)).build()

    assert flow.to_mermaid() == 'flowchart TD\ns["Say #quot;hi#quot;"]'


def test_ids_that_would_be_one_in_the_drawing_stay_apart() -> None:
    flow = Chart.of("T", raw("a-b"), raw("a_b"), raw("end")).build()

    assert flow.to_mermaid().splitlines()[1::2] == ['a_b["A B"]', 'a_b_2["A B"]', 'end_["End"]']


def test_a_run_of_the_chart_highlights_its_way_and_counts_its_loops() -> None:
    def again(h: Handle) -> str:
        h["n"] = h.get("n", 0) + 1
        return "more" if h["n"] < 3 else "stop"

    parts = raw("s"), raw("w"), Decider(again, [raw("more", loop_to="w"), raw("stop"), raw("never")], id="d", raw=True)
    flow = Chart.of("Test", *parts).build()
    _, run = ran(*parts)

    lines = flow.to_mermaid(executed=run).splitlines()

    assert 'more -->|"2x"| w' in lines
    assert lines[-1] == "class s,w,d,more,stop executed"
    assert flow.to_mermaid(executed=run.journal).splitlines() == lines


def test_what_ran_inside_a_mount_is_not_drawn() -> None:
    parts = raw("s"), Subflow(Chart.of("Inner", raw("i")), id="in")
    flow = Chart.of("Test", *parts).build()
    _, run = ran(*parts)

    assert flow.to_mermaid(executed=run).splitlines()[-1] == "class s,in executed"


def test_a_chain_of_5000_stages_is_drawn() -> None:
    flow = Chart.of("Long", *(raw(f"s{number}") for number in range(5000)), LoopTo("s0")).build()

    assert flow.to_mermaid().splitlines()[-1] == "s4999 --> s0"
