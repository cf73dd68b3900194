"""Tests of agentfootprint.events.meta."""

from __future__ import annotations

import dataclasses
import gc

from agentfootprint.events import (
    CONSUMER_STAGE,
    Carried,
    Event,
    MetaMarks,
    RunFacts,
    Token,
    build_event_meta,
    consumer_facts,
)
from agentfootprint.trace import thaw

RUN = RunFacts(run_id="run-1700000000000-1", started_at_ms=1_700_000_000_000, composition_path=("Agent:desk",))


@dataclasses.dataclass(frozen=True)
class Stage:
    runtime_stage_id: str
    subflow_path: tuple[str, ...] | str | None = None


def test_the_clock_is_the_start_of_the_run_and_whole_milliseconds() -> None:
    meta = build_event_meta("seed#0", RUN, 18_999_999)

    assert (meta.wall_clock_ms, meta.run_offset_ms) == (1_700_000_000_018, 18)


def test_a_path_is_taken_as_given_split_or_read_from_the_address() -> None:
    """EVT-7."""
    given = build_event_meta(Stage("x#1", ("p", "q")), RUN, 0)
    joined = build_event_meta(Stage("x#1", "p//q/"), RUN, 0)
    read = build_event_meta(Stage("step-a/sf-llm-call/call-llm#9"), RUN, 0)

    assert given.subflow_path == joined.subflow_path == ("p", "q")
    assert read.subflow_path == ("step-a", "sf-llm-call")


def test_what_is_not_known_is_absent_and_an_empty_text_is_kept() -> None:
    run = RunFacts(run_id="r", started_at_ms=0, session_id="", tenant="acme")

    wire = thaw(build_event_meta(None, run, 0))

    assert wire["sessionId"] == ""
    assert wire["tenant"] == "acme"
    assert wire["runtimeStageId"] == "unknown#0"
    assert wire.keys().isdisjoint({"principal", "traceId", "turnIndex", "toolOrdinal", "carried", "spanId"})


def test_an_event_adds_its_marks() -> None:
    """EVT-30, LIN-20."""
    marks = MetaMarks(tool_ordinal=0, carried=Carried(count=3, from_="sf-messages/compose#9"))

    wire = thaw(build_event_meta("tool-calls#22", RUN, 0, marks))

    assert wire["toolOrdinal"] == 0
    assert wire["carried"] == {"count": 3, "from": "sf-messages/compose#9"}


def test_an_event_of_no_run_says_so() -> None:
    """EVT-6, EVT-31."""
    outside = build_event_meta(CONSUMER_STAGE, consumer_facts(1_700_000_000_000), 0)
    inside = build_event_meta("seed#0", RUN, 0)

    assert thaw(outside) == {
        "wallClockMs": 1_700_000_000_000,
        "runOffsetMs": 0,
        "runtimeStageId": "consumer-emit#0",
        "subflowPath": [],
        "compositionPath": [],
        "runId": "consumer-scope",
    }
    assert (outside.in_run, inside.in_run) == (False, True)


def test_a_hundred_runs_keep_their_identities_apart() -> None:
    """EVT-8."""
    runs = [RunFacts(run_id=f"run-1-{n}", started_at_ms=n, principal=f"person-{n}") for n in range(100)]

    events = [Event(Token(iteration=1, token_index=t, content=""), "a#1", 0, run) for t in range(3) for run in runs]

    assert {(event.meta.run_id, event.meta.principal) for event in events} == {
        (f"run-1-{n}", f"person-{n}") for n in range(100)
    }
    assert not any(map(gc.is_tracked, runs))
