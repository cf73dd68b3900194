"""Tests of agentfootprint.flow.out.text."""

from __future__ import annotations

from typing import Any

from agentfootprint.flow import Chart, Decider, ForEach, LoopTo, Selector, Stage, Subflow
from tests.flow.charts import always, nothing, raw
from tests.flow.out.charts import EVERYTHING


def no_items(s: Any) -> list[Any]:
    return []


EXPECTED = """\
FlowChart: S
Steps:
1. S — begin
2. Runs in parallel: P1
3. [Sub-Execution: Sf P] — FlowChart: Work
   1. Work
   2. More
4. J
   → branch 'b' loops back to j
5. D — Decides between: a, b, c
6. Pick — Selects from: e, f
   → f: eff
7. Ask
8. Talk
9. [Sub-Execution: The sub] — FlowChart: Work
   1. Work
   2. More
10. Z
→ loops back to j"""


def test_every_kind_of_step_has_its_words() -> None:
    assert EVERYTHING.description == EXPECTED


def test_a_loop_to_a_stage_whose_name_is_its_id_tells_the_number_of_the_step() -> None:
    flow = Chart.of("L", raw("a"), Stage(nothing, id="b", name="b", raw=True), raw("c"), LoopTo("b")).build()

    assert flow.description.splitlines()[-1] == "→ loops back to step 2"


def test_what_was_said_of_a_choice_stands_before_its_branches() -> None:
    flow = Chart.of(
        "C",
        Decider(always("a"), [raw("a"), raw("b", description="bee")], id="d", raw=True, description="which"),
        Selector(always([]), [raw("e")], id="p", raw=True, description="any"),
    ).build()

    assert flow.description.splitlines()[2:] == ["1. D — which (branches: a, b)", "   → b: bee", "2. P — any"]


def test_what_is_not_there_yet_is_only_named() -> None:
    inner = Chart.of("Inner", raw("i"))
    flow = Chart.of(
        "Later",
        raw("s"),
        Subflow(lambda: inner, id="lazy", lazy=True),
        ForEach(lambda item, index: inner, no_items, id="each", max_branches=2, into="all"),
    ).build()

    assert flow.description.splitlines()[2:] == [
        "1. S",
        "2. [Lazy Sub-Execution: Lazy]",
        "3. Each — Runs one branch per item into 'all'",
    ]
    assert flow.to_spec()["next"]["isLazy"] is True
    assert flow.to_spec()["next"]["next"]["isDynamicParallel"] is True


def test_a_chain_of_5000_stages_is_described() -> None:
    flow = Chart.of("Long", *(raw(f"s{number}") for number in range(5000))).build()

    assert flow.description.splitlines()[-1] == "5000. S4999"
