"""Tests of agentfootprint.cli.demo.desk."""

from __future__ import annotations

import pytest

from agentfootprint.cli.demo.desk import QUESTION, agent, decision_in, refunds_desk
from agentfootprint.cli.demo.orders import Orders
from agentfootprint.llm import rerun_seed


def decision(text: str) -> str | None:
    return next((word for word in ("APPROVED", "DECLINED") if word in text), None)


def test_the_planted_fact_makes_the_answer_wrong() -> None:
    result = agent.run_sync(QUESTION)

    assert decision(result.text) == "APPROVED"
    assert [(call.name, dict(call.args)) for call in result.tool_calls] == [("lookup_order", {"order_id": "A-1001"})]
    assert "47 days ago" in result.tool_calls[0].result


@pytest.mark.parametrize(
    ("removed", "decided"),
    [
        (["vip-override-fact"], "DECLINED"),
        (["style-fact"], "APPROVED"),
        (["refund-policy"], "APPROVED"),
        (["lookup_order"], "APPROVED"),
        (["vip-override-fact", "style-fact"], "DECLINED"),
        (["vip-override-fact", "lookup_order"], None),
        (["vip-override-fact", "refund-policy"], None),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_model_decides_by_what_it_is_given(removed: list[str], decided: str | None, seed: int) -> None:
    with rerun_seed(seed):
        assert decision(agent.without(removed).run_sync(QUESTION).text) == decided


@pytest.mark.parametrize(
    ("question", "decided"),
    [
        ("Miro Okafor asks to return order A-1003. Should it be refunded?", "APPROVED"),
        ("Lena Brandt asks to return order A-1004. Should it be refunded?", "DECLINED"),
        ("Lena Brandt asks to return order A-1005. Should it be refunded?", None),
        ("Lena Brandt asks to return order A-9999. Should it be refunded?", None),
    ],
)
def test_other_customers_get_what_the_policy_says(question: str, decided: str | None) -> None:
    assert decision(refunds_desk(Orders()).run_sync(question).text) == decided


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("Refund APPROVED: yes.", "APPROVED"),
        ("DECLINED. I repeat: DECLINED.", "DECLINED"),
        ("Not APPROVED but DECLINED.", None),
        ("approved", None),
        ("", None),
    ],
)
def test_a_decision_is_read_where_one_is_named(text: str, decision: str | None) -> None:
    assert decision_in(text) == decision


def test_the_wording_varies_with_the_seed_and_the_decision_does_not() -> None:
    texts: list[str] = []
    for seed in range(12):
        with rerun_seed(seed):
            texts.append(agent.run_sync(QUESTION).text)

    assert len(set(texts)) > 1
    assert {decision(text) for text in texts} == {"APPROVED"}
    assert agent.is_deterministic is False
