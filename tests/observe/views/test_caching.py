"""Tests of agentfootprint.observe.views.caching."""

from __future__ import annotations

from typing import Any

from agentfootprint.observe import CacheMeter
from agentfootprint.resilience import StaticPricing
from tests.observe.made import desk, event

PRICES = StaticPricing({"m": {"input": 1.0, "output": 2.0, "cacheRead": 0.5, "cacheWrite": 1.5}})


def called(meter: CacheMeter, usage: dict[str, Any], *, run: str = "run-1-1", at: str = "call-llm#1") -> None:
    start = {"iteration": 1, "provider": "p", "model": "m", "systemPromptChars": 0, "messagesCount": 1, "toolsCount": 0}
    meter.hear(event("stream.llm_start", start, run=run, at=at))
    end = {"iteration": 1, "content": "", "toolCallCount": 0, "stopReason": "stop", "durationMs": 1}
    meter.hear(event("stream.llm_end", {**end, "usage": usage}, run=run, at=at))


def test_a_part_that_another_part_contains_counts_once() -> None:
    meter = CacheMeter(strategy=True, pricing=PRICES)

    called(meter, {"input": 100, "output": 1, "cacheRead": 80, "cacheWrite": 0, "inputIncludesCache": True})

    report = meter.report()
    assert report.fresh_input_tokens_total.value == 20
    assert report.hit_rate.value == 0.8
    assert report.estimated_dollars_spent.value == 60.0
    assert report.estimated_dollars_saved_vs_no_cache.value == 40.0


def test_totals_are_of_the_measured_calls_and_say_how_many_those_are() -> None:
    meter = CacheMeter(strategy=True)

    called(meter, {"input": 10, "output": 1, "cacheRead": 0})
    called(meter, {"input": 10, "output": 1}, run="run-1-2")
    called(meter, {"input": 0, "output": 0, "usageReported": False}, run="run-1-2")

    report = meter.report()
    assert (report.cache_read_tokens_total.value, report.cache_read_tokens_total.evidence) == (
        0,
        "1 of 3 calls measured",
    )
    assert report.estimated_dollars_spent.kind == "unknown"
    assert "disagree" in (report.estimated_dollars_spent.reason or "")
    assert meter.report("run-1-1").unmeasured_iterations == 0
    assert "disagree" in (meter.report("run-1-2").hit_rate.reason or "")


def test_a_prompt_without_tokens_has_no_hit_rate() -> None:
    meter = CacheMeter(strategy=True)

    called(meter, {"input": 0, "output": 1, "cacheRead": 0})

    assert meter.report().to_wire()["hitRate"] == {"kind": "unknown", "reason": "the measured prompts held no tokens"}
    assert meter.report().to_wire()["cacheReadTokensTotal"]["value"] == 0


def test_prices_that_do_not_say_leave_dollars_unknown() -> None:
    meter = CacheMeter(strategy=True, pricing=StaticPricing({"other": {"input": 1.0, "output": 1.0}}))

    called(meter, {"input": 1, "output": 1, "cacheRead": 1})

    assert "prices don't say" in (meter.report().estimated_dollars_spent.reason or "")


def test_a_recording_tells_what_its_gate_decided() -> None:
    recording = desk(turns=2).run_sync("Weather?").recording

    report = CacheMeter.of(recording).report()

    assert (report.total_iterations, report.apply_markers_iterations) == (3, 3)
    assert [call.branch for call in report.per_iter] == ["apply-markers"] * 3
