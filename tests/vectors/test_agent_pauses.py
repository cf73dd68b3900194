"""Tests of `vectors/agent-loop` about questions to a person: what they are, and which answers they take."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.agent import InvalidAskComponentError, StaleDecisionError, pause_demands_decision
from agentfootprint.agent.pausing.decisions import is_decision, refuse_stale
from agentfootprint.agent.pausing.evidence import EvidenceInput, evidence_of
from agentfootprint.llm import messages_from_wire
from agentfootprint.tools import check_component, read_component
from agentfootprint.trace import freeze, thaw
from tests.vectors.harness import Case, assert_same, load

LOOP = load("agent-loop")


@pytest.mark.parametrize("case", LOOP.cases("is-decision"))
def test_is_decision(case: Case) -> None:
    assert is_decision(case.input) is case.expected


@pytest.mark.parametrize("case", LOOP.cases("pause-demands-decision"))
def test_pause_demands_decision(case: Case) -> None:
    gate = pause_demands_decision(case.input)

    assert_same(None if gate is None else gate.to_wire(), case.expected)


@pytest.mark.parametrize("case", LOOP.cases("read-ask-component"))
def test_read_component(case: Case) -> None:
    assert_same(thaw(read_component(case.input)), case.expected)


@pytest.mark.parametrize("case", LOOP.cases("assert-ask-component"))
def test_check_component(case: Case) -> None:
    outcome: Any = "ok"

    try:
        check_component(case.input, "ask")
    except InvalidAskComponentError as refused:
        outcome = {"error": type(refused).__name__, "code": refused.code, "reason": refused.reason}

    assert_same(outcome, case.expected)


@pytest.mark.parametrize("case", LOOP.cases("stale-decision"))
def test_refuse_stale(case: Case) -> None:
    outcome: Any = "ok"

    try:
        refuse_stale(case.input["pauseData"], case.input["answer"])
    except StaleDecisionError as refused:
        outcome = {"error": type(refused).__name__, "asked": refused.asked, "answered": refused.answered}

    assert_same(outcome, case.expected)


@pytest.mark.parametrize("case", LOOP.cases("checkin-evidence"))
def test_the_standard_evidence(case: Case) -> None:
    given = case.input

    pack = evidence_of(
        EvidenceInput(
            tool_name=given["tool"]["name"],
            description=given["tool"]["description"],
            args=freeze(given["args"]),
            iteration=given["iteration"],
            history=messages_from_wire(given["history"]),
        )
    )

    assert_same(thaw(pack), case.expected)
