"""Tests of agentfootprint.trace.rows.stages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from agentfootprint.trace import check_links, stage_from_wire, stage_to_wire
from tests.flow.random_charts import RandomChart, charts


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(charts())
def test_every_stage_comes_back_as_it_was(drawn: RandomChart) -> None:
    for info in drawn.flow.stages:
        wire = json.loads(json.dumps(stage_to_wire(info)))

        assert stage_from_wire(info.number, wire) == info


@pytest.mark.parametrize("damage", [{"kind": 1}, {"children": [None]}, {"inMap": [["a"]]}, {"path": "a"}])
def test_a_member_of_another_kind_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        stage_from_wire(0, {"id": "a", "name": "A", **damage})


def test_a_number_that_names_no_stage_is_refused() -> None:
    with pytest.raises(ValueError, match=r"chart\.stages"):
        check_links([stage_from_wire(0, {"id": "a", "name": "A", "next": 4})])
