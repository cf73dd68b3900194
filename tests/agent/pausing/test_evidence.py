"""Tests of agentfootprint.agent.pausing.evidence; its vectors are `checkin-evidence`."""

from __future__ import annotations

from agentfootprint import LLMMessage
from agentfootprint.agent.pausing.evidence import EvidenceInput, evidence_of, lexical_scores
from agentfootprint.llm import CallRef, NotDispatched
from agentfootprint.trace import freeze


def given(*history: LLMMessage, failed: frozenset[int] = frozenset()) -> EvidenceInput:
    return EvidenceInput(
        tool_name="refund", description="Refund", args=freeze({}), iteration=3, history=history, failed=failed
    )


def told(text: str, *, settled: bool = False) -> LLMMessage:
    mark = NotDispatched(paused_call=CallRef("p", "ask")) if settled else None
    return LLMMessage("tool", text, tool_call_id="c", tool_name="look", not_dispatched=mark)


def test_a_call_that_never_ran_is_no_receipt_and_was_not_read() -> None:
    pack = evidence_of(given(told("found it"), told("not executed", settled=True)))

    assert [unit["summary"] for unit in pack["read"]] == ["look: found it"]
    assert pack["trail"]["toolCalls"] == [{"name": "look", "ok": True}]


def test_a_known_error_is_not_ok() -> None:
    trail = evidence_of(given(told("offline"), told("fine"), failed=frozenset({0})))["trail"]

    assert [call["ok"] for call in trail["toolCalls"]] == [False, True]
    assert trail["summary"] == "2 tools run over 3 iterations"


def test_a_declined_call_is_not_ok_whatever_its_case() -> None:
    trail = evidence_of(given(told("Declined By Human: no")))["trail"]

    assert trail["toolCalls"][0]["ok"] is False


def test_nothing_read_asks_no_scorer() -> None:
    def scorer(target: str, texts: object) -> list[float]:
        raise AssertionError

    assert evidence_of(given(), scorer)["drivers"] == []


def test_texts_without_a_word_have_nothing_in_common() -> None:
    assert lexical_scores("the a", ["", "a an"]) == [0, 0]
    assert lexical_scores("refund order", ["order refund", "order status"]) == [1, 1 / 3]
