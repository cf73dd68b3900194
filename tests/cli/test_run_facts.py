"""Tests of agentfootprint.cli.run_facts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agentfootprint.cli.run_facts import events_text, record_text, run_document, run_line, run_text
from agentfootprint.llm import Usage
from agentfootprint.recording import Recording
from agentfootprint.trace import ABSENT
from tests.cli.commands import widest


def event(clock: int) -> Any:
    meta = SimpleNamespace(wall_clock_ms=clock, run_offset_ms=clock, runtime_stage_id="call-llm#18")
    return SimpleNamespace(type="agentfootprint.stream.llm_start", payload=None, meta=meta)


def nothing(_: str) -> Any:
    return ABSENT


def run(**more: Any) -> Any:
    call = SimpleNamespace(iteration=2, model="mock-1", provider="mock", usage=Usage(input=157, output=33))
    given: dict[str, Any] = {
        "run_id": "run-1",
        "calls": [call],
        "tool_uses": [object()],
        "events": [event(1_000)] * 57,
        "bundles": [SimpleNamespace(redacted_paths=())] * 40,
        "native": False,
        "ended": None,
        "flags": (),
        "header": {},
        "redaction": None,
        "value_at": nothing,
    }
    return SimpleNamespace(**{**given, **more})


def test_the_run_of_the_first_hour_says_what_is_not_known() -> None:
    assert run_text(run(), width=80) == (
        "run-1  mock-1 (mock)  2 iterations  1 tool call  157 tokens in, 33 out\n"
        "cost not priced   time unusable: all 57 events carry one clock time"
    )
    assert record_text(run(), width=80) == (
        "RECORDING  complete: not stated (no envelope)   events: 57 kept, dropped: not\n"
        "           stated   redacted: 0 paths in 40 commits   audit chain: none"
    )
    assert run_line(run()) == "run-1  mock-1 (mock)  2 iterations  1 tool call"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"events": []}, "time not recorded"),
        ({"events": [event(5)]}, "time unusable: the only event carries one clock time"),
        ({"events": [event(5), event(5)], "native": True}, "time under 0.01 s"),
        ({"events": [event(0), event(41_000)]}, "time 41 s"),
        ({"value_at": {"cumEstimatedUsd": 0.018}.get}, "cost $0.02"),
        ({"value_at": {"cumEstimatedUsd": 0}.get}, "cost not priced"),
        ({"value_at": {"unpricedCalls": 2}.get}, "cost unknown: 2 calls not priced"),
        (
            {"value_at": {"cumEstimatedUsd": 0.03, "unpricedCalls": 1}.get},
            "cost unknown: 1 call not priced, the others $0.03",
        ),
        ({"calls": []}, "0 iterations"),
        ({"calls": []}, "tokens unknown"),
        ({"run_id": "a\x1b[2J"}, "a\\x1b[2J"),
    ],
)
def test_what_a_run_took(more: dict[str, Any], said: str) -> None:
    assert said in run_text(run(**more), width=80)


def test_one_call_without_numbers_makes_the_sum_unknown() -> None:
    calls = [*run().calls, SimpleNamespace(iteration=3, model="", provider="", usage=None)]

    assert "tokens unknown" in run_text(run(calls=calls), width=80)
    assert "tokensIn" not in run_document(run(calls=calls))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"native": True, "ended": "done"}, "complete: yes, the run ended (done)"),
        ({"native": True}, "complete: no, the end is not on record"),
        ({"native": True}, "dropped: none"),
        ({"flags": ("torn-last-line",)}, "LIMITS the end of the recording was cut off"),
    ],
)
def test_how_much_is_on_record(more: dict[str, Any], said: str) -> None:
    assert said in " ".join(record_text(run(**more), width=80).split())


def test_the_document_of_a_real_run(recording: Recording) -> None:
    document = run_document(recording)

    assert (document["model"], document["provider"], document["ended"]) == ("mock-model", "mock", "done")
    assert (document["iterations"], document["eventCount"]) == (2, 52)


def test_events_keep_their_numbers_and_their_width() -> None:
    shown = events_text([(7, event(1_234)), (8, event(1_300))], width=60)

    assert shown.splitlines()[0] == "    7     1,234 ms  stream.llm_start  call-llm#18"
    assert widest(shown) <= 60
