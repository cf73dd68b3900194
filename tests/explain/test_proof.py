"""Tests of agentfootprint.explain.proof."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.explain import ProofPlan, ProofProgress, ProveOptions, Spent

PLAN = ProofPlan(
    sources=("vip", "style"), expected=Spent(runs=22), at_most=Spent(runs=72), compare="the text", tools="replay"
)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("mode", "bayes"), ("search", "group"), ("alpha", 0.0), ("alpha", 1.0), ("alpha", float("nan")), ("tokens", 0),
        ("concurrency", 0), ("seconds", 0.0), ("seconds", float("inf")), ("allow_live", "refund_order"),
    ],
)  # fmt: skip
def test_an_option_that_can_not_work_is_refused_by_name(option: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"options\.{option}") as caught:
        ProveOptions(**{option: value})

    assert caught.value.option == f"options.{option}"


def test_the_everyday_proof_needs_no_options() -> None:
    options = ProveOptions()

    assert (options.mode, options.alpha, options.concurrency, options.dry_run) == ("sequential", 0.05, 4, False)


def test_a_plan_says_what_it_knows() -> None:
    assert PLAN.to_wire() == {
        "sources": ["vip", "style"],
        "expected": {"runs": 22},
        "atMost": {"runs": 72},
        "compare": "the text",
        "tools": "replay",
        "cached": 0,
    }


def test_progress_has_a_verdict_only_when_it_is_settled() -> None:
    running = ProofProgress(
        source="vip", state="running", flips=7, samples=7, evidence=16.4, needed=60.0, spent=Spent(), plan=PLAN
    )

    assert "verdict" not in running.to_wire()
