"""Tests of agentfootprint.tools.semantics."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.tools import semantic_faults
from agentfootprint.trace import freeze

SOURCE = {"measured_at": "2026-01-01", "source": "db"}
POINT = {"t": 1, "entity": "p", "metric": "cpu", "value": None}


def fields_of(value: dict[str, Any]) -> list[str] | None:
    faults = semantic_faults(freeze({"af_semantics": True, **value}))
    return None if faults is None else [fault.field for fault in faults]


def test_a_value_without_the_marker_is_not_judged() -> None:
    assert semantic_faults(freeze({"facts": []})) is None
    assert semantic_faults("text") is None


@pytest.mark.parametrize(
    "value",
    [
        {"series": [POINT], "grain": {"interval": "5m"}, "provenance": SOURCE},
        {"facts": [{"entity": "p", "up": True}], "provenance": {**SOURCE, "age_seconds": 3}},
        {"edges": [{"from": "a", "to": "b", "kind": "uplink", "speed": 10}]},
        {"clarify": {"question": "which?", "candidates": ["a"]}},
        {"edges": [{"from": "a", "to": "b", "kind": "k"}], "clarify": None, "render": {"default": "table"}},
    ],
)
def test_a_whole_description_has_no_fault(value: dict[str, Any]) -> None:
    assert fields_of(value) == []


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"series": [POINT], "provenance": SOURCE}, "grain"),
        ({"series": [{**POINT, "t": None}], "grain": {"interval": "1m"}, "provenance": SOURCE}, "series[0].t"),
        ({"series": [{**POINT, "x": 1}], "grain": {"interval": "1m"}, "provenance": SOURCE}, "series[0].x"),
        ({"series": [POINT], "grain": {}, "provenance": SOURCE}, "grain"),
        ({"series": [POINT], "grain": {"interval": " "}, "provenance": SOURCE}, "grain.interval"),
        (
            {"series": [POINT], "grain": {"aggregation": "sum", "is_counter": "no"}, "provenance": SOURCE},
            "grain.is_counter",
        ),
        ({"facts": ["p"], "provenance": SOURCE}, "facts[0]"),
        ({"facts": [{"entity": " "}], "provenance": SOURCE}, "facts[0].entity"),
        ({"facts": [{"entity": "p"}], "provenance": {**SOURCE, "age_seconds": -1}}, "provenance.age_seconds"),
        ({"facts": [{"entity": "p"}], "provenance": {**SOURCE, "x": 1}}, "provenance.x"),
        ({"facts": [{"entity": "p"}], "provenance": "db"}, "provenance"),
        ({"edges": [{"from": "a", "to": "b"}]}, "edges[0].kind"),
        ({"edges": [{"from": "a", "to": "b", "kind": "k"}], "coverage": []}, "coverage"),
        ({"edges": [{"from": "a", "to": "b", "kind": "k"}], "coverage": {"checked": ["a"]}}, "coverage.checked"),
        ({"clarify": {"question": "", "candidates": []}}, "clarify.question"),
        ({"clarify": "which?"}, "clarify"),
        ({"edges": [{"from": "a", "to": "b", "kind": "k"}], "render": {}}, "render"),
        ({"edges": [{"from": "a", "to": "b", "kind": "k"}], "extra": 1}, "extra"),
        ({"clarify": None}, "af_semantics"),
    ],
)
def test_a_fault_is_told_with_its_field(value: dict[str, Any], field: str) -> None:
    assert fields_of(value) == [field]
