"""Tests of agentfootprint.explain.model."""

from __future__ import annotations

import dataclasses
import json

import pytest

from agentfootprint.explain import ContextBugReport, CustodyHop, DroppedUnit, HonestyFlag, Spent, Suspect
from agentfootprint.explain.model import EdgeHop, Rate, SliceStats, Verdict
from agentfootprint.explain.sequential import Pair, SequentialRule, SequentialTest

PATH = (
    EdgeHop(
        from_step="call-llm#40", from_name="CallLLM", to_step="context#6", to_name="Context", kind="data",
        key="systemPromptInjections", weight=0.918,
    ),
)  # fmt: skip
VIP = Suspect(
    kind="injection", step="context#6", stage_name="Context", injection_id="vip-override-fact", flavor="fact",
    text="Dana holds VIP status.", score=0.767, structural_score=1.0, semantic_score=0.767,
    has_content_evidence=True, edge_path=PATH,
)  # fmt: skip


def proved() -> Verdict:
    test = SequentialTest(SequentialRule(sources=3))
    while test.verdict is None:
        test.add(Pair(changed=True, baseline_changed=False))
    return test.report("vip-override-fact")


def test_a_suspect_without_re_runs_has_no_verdict_key() -> None:
    wire = VIP.to_wire()

    assert wire == {
        "source": "context#6",
        "stageName": "Context",
        "kind": "injection",
        "detail": {"injectionId": "vip-override-fact", "flavor": "fact", "text": "Dana holds VIP status."},
        "score": 0.767,
        "structuralScore": 1.0,
        "semanticScore": 0.767,
        "hasContentEvidence": True,
        "edgePath": [
            {
                "from": "call-llm#40",
                "fromName": "CallLLM",
                "to": "context#6",
                "toName": "Context",
                "kind": "data",
                "key": "systemPromptInjections",
                "weight": 0.918,
            }
        ],
        "ablation": {"kind": "injection", "excludeInjectionIds": ["vip-override-fact"]},
    }


def test_a_proved_suspect_carries_the_printed_numbers() -> None:
    wire = dataclasses.replace(VIP, verdict=proved()).to_wire()

    assert wire["verdict"]["verdict"] == "confirmed"
    assert wire["runs"] == {"samples": 10, "flips": 10}
    stats = wire["stats"]
    assert stats["interval"] == [pytest.approx(0.722, abs=5e-4), 1.0]
    assert stats["baseline"] == {"samples": 10, "flips": 0, "interval": [0.0, pytest.approx(0.278, abs=5e-4)]}
    assert stats["effect"] == [1.0, pytest.approx(0.608, abs=1e-3), 1.0]
    assert (stats["evidence"], stats["needed"]) == (pytest.approx(66.38, abs=0.005), pytest.approx(60.0))


def test_a_correlational_report_holds_no_verdict_and_says_its_format_first() -> None:
    report = ContextBugReport(
        step="call-llm#40",
        step_name="CallLLM",
        ranked_by="lexical-overlap",
        suspects=(VIP, Suspect(kind="stage", step="sf-cache#14", stage_name="Cache", score=0.9)),
        slice_stats=SliceStats(
            nodes=6, data_edges=23, control_edges=0, weighted_edges=0, incomplete_nodes=1, max_depth=12, max_nodes=80
        ),
        honesty_flags=(HonestyFlag("untracked-sources", "1 step also read untracked run input."),),
    )

    wire = report.to_wire()

    assert next(iter(wire.items())) == ("format", "agentfootprint.why/1")
    assert (wire["mode"], wire["rankedBy"], wire["triggerSource"]) == ("correlational", "lexical-overlap", "explicit")
    assert wire["sliceStats"]["truncated"] == {"byDepth": False, "byNodes": False}
    assert "verdict" not in json.dumps(wire)
    assert {"dropped", "baseline", "runsUsed", "spent"} & set(wire) == set()
    assert [source.id for source in report.sources] == ["vip-override-fact"]


def test_looking_and_finding_nothing_dropped_differs_from_not_looking() -> None:
    base = ContextBugReport(step="s#1", step_name="S", ranked_by="custom")

    assert "dropped" not in base.to_wire()
    assert dataclasses.replace(base, dropped=()).to_wire()["dropped"] == []


def test_a_suspect_goes_by_its_id_and_is_labelled_by_its_kind() -> None:
    tool = Suspect(kind="tool", step="tool-calls#22", stage_name="ToolCalls", tool_name="lookup_order", score=0.3)
    step = Suspect(kind="stage", step="sf-cache#14", stage_name="Cache", score=0.1)

    assert (tool.id, tool.name, tool.label) == ("lookup_order", "lookup_order", "tool 'lookup_order'")
    assert (step.id, step.name, step.label, step.ablation) == ("sf-cache#14", "Cache", "stage 'sf-cache#14'", None)


def test_a_link_that_is_not_known_is_there_and_says_why() -> None:
    hop = CustodyHop(step="allowed", detail="unknown: no rule was recorded", unknown="no rule was recorded")

    assert hop.to_wire() == {
        "step": "allowed", "detail": "unknown: no rule was recorded", "unknown": "no rule was recorded",
    }  # fmt: skip


def test_a_restored_unit_carries_its_verdict_beside_its_reason() -> None:
    wire = DroppedUnit(id="note-7", content="...", reason="window", verdict=proved()).to_wire()

    assert (wire["reason"], wire["verdict"]["verdict"], wire["runs"]["samples"]) == ("window", "confirmed", 10)
    assert DroppedUnit(id="note-7").to_wire() == {"id": "note-7"}


def test_what_either_does_not_know_the_sum_does_not_know() -> None:
    total = Spent(runs=2, tokens=10, usd=0.0, seconds=1.0).plus(Spent(runs=1, tokens=5, seconds=0.5))

    assert total == Spent(runs=3, tokens=15, usd=None, seconds=1.5)
    assert "usd" not in total.to_wire()


def test_a_rate_knows_its_interval() -> None:
    assert Rate.of(0, 4).interval == (0.0, pytest.approx(0.49, abs=5e-4))
