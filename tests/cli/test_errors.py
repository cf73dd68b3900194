"""Tests of agentfootprint.cli.errors."""

from __future__ import annotations

import copy
import pickle

import pytest

from agentfootprint.cli import errors
from agentfootprint.cli.errors import (
    AddressError,
    AgentFailedError,
    AgentNotFoundError,
    CliError,
    FileAccessError,
    NotACallError,
    SpendingRefusedError,
    UnknownIterationError,
    UsageError,
)

EXAMPLES = [
    UsageError("--of is given twice.", fix="Name one source."),
    AddressError("127.0.0.1:80 can't be listened at: permission denied.", where="127.0.0.1:80"),
    FileAccessError("There is no file 'a'.", fix="Check the path.", where="a"),
    AgentNotFoundError("There is no module 'a' here.", fix="Go there."),
    AgentFailedError("ValueError", "refunds.py:3"),
    NotACallError("seed#0", ["call-llm#18"], where="run.json"),
    SpendingRefusedError("The plan is not priced.", fix="Add --yes."),
    UnknownIterationError("9", [2, 1]),
]


def test_every_refusal_has_an_example_here() -> None:
    assert {type(error).__name__ for error in EXAMPLES} == {*errors.__all__} - {"CliError"}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_a_refusal_has_a_code_and_a_fix_and_survives_a_process(error: CliError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(again), again.fix, again.code) == (str(error), error.fix, error.code)
    assert error.code.startswith("ERR_")
    assert error.problem.endswith(".")
    assert error.fix.endswith(".")


def test_a_run_without_a_model_call_has_no_iteration() -> None:
    assert UnknownIterationError("1", []).fix == "It made no model call."
