"""Tests of agentfootprint.flow.choice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Choice,
    Decider,
    FlowRun,
    Handle,
    RedactionPolicy,
    Rule,
    RuleFunctionError,
    Selector,
    Stage,
    StageContext,
    State,
    decide,
    select,
)
from agentfootprint.trace import Dials, thaw
from tests.flow.charts import Listener, raw


class Loan(State):
    score: int
    dti: float = 0.1


def good(s: Any) -> bool:
    return s["score"] > 700 and s["score"] < 900


def decided(choose: Any, *, raw_stage: bool, dials: Dials) -> tuple[Any, FlowRun]:
    """What a decider's function gave, and the run."""
    kept: list[Any] = []

    def keep(s: Any) -> Any:
        kept.append(choose(s))
        return kept[0]

    decider = Decider(keep, [raw("yes"), raw("no")], id="d", raw=raw_stage)
    chart = Chart.of("Choice", raw("s"), decider, state=Loan)
    run = FlowRun(chart.build(), dials=dials, initial_state={"score": 710})
    asyncio.run(run.start())
    return kept[0], run


KINDS = pytest.mark.parametrize(
    ("raw_stage", "dials"),
    [(True, Dials(reads="summary", writes="summary", values="delta")), (True, Dials()), (False, Dials())],
    ids=["fast handle", "traced handle", "state"],
)


@KINDS
def test_a_rule_that_is_a_function_tells_what_it_read_repeats_kept(raw_stage: bool, dials: Dials) -> None:
    def choose(s: Any) -> Any:
        return decide(s, [Rule(when=good, then="yes", label="good")], default="no")

    choice, run = decided(choose, raw_stage=raw_stage, dials=dials)

    assert choice.branch == "yes"
    read = {"key": "score", "valueSummary": "710", "redacted": False}
    assert thaw(choice.evidence) == {
        "rules": [
            {
                "type": "function",
                "ruleIndex": 0,
                "branch": "yes",
                "matched": True,
                "label": "good",
                "inputs": [read, read],
            }
        ],
        "chosen": "yes",
        "default": "no",
    }
    assert run.journal.executions()[1].reads == ("score",)


@KINDS
def test_a_rule_that_is_a_filter_reads_under_tracking(raw_stage: bool, dials: Dials) -> None:
    def choose(s: Any) -> Any:
        return decide(s, [Rule(when={"score": {"gte": 700}, "missing": {"eq": 1}}, then="yes")], default="no")

    choice, run = decided(choose, raw_stage=raw_stage, dials=dials)

    assert choice.branch == "no"
    (rule,) = thaw(choice.evidence)["rules"]
    assert [(c["key"], c["actualSummary"], c["result"]) for c in rule["conditions"]] == [
        ("score", "710", True),
        ("missing", "undefined", False),
    ]
    assert run.journal.executions()[1].reads == ("score", "missing")


def test_a_declared_default_counts_for_filters() -> None:
    def choose(s: Any) -> Any:
        return decide(s, [Rule(when={"dti": {"lt": 0.4}}, then="yes")], default="no")

    choice, _ = decided(choose, raw_stage=False, dials=Dials())

    assert choice.branch == "yes"


def test_later_rules_are_not_tried_after_a_match() -> None:
    def never(s: Any) -> bool:
        raise AssertionError

    rules = [Rule(when={"n": {"gt": 1}}, then="a"), Rule(when=never, then="b")]

    choice = decide({"n": 5}, rules, default="z")

    assert len(choice.evidence["rules"]) == 1


def test_a_rule_that_raises_has_not_matched_and_the_next_is_tried() -> None:
    def broken(s: Any) -> bool:
        return s["missing"] > 1

    choice = decide({"n": 5}, [Rule(when=broken, then="a"), Rule(when={"n": {"gt": 1}}, then="b")], default="z")

    first, second = thaw(choice.evidence)["rules"]
    assert choice.branch == "b"
    assert (first["matched"], first["matchError"]) == (False, "KeyError: 'missing'")
    assert second["matched"]


def test_a_list_that_is_too_long_for_a_rule_has_not_matched() -> None:
    choice = decide({"n": 5}, [Rule(when={"n": {"in": list(range(1001))}}, then="a")], default="z")

    assert choice.branch == "z"
    assert "1001 values" in thaw(choice.evidence)["rules"][0]["matchError"]


