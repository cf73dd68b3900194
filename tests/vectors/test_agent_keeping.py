"""Tests of `vectors/agent-loop` about what a run leaves: conversations, where it failed, whether to try again."""

from __future__ import annotations

import pytest

from agentfootprint import Checkpoint
from agentfootprint.agent import CheckpointFormatError, guess_phase
from agentfootprint.agent.keeping.recovering import why_not
from tests.vectors.harness import Case, assert_same, load

LOOP = load("agent-loop")


@pytest.mark.parametrize("case", LOOP.cases("checkpoint-validation"))
def test_checkpoint_validation(case: Case) -> None:
    if "error" in case.expected:
        with pytest.raises(CheckpointFormatError) as refused:
            Checkpoint.from_wire(case.input)
        assert refused.value.field
    else:
        assert_same(Checkpoint.from_wire(case.input).to_wire(), case.input)


@pytest.mark.parametrize("case", LOOP.cases("failure-phase"))
def test_failure_phase(case: Case) -> None:
    assert guess_phase(case.input) == case.expected


@pytest.mark.parametrize("case", LOOP.cases("can-resume"))
def test_can_resume(case: Case) -> None:
    given = {"$metadata" if key == "metadata" else key: value for key, value in case.input.items()}
    if "metadata" in case.input:
        given["$metadata"] = {"httpStatusCode": case.input["metadata"]}

    assert (why_not(given) is None) is case.expected
