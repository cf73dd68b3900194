"""Tests of agentfootprint.flow.tell.words: lines that read differently, and those left out."""

from __future__ import annotations

from agentfootprint.flow import (
    BreakTold,
    Chart,
    EmitTold,
    ErrorTold,
    LoopTo,
    LoopTold,
    Narrative,
    NarrativeOptions,
    NarrativeRenderer,
    OpTold,
    RetryTold,
    SelectionTold,
    Stage,
    StageContext,
    StageTold,
    State,
)
from agentfootprint.trace import Value


def work(s: State, ctx: StageContext) -> None:
    s["text"] = "x" * 20
    _ = s["text"]
    ctx.emit("app.a", [1, 2])
    ctx.emit("app.b")
    del s["text"]


def narrative(options: NarrativeOptions) -> Narrative:
    executor = Chart.of("Told", Stage(work, id="work")).build().executor()
    executor.run_sync()
    return executor.narrative_entries(options)


def test_numbers_and_values_may_be_left_out() -> None:
    told = narrative(NarrativeOptions(include_step_numbers=False, include_values=False))

    assert told.texts() == [
        "Stage 1: The process began with Work.",
        "Write text",
        "Read text",
        "[emit] app.a: (2 items)",
        "[emit] app.b: null",
        "Delete text",
    ]


def test_a_docstring_that_ends_with_a_full_stop_ends_its_sentence_once() -> None:
    def first(_: State) -> None:
        """Take it in."""

    def second(_: State) -> None:
        """Look at it."""

    result = Chart.of("Told", Stage(first), Stage(second)).build().run_sync()

    assert result.narrative.texts() == [
        "Stage 1: The process began: Take it in.",
        "Stage 2: Next step: Look at it.",
    ]


def test_values_are_cut_to_the_longest_length() -> None:
    told = narrative(NarrativeOptions(max_value_length=10))

    assert told.texts()[1] == f'Step 1: Write text = "{"x" * 7}..."'


def test_values_are_formatted_as_asked() -> None:
    def formatted(value: Value, longest: int) -> str:
        return f"<{type(value).__name__}, {longest}>"

    told = narrative(NarrativeOptions(format_value=formatted))

    assert told.texts()[1] == "Step 1: Write text = <str, 80>"
    assert told.texts()[3] == "[emit] app.a: <FrozenList, 80>"


def test_a_renderer_of_ones_own_words_lines_and_leaves_some_out() -> None:
    class German(NarrativeRenderer):
        def render_stage(self, told: StageTold) -> str:
            return f"Schritt {told.number}: {told.name}"

        def render_op(self, told: OpTold) -> str | None:
            return None if told.verb == "read" else super().render_op(told)

        def render_emit(self, told: EmitTold) -> str | None:
            return None

    told = narrative(NarrativeOptions(renderer=German()))

    assert told.texts() == ["Schritt 1: Work", f'Step 1: Write text = "{"x" * 20}"', "Step 5: Delete text"]


def test_lines_that_few_charts_have() -> None:
    words = NarrativeRenderer()

    assert (
        words.render_break(BreakTold(stage_name="A", reason="enough", from_subflow=None)) == "Execution stopped at A."
    )
    assert words.render_loop(LoopTold(target="A", description=None, iteration=2)) == "On pass 2 through A."
    assert words.render_error(
        ErrorTold(stage_name="A", message="E: no", issues=[("a.b", "missing"), ("c", "odd")])
    ) == ("[Error]: An error occurred at A: E: no. Validation issues: a.b: missing; c: odd.")
    retry = RetryTold(stage_name="A", attempt=1, max_attempts=3, delay_ms=250.0, message="down")
    assert words.render_retry(retry) == (
        "[Retry]: attempt 1 of 3 at A failed (down). Waited 250ms before the next attempt."
    )
    rule = {
        "type": "function",
        "matched": True,
        "branch": "x",
        "label": "l",
        "inputs": [{"key": "k", "valueSummary": "1"}],
    }
    selection = SelectionTold(parent="P", selected=("X",), total=2, evidence={"rules": [rule]})
    assert words.render_selected(selection) == '[Selected]: 1 of 2 paths selected: x "l" (k=1).'


def test_a_loop_and_a_break_are_told() -> None:
    def count(s: State, ctx: StageContext) -> None:
        s["n"] = ctx.get("n", 0) + 1
        if s["n"] == 2:
            ctx.break_("enough")

    executor = Chart.of("Told", Stage(count, id="count", description="count up"), LoopTo("count")).build().executor()
    executor.run_sync()

    told = [entry.text for entry in executor.narrative_entries() if entry.depth == 0]

    assert told == [
        "Stage 1: The process began: count up.",
        "On pass 1: count up again.",
        "Stage 2: Looped back: count up (pass 1).",
        "Execution stopped at Count.",
    ]
