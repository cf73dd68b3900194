"""Tests of agentfootprint.explain.errors."""

from __future__ import annotations

import pickle

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.explain.errors import (
    AgentChangedError,
    DuplicateIdError,
    ExplainError,
    InvalidComparatorError,
    InvalidWeightsError,
    NoAgentError,
    NothingToRemoveError,
    NotRemovableError,
    NoTriggerError,
    OverBudgetError,
    UnknownSourceError,
    UnknownStepError,
    UnknownValueError,
    UnrecordedCallError,
    nearest,
)

EVERY = [
    AgentChangedError("its tool lookup_order is gone"),
    DuplicateIdError("vip", "score_lexical"),
    InvalidComparatorError("a b", "it is no field"),
    InvalidWeightsError("fa is -1", "score_lexical"),
    NoAgentError(),
    NoTriggerError(),
    NotRemovableError("seed#0", "stage"),
    NothingToRemoveError(["vip"]),
    OverBudgetError(4.1, 0.5),
    UnknownSourceError("vip-overide-fact", ["vip-override-fact"]),
    UnknownStepError("call-llm#41", ["call-llm#40"]),
    UnknownValueError("unknown"),
    UnrecordedCallError("refund_order"),
]


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_every_refusal_has_a_code_a_fix_and_survives_a_process(error: AgentFootprintError) -> None:
    revived = pickle.loads(pickle.dumps(error))

    assert isinstance(error, (ExplainError, ValueError))
    assert error.code.startswith("ERR_")
    assert error.code != "ERR_EXPLAIN"
    assert error.fix.endswith(".")
    assert (str(revived), vars(revived)) == (str(error), vars(error))


def test_codes_are_told_apart() -> None:
    assert len({error.code for error in EVERY}) == len(EVERY)


@pytest.mark.parametrize(
    ("error", "problem", "fix"),
    [
        (
            UnknownStepError(
                "call-llm#41", ["seed#0", "call-llm#18", "tool-calls#22", "call-llm#40"], where="run.json"
            ),
            "There is no step 'call-llm#41' in run.json.",
            "Use one of call-llm#18, call-llm#40. All steps: show run.json --tree.",
        ),
        (
            UnknownSourceError("vip-overide-fact", ["vip-override-fact", "style-fact", "lookup_order"]),
            "There is no source 'vip-overide-fact'.",
            "Did you mean vip-override-fact? Removable: vip-override-fact, style-fact, lookup_order.",
        ),
        (
            NoAgentError(asked_by="--prove", fix="Add --agent MODULE:ATTRIBUTE, for example --agent refunds:agent."),
            "--prove needs the agent, a recording can't be re-run.",
            "Add --agent MODULE:ATTRIBUTE, for example --agent refunds:agent.",
        ),
        (
            AgentChangedError("its tool lookup_order is gone", option="--allow-changed"),
            "The agent differs from the recorded one: its tool lookup_order is gone.",
            (
                "Check out the version that made the run, or add --allow-changed; the verdict then says that it is "
                "about the changed agent."
            ),
        ),
        (
            UnrecordedCallError("refund_order", option="--tools stub"),
            "A re-run asked for refund_order, which has no recorded result.",
            (
                "It changes things, so it was not called. Pass --tools stub, or record a run that calls it. "
                "The pair counts as inconclusive."
            ),
        ),
        (
            OverBudgetError(4.1, 0.5, option="--usd", fewer="--of vip-override-fact"),
            "The plan may cost $4.10; the limit is $0.50.",
            "Raise --usd, or prove fewer sources: --of vip-override-fact.",
        ),
    ],
)
def test_what_people_read_is_what_was_agreed(error: AgentFootprintError, problem: str, fix: str) -> None:
    assert (error.problem, error.fix) == (problem, fix)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnknownStepError("a", []), "ERR_UNKNOWN_STEP"),
        (UnknownSourceError("a", []), "ERR_UNKNOWN_SOURCE"),
        (NoAgentError(), "ERR_NO_AGENT"),
        (AgentChangedError("x"), "ERR_AGENT_CHANGED"),
        (UnrecordedCallError("x"), "ERR_UNRECORDED_CALL"),
        (OverBudgetError(1, 0), "ERR_OVER_BUDGET"),
    ],
)
def test_the_printed_codes_are_kept(error: AgentFootprintError, code: str) -> None:
    assert error.code == code


def test_at_most_three_names_are_offered_and_the_rest_is_counted() -> None:
    error = UnknownSourceError("zzz", ["a", "b", "c", "d", "e"])

    assert error.fix == "Removable: a, b, c and 2 more."
    assert error.removable == ("a", "b", "c", "d", "e")


def test_steps_near_the_one_asked_for_are_offered_in_the_order_of_the_run() -> None:
    error = UnknownStepError("call-llm#41", [f"call-llm#{i}" for i in range(0, 100, 10)])

    assert error.fix == "Use one of call-llm#30, call-llm#40, call-llm#50."


def test_an_unknown_stage_is_answered_with_names_like_it() -> None:
    assert UnknownStepError("call-lm#4", ["seed#0", "call-llm#4"]).fix == "Use one of call-llm#4."
    assert UnknownStepError("x", []).fix == "The run committed no step."


def test_nothing_removable_is_said_plainly() -> None:
    assert UnknownSourceError("x", []).fix == "This run has no removable source."
    assert NothingToRemoveError().fix == "Name one."


def test_names_are_compared_without_case() -> None:
    assert nearest("VIP", ["style", "vip"]) == ["vip"]
