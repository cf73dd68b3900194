"""Tests of agentfootprint.flow.tell.short: long loops told short."""

from __future__ import annotations

from functools import cache

import pytest

from agentfootprint.flow import Chart, LoopTo, LoopTold, Narrative, Stage, StageContext, State
from agentfootprint.flow.tell.short import told_short


@cache
def looped(times: int) -> Narrative:
    def count(s: State, ctx: StageContext) -> None:
        s["n"] = ctx.get("n", 0) + 1
        if s["n"] > times:
            ctx.break_("enough")

    return Chart.of("Told", Stage(count, id="work"), LoopTo("work")).build().run_sync().narrative


def passes(texts: tuple[str, ...]) -> list[str]:
    """The sentences of the ways back."""
    return [text for text in texts if text.startswith(("On pass", "... (", "Looped"))]


def test_sentences_tell_what_the_chart_did_and_not_what_its_stages_did() -> None:
    told = looped(1).sentences()

    assert told.texts == (
        "Stage 1: The process began with Work.",
        "On pass 1 through Work.",
        "Stage 2: Looped back to Work (pass 1).",
        "Execution stopped at Work.",
    )
    assert str(told).splitlines() == list(told.texts)
    assert (told.suppressed, told.loop_counts, told.loops) == (0, {"Work": 1}, ())


def numbered(*numbers: int) -> list[str]:
    return [f"On pass {number} through Work." for number in numbers]


@pytest.mark.parametrize(
    ("style", "times", "expected"),
    [
        ("windowed", 5, numbered(1, 2, 3, 4, 5)),
        ("windowed", 25, [*numbered(1, 2, 3), "... (20 iterations omitted)", *numbered(24, 25)]),
        ("adaptive", 25, numbered(1, 2, 3, 4, 5, 10, 20)),
        ("progressive", 25, numbered(1, 2, 4, 8, 16)),
        ("milestone", 25, numbered(1, 10, 20)),
        ("run-length", 25, ["Looped through Work 25 times (passes 1\u201325)."]),
        ("run-length", 1, numbered(1)),
        ("separate", 25, []),
        ("silent", 25, ["Looped 25 times through Work."]),
        ("silent", 0, []),
    ],
)
def test_each_style_tells_the_passes_it_promises(style: str, times: int, expected: list[str]) -> None:
    told = looped(times).sentences(style)  # type: ignore[arg-type]  one of the styles

    shown = passes(tuple(text for text in told.texts if not text.startswith("Stage")))
    assert shown == expected
    own = sum(1 for text in expected if text.startswith("On pass"))
    assert told.suppressed == times - own - len(told.loops)
    assert told.loop_counts == ({"Work": times} if times else {})


def test_separate_keeps_the_ways_back_aside() -> None:
    told = looped(3).sentences("separate")

    assert list(told.loops) == numbered(1, 2, 3)
    assert told.suppressed == 0


def test_a_way_back_to_another_stage_begins_a_new_row() -> None:
    ways = [("A", 1), ("A", 2), ("B", 1), ("A", 3), ("A", 4), ("A", 5)]
    told = [
        (f"to {target} {number}", LoopTold(target=target, description=None, iteration=number))
        for target, number in ways
    ]

    short = told_short(told, "run-length")

    assert short.texts == (
        "Looped through A 2 times (passes 1\u20132).",
        "to B 1",
        "Looped through A 3 times (passes 3\u20135).",
    )
    assert (short.suppressed, short.loop_counts) == (5, {"A": 5, "B": 1})
