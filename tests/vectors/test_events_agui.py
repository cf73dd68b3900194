"""Tests of the AG-UI ids of `vectors/events`; the other files of that area belong to `test_events.py`."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.agui import AgUiIds, agui_id
from tests.vectors.harness import Case, assert_same, load

EVENTS = load("events")


@pytest.mark.parametrize("case", EVENTS.cases("agui-ids"))
def test_agui_id(case: Case) -> None:
    given = case.input

    assert agui_id(given["runId"], given["kind"], given["n"], given["address"]) == case.expected


@pytest.mark.parametrize("case", EVENTS.cases("agui-minter"))
def test_minter(case: Case) -> None:
    if isinstance(case.expected, dict):
        with pytest.raises(TypeError):
            AgUiIds(case.input["runId"])
        return
    ids = AgUiIds(case.input["runId"])

    answers: list[Any] = []
    for op, *parts in case.input["ops"]:
        answer = ids.next(*parts)._asdict() if op == "next" else ids.at(*parts)
        answers.append(answer)

    assert_same(answers, case.expected)
