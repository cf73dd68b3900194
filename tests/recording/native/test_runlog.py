"""Tests of agentfootprint.recording.native.runlog."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.events import (
    CONSUMER_STAGE,
    Event,
    IterationEnd,
    LLMEnd,
    MetaMarks,
    Token,
    TokenCounts,
    ToolStart,
    app_event,
    consumer_facts,
    event_from_wire,
    event_to_wire,
)
from agentfootprint.flow import Chart, Decider, FlowRun, Fork, Handle, Selector, Stage, Subflow
from agentfootprint.flow.parts import Part
from agentfootprint.recording import Recording, UnsupportedRecordingFormatError
from agentfootprint.recording.native.decode import journal_of as decoded
from agentfootprint.recording.native.runlog import dump_rows, dump_runlog, load_runlog
from agentfootprint.recording.questions.trail import JournalTrail, RowTrail
from agentfootprint.trace import (
    Execution,
    FrozenDict,
    Journal,
    LogIndex,
    StageInfo,
    freeze,
    project_commit_log,
    project_reads,
    project_snapshot,
)
from tests.flow.charts import always, raw
from tests.recording.runs import FACTS, agent_recording, chart_recording, journal_of
from tests.vectors.flow_charts import ran
from tests.vectors.harness import Case, load

FLOW = load("flow")
RUNS = ("run_linear", "run_branch", "run_loop", "run_subflow", "run_fork", "pause_resume")


def written(journal: Journal) -> bytes:
    return dump_runlog(dump_rows(journal, FACTS, {}, ended="done"))


def there_and_back(journal: Journal) -> Journal:
    """A journal written as a run log and read again; everything that can be asked of both is the same."""
    data = written(journal)
    log, flags = load_runlog(data, "run.json")
    again = decoded(log)

    assert flags == ()
    third = decoded(load_runlog(written(again), "run.json")[0])
    assert project_snapshot(third) == project_snapshot(journal)
    assert written(third) == written(again), "lists share more once they were read, and never less after that"
    assert project_snapshot(again) == project_snapshot(journal)
    assert project_reads(again) == project_reads(journal)
    assert [type(row) for row in again.rows if not isinstance(row, Execution)] == [
        type(row) for row in journal.rows if not isinstance(row, Execution)
    ]
    bundles = [bundle.to_wire() for bundle in project_commit_log(journal, values="delta")]
    plain = LogIndex(bundles)
    for trail in (RowTrail(log), JournalTrail(journal), JournalTrail(again)):
        assert [bundle.to_wire() for bundle in trail.log] == bundles
        assert {path: list(trail.log.writes(path)) for path in trail.log.paths} == {
            path: list(plain.writes(path)) for path in plain.paths
        }
    return again


@pytest.mark.parametrize("case", FLOW.cases(*RUNS))
def test_every_chart_of_the_vectors_comes_back_as_it_was(case: Case) -> None:
    run = ran(case.input)

    for leg in (run, *run.resumes):
        there_and_back(leg.snapshot._journal)  # pyright: ignore[reportPrivateUsage]  as it was at that moment


KEYS = st.sampled_from(["a", "b", "c", "history"])
TEXTS = st.one_of(st.text(max_size=6), st.text(alphabet="xyzé€😀", min_size=48, max_size=60))
NAMES = st.sampled_from(["$at", "$cat", "$fn", "$lit", "of", "name", "é"])
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)
OPS = st.one_of(
    st.tuples(st.just("set"), KEYS, VALUES),
    st.tuples(st.just("append"), KEYS, st.lists(VALUES, min_size=1, max_size=3)),
    st.tuples(st.just("cut"), KEYS, st.integers(0, 3)),
    st.tuples(st.just("copy"), KEYS, KEYS),
    st.tuples(st.just("delete"), KEYS, st.none()),
    st.tuples(st.just("emit"), KEYS, VALUES),
    st.tuples(st.just("break"), KEYS, st.none()),
    st.tuples(st.just("raise"), KEYS, st.none()),
)


def apply(h: Handle, verb: str, key: str, value: Any) -> None:
    held = h.get(key)
    if verb == "set":
        h[key] = value
    elif verb == "append" and (held is None or hasattr(held, "extend")):
        h.append(key, value)
    elif verb == "cut" and hasattr(held, "tail"):
        h[key] = held.tail(value).extend(("new", {"kept": True}) if not len(held) else (held[0],))
    elif verb == "copy" and value in h:
        h[key] = h[value]
    elif verb == "delete":
        del h[key]
    elif verb == "emit":
        h.emit(f"app.{key}", value)
    elif verb == "break":
        h.break_(key)
    elif verb == "raise":
        raise RuntimeError(key)


def stage(id: str, ops: Sequence[tuple[str, str, Any]], **more: Any) -> Stage:
    def body(h: Handle) -> None:
        for op in ops:
            apply(h, *op)

    return Stage(body, id=id, raw=True, **more)


RARELY = st.lists(OPS, max_size=4).map(lambda ops: [op for op in ops if op[0] not in ("break", "raise")])


def by_function(state: Mapping[str, Any]) -> dict[str, Any]:
    return {"a": state.get("history", 0), "b": {"x": 1, "y": [2]}}


MAPS: st.SearchStrategy[Any] = st.sampled_from([("a", "history"), {"b": "a", "history": "history"}, by_function])


@st.composite
def mounts(draw: st.DrawFn, id: str) -> Subflow:
    inside = [stage(f"in{n}", draw(RARELY)) for n in range(draw(st.integers(1, 2)))]
    return Subflow(
        Chart.of(id, *inside),
        id=id,
        input=draw(MAPS),
        inputs="mutable",
        output=draw(st.sampled_from([("a",), {"c": "a", "b": "history"}, None])),
        array_merge=draw(st.sampled_from(["concat", "replace", "replace-all"])),
    )


@st.composite
def charts(draw: st.DrawFn) -> list[Part]:
    parts: list[Part] = [stage("first", draw(RARELY))]
    for n in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["stage", "mount", "selector", "fork", "decider"]))
        if kind == "stage":
            parts.append(stage(f"s{n}", draw(RARELY)))
        elif kind == "mount":
            parts.append(draw(mounts(f"m{n}")))
        elif kind == "selector":
            chosen = draw(st.lists(st.sampled_from([f"l{n}", f"r{n}"]), unique=True))
            branches = [draw(mounts(f"l{n}")), stage(f"r{n}", draw(RARELY))]
            parts.append(Selector(always(chosen), branches, id=f"sel{n}", raw=True))
        elif kind == "fork":
            parts.append(stage(f"before{n}", []))
            parts.append(Fork([stage(f"x{n}", draw(RARELY)), draw(mounts(f"y{n}"))]))
        else:
            branches = [stage(f"u{n}", draw(RARELY)), draw(mounts(f"v{n}"))]
            parts.append(Decider(always(draw(st.sampled_from([f"u{n}", f"v{n}"]))), branches, id=f"d{n}", raw=True))
    parts.append(looping(draw(RARELY), draw(st.integers(0, 6))))
    parts.append(stage("last", draw(st.lists(OPS, max_size=3))))
    return parts


def looping(ops: Sequence[tuple[str, str, Any]], times: int) -> Decider:
    """Goes back to the first stage so often."""

    def choose(h: Handle) -> str:
        h["n"] = h.get("n", 0) + 1
        return "again" if h["n"] <= times else "on"

    return Decider(choose, [stage("again", ops, loop_to="first"), stage("on", [])], id="turn", raw=True)


@given(parts=charts())
@settings(max_examples=60)
def test_a_chart_comes_back_as_it_was(parts: list[Part]) -> None:
    recording = chart_recording(*parts)

    there_and_back(journal_of(recording))


def test_a_list_that_is_cut_in_every_step_is_read_without_recursion() -> None:
    def slide(h: Handle) -> None:
        window = h.get("window") or freeze([{"n": n} for n in range(20)])
        h["n"] = h.get("n", 0) + 1
        h["window"] = window.tail(1).append(freeze({"n": h["n"] + 100}))

    chart = Chart.of("T", Stage(slide, id="slide", raw=True), looping_to("slide", 600)).build()
    run = FlowRun(chart, max_iterations=1000)
    asyncio.run(run.start())
    data = dump_runlog(dump_rows(run.journal, FACTS, {}))
    log, _ = load_runlog(data, "run.json")

    assert log.value_at("window", len(log.top.executions)) == run.state["window"]
    assert len(data) < 600 * 160, "a cut is written by reference"


def looping_to(id: str, times: int) -> Decider:
    def choose(h: Handle) -> str:
        return "again" if h["n"] < times else "on"

    return Decider(choose, [raw("again", loop_to=id), raw("on")], id="turn", raw=True)


ONE = (StageInfo(number=0, id="one", local_id="one", name="One"),)


def journal_with(*events: Callable[[Execution], Event[Any]], writes: dict[str, Any] | None = None) -> Journal:
    """A journal of one stage in which these events happened, as an agent would record them."""
    journal = Journal(ONE, run_id="r", base_state={"iteration": 3, "turnNumber": 1})
    step = Execution(ONE[0], 0, -1, -2, -1, 1_234_567, (), {})
    journal.append(step)
    step.writes = writes or {}
    for event in events:
        journal.append(event(step))
    journal.append(step)
    return journal


def events_of(journal: Journal) -> list[dict[str, Any]]:
    return [event_to_wire(cast("Event[Any]", row)) for row in journal.rows if isinstance(row, Event)]


def test_events_come_back_with_their_meta() -> None:
    journal = journal_with(
        lambda step: Event(Token(iteration=3, token_index=0, content="Hel"), step, 2_000_000, FACTS),
        lambda step: Event(Token(iteration=3, token_index=1, content="lo"), step, 3_500_000, FACTS),
        lambda step: Event(Token(iteration=4, token_index=1, content="other"), step, 3_600_000, FACTS),
        lambda step: Event(
            ToolStart(tool_name="t", tool_call_id="c", args=FrozenDict({"$at": 1})),
            step,
            4_000_000,
            FACTS,
            MetaMarks(tool_ordinal=2),
        ),
        lambda step: app_event("shop.basket", {"n": 1}, step, 5_000_000, FACTS),
        lambda step: app_event("agentfootprint.stream.token", {"mine": True}, step, 5_000_000, FACTS),
        lambda step: app_event("shop.text", "[REDACTED]", step, 5_000_000, FACTS),  # pyright: ignore[reportArgumentType]  a policy may do so
        lambda step: app_event("shop.out", {"n": 2}, CONSUMER_STAGE, 0, consumer_facts(1_800_000_000_000)),
        lambda step: event_from_wire({"type": "x.y", "payload": {"a": 1}, "meta": {"runId": "elsewhere", "more": 1}}),
    )

    again = there_and_back(journal)

    assert events_of(again) == events_of(journal)


def test_the_reply_of_a_streamed_call_is_its_tokens() -> None:
    texts = ["The answer to the question ", "is that the order is too old."]
    counts = TokenCounts(input=1, output=2)
    end = LLMEnd(
        iteration=3, content="".join(texts), tool_call_count=0, usage=counts, stop_reason="stop", duration_ms=1
    )
    journal = journal_with(
        lambda step: Event(Token(iteration=3, token_index=0, content=texts[0]), step, 1, FACTS),
        lambda step: Event(Token(iteration=3, token_index=1, content=texts[1]), step, 2, FACTS),
        lambda step: Event(end, step, 3, FACTS),
    )

    rows = dump_rows(journal, FACTS, {})

    assert sum("too old" in json.dumps(row) for row in rows) == 1
    assert events_of(there_and_back(journal)) == events_of(journal)


def test_the_history_of_an_ended_iteration_is_what_its_step_committed() -> None:
    history = freeze([{"role": "user", "content": "hi"}])
    ended = IterationEnd(turn_index=0, iter_index=3, tool_call_count=0, history=history)
    journal = journal_with(lambda step: Event(ended, step, 1, FACTS), writes={"history": history})

    rows = dump_rows(journal, FACTS, {})
    again = there_and_back(journal)

    assert next(row for row in rows[1:] if row[0] == "e")[-1] == {"$fn": "committed/1", "of": "history"}
    assert events_of(again) == events_of(journal)


def test_a_history_whose_step_never_committed_is_written_out() -> None:
    history = freeze([{"role": "user", "content": "hi"}])
    ended = IterationEnd(turn_index=0, iter_index=3, tool_call_count=0, history=history)
    journal = journal_with(lambda step: Event(ended, step, 1, FACTS), writes={"history": history})
    journal.rows.pop()
    journal.rows[0].writes = {}

    log, _ = load_runlog(dump_runlog(dump_rows(journal, FACTS, {})), "run.json")

    assert events_of(decoded(log)) == events_of(journal)
    assert log.commit_of(0) == -1


def lines(count: int = 3) -> list[bytes]:
    rows = agent_recording(count).native_rows()
    return dump_runlog(rows).splitlines(keepends=True)


def without_count(header: bytes) -> bytes:
    found = json.loads(header)
    del found["rows"]
    return json.dumps(found).encode() + b"\n"


def test_the_torn_last_line_of_a_crash_is_dropped_and_said(tmp_path: Path) -> None:
    """01b LIN-9, trap 6: a log that was being written has no count in its header."""
    header, *rest = lines()
    path = tmp_path / "crash.json"
    path.write_bytes(without_count(header) + b"".join(rest[:60]) + rest[60][:7])

    recording = Recording.load(path)

    assert recording.flags == ("torn-last-line",)
    assert recording.ended is None
    assert len(recording.events) > 10


def test_calls_that_were_open_when_a_run_was_killed_are_open(tmp_path: Path) -> None:
    header, *rest = lines()
    start = next(n for n, line in enumerate(rest) if b"llm_start" in line) + 2
    path = tmp_path / "crash.json"
    path.write_bytes(without_count(header) + b"".join(rest[:start]))

    recording = Recording.load(path)

    assert [(call.step, call.finished, call.content) for call in recording.calls] == [("call-llm#18", False, "")]
    assert recording.answer is None


def with_line_ten(line: bytes) -> list[bytes]:
    rows = lines()
    return [*rows[:9], line, *rows[10:]]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (lines()[:-3], r"cut off: it has \d+ of \d+ lines"),
        ([*lines()[:-1], lines()[-1][:5]], r"cut off in line \d+ of \d+"),
        (with_line_ten(b"{nonsense\n"), r"damaged: line 10 is not JSON"),
        (with_line_ten(b'["x",900,1]\n'), r"damaged: line 10 is no row"),
        (with_line_ten(b"17\n"), r"damaged: line 10 is no row"),
        ([b'{"format":"agentfootprint.runlog/1","rows":1}\n'], r"header lacks a part"),
    ],
)
def test_a_damaged_file_is_refused_naming_the_line(rows: list[bytes], problem: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(b"".join(rows))

    with pytest.raises(UnsupportedRecordingFormatError, match=problem) as caught:
        Recording.load(path)

    assert caught.value.code == "ERR_NOT_RECORDING"
    assert caught.value.where == "run.json"


def test_a_newer_run_log_is_refused_naming_both_formats(tmp_path: Path) -> None:
    header, *rest = lines()
    path = tmp_path / "run.json"
    path.write_bytes(header.replace(b"runlog/1", b"runlog/2") + b"".join(rest))

    with pytest.raises(UnsupportedRecordingFormatError, match=r"runlog/2'; this version reads '.*runlog/1'") as caught:
        Recording.load(path)

    assert caught.value.code == "ERR_UNSUPPORTED_RECORDING_FORMAT"