def test_a_coroutine_function_is_refused_by_the_name_of_the_rule() -> None:
    async def later(s: Any) -> bool:
        return True

    with pytest.raises(RuleFunctionError, match=r"'slow one'"):
        decide({}, [Rule(when=later, then="a", label="slow one")], default="z")


def test_select_tries_every_rule() -> None:
    rules = [
        Rule(when={"n": {"gt": 1}}, then="a"),
        Rule(when={"n": {"gt": 9}}, then="b"),
        Rule(when=lambda s: s["n"] == 5, then="c"),
    ]

    selection = select({"n": 5}, rules)

    assert selection.branches == ("a", "c")
    assert len(selection.evidence["rules"]) == 3
    assert thaw(selection.evidence)["selected"] == ["a", "c"]


def test_two_rules_for_one_branch_run_it_once() -> None:
    rules = [Rule(when={"n": {"gt": 1}}, then="a"), Rule(when={"n": {"gt": 2}}, then="a")]

    def choose(h: Handle) -> Any:
        return select(h, rules)

    run = FlowRun(Chart.of("Select", Selector(choose, [raw("a")], id="d", raw=True)).build(), initial_state={"n": 5})
    asyncio.run(run.start())

    assert [step.info.id for step in run.journal.executions().values()] == ["d", "a"]


def test_a_dict_with_a_branch_is_no_decision() -> None:
    def choose(s: State) -> Any:
        return {"branch": "a"}

    decider = Decider(choose, [raw("a"), raw("b")], id="d", default="b")
    run = FlowRun(Chart.of("Dict", decider).build())
    asyncio.run(run.start())

    assert [step.info.id for step in run.journal.executions().values()] == ["d", "b"]


def test_the_state_a_rule_sees_can_be_asked_like_any_other() -> None:
    seen: list[Any] = []

    def look(s: Any) -> bool:
        seen.append((s.score, "dti" in s, s.get("none") if hasattr(s, "get") else None))
        return False

    def choose(s: Loan, ctx: StageContext) -> Any:
        return decide(s, [Rule(when=look, then="yes")], default="no")

    chart = Chart.of("Rule", Decider(choose, [Stage(idle, id="yes"), Stage(idle, id="no")], id="d"), state=Loan)
    listener = Listener()
    result = asyncio.run(chart.build().executor(recorders=[listener], initial_state={"score": 5}).run())

    assert result.status == "done"
    assert seen == [(5, False, None)] or seen[0][:2] == (5, False)
    assert [event.hook for event in listener.seen if event.hook == "on_decision"] == ["on_decision"]


def idle(s: State) -> None:
    """A branch that does nothing."""


def test_evidence_hides_redacted_values_and_thresholds_that_tell_them_and_nothing_else() -> None:
    told: list[Any] = []

    def seed(s: State, ctx: StageContext) -> None:
        s.ssn = "123"
        s.plain = 1
        ctx.set("code", 7, redact=True)

    def looks(state: Any) -> bool:
        return state.code == 8 or state.plain == 2

    def fails(state: Any) -> float:
        return 1 / (state.code - 7)

    def choose(s: State) -> Choice:
        rules = [
            Rule(when={"ssn": {"eq": "999", "in": ["123", "456"]}, "plain": {"eq": 2}}, then="a"),
            Rule(when=looks, then="a"),
            Rule(when=fails, then="a"),
        ]
        choice = decide(s, rules, default="b")
        told.append(thaw(choice.evidence)["rules"])
        return choice

    chart = Chart.of(
        "Test", Stage(seed, id="seed"), Decider(choose, [Stage(seed, id="a"), Stage(seed, id="b")], id="choose")
    )
    chart.build().run_sync(redaction=RedactionPolicy(keys=["ssn"]))

    filtered, looked, failed = told[0]
    assert [(c["threshold"], c["actualSummary"], c["redacted"]) for c in filtered["conditions"]] == [
        ("999", "[REDACTED]", True),
        (["[REDACTED]", "456"], "[REDACTED]", True),
        (2, "1", False),
    ]
    assert [(read["valueSummary"], read["redacted"]) for read in looked["inputs"]] == [
        ("[REDACTED]", True),
        ("1", False),
    ]
    assert failed["matchError"] == "ZeroDivisionError"  # FLOW-DEC-6
