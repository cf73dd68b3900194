"""Tests of agentfootprint.flow.again.fingerprint."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.flow import Chart, Decider, Fork, LoopTo, Selector, Subflow
from agentfootprint.flow.again.fingerprint import (
    chart_changed,
    encoded_stage,
    fingerprint_from_wire,
    fingerprint_of,
)
from agentfootprint.trace import StageInfo
from tests.flow.charts import always, raw

TEXTS = st.text(max_size=6)


def of(*parts: Any, name: str = "Chart") -> Any:
    return fingerprint_of(Chart.of(name, *parts).build().stages)


@st.composite
def stages(draw: st.DrawFn) -> tuple[StageInfo, list[str]]:
    """A stage of any kind, and the ids of all stages, whatever characters are in them."""
    ids = draw(st.lists(TEXTS, min_size=1, max_size=5))
    numbers = st.integers(-1, len(ids) - 1)
    info = StageInfo(
        number=0,
        id=ids[0],
        local_id="",
        name="",
        kind=draw(st.sampled_from(["stage", "pausable", "mount", "decider"])),
        branch_id=draw(TEXTS),
        namespace=draw(TEXTS),
        mount=draw(numbers),
        branch_of=draw(numbers),
        next=draw(numbers),
        loop_to=draw(numbers),
        entry=draw(numbers),
        children=tuple(draw(st.lists(st.integers(0, len(ids) - 1), max_size=3))),
    )
    return info, ids


@given(stages())
def test_what_counts_of_a_stage_can_be_read_back_so_no_two_stages_are_taken_for_one(
    stage: tuple[StageInfo, list[str]],
) -> None:
    info, ids = stage

    def at(number: int) -> str | None:
        return None if number < 0 else ids[number]

    read = json.loads(encoded_stage(info, ids))

    assert read == [
        *(info.id, info.kind, info.branch_id, info.namespace, at(info.mount), at(info.branch_of)),
        *(at(info.next), at(info.loop_to), at(info.entry), [at(number) for number in info.children]),
    ]


def test_names_descriptions_and_functions_do_not_count() -> None:
    plain = of(raw("a"), raw("b"))

    other = of(raw("a", always(1), name="Other", description="Does more"), raw("b"), name="Other chart")

    assert plain == other


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ([raw("a"), raw("c")], ["a", "b", "c"]),
        ([raw("b"), raw("a")], ["a", "b"]),
        ([raw("a"), raw("b"), LoopTo("a")], ["b"]),
        ([raw("a", stream="x"), raw("b")], ["a"]),
        ([raw("a"), raw("b"), Fork([raw("c")])], ["b", "c"]),
        ([raw("a"), Subflow(Chart.of("In", raw("i")), id="b")], ["b", "b/i"]),
        ([raw("a"), Decider(always("c"), [raw("c")], id="b", raw=True)], ["b", "c"]),
        ([raw("a"), Selector(always("c"), [raw("c")], id="b", raw=True)], ["b", "c"]),
    ],
)
def test_the_stages_that_differ_are_named(parts: list[Any], names: list[str]) -> None:
    refusal = chart_changed(of(raw("a"), raw("b")), of(*parts), "Chart")

    assert refusal is not None
    assert sorted({*refusal.added, *refusal.removed, *refusal.changed}) == names


def test_a_refusal_names_some_of_many() -> None:
    refusal = chart_changed(of(raw("a")), of(raw("a"), *(raw(f"n{n:02}") for n in range(20))), "Chart")

    assert refusal is not None
    assert "'n07' and 12 more" in str(refusal)
    assert len(refusal.added) == 20


def test_it_is_the_same_in_another_process() -> None:
    program = (
        "from tests.flow.charts import raw\n"
        "from agentfootprint.flow import Chart\n"
        "from agentfootprint.flow.again.fingerprint import fingerprint_of\n"
        "print(fingerprint_of(Chart.of('C', raw('a'), raw('b')).build().stages).digest)\n"
    )

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == of(raw("a"), raw("b")).digest


def test_it_goes_over_the_wire_and_back() -> None:
    own = of(raw("a"), raw("b"))

    assert fingerprint_from_wire(json.loads(json.dumps({"print": own.to_wire()})), "print") == own
    assert fingerprint_from_wire({}, "print") is None
