"""Tests of the call sequence: `extract-sequence` of `vectors/agent-loop` and `extract_sequence` of `vectors/tools`."""

from __future__ import annotations

import pytest

from agentfootprint.llm import messages_from_wire
from agentfootprint.security import SequenceFold, extract_sequence
from agentfootprint.trace import FrozenList, thaw
from tests.vectors.harness import Case, assert_same, load

CASES = [*load("agent-loop").cases("extract-sequence"), *load("tools").cases("extract_sequence")]


@pytest.mark.parametrize("case", CASES)
def test_extract_sequence(case: Case) -> None:
    history = messages_from_wire(case.input["history"])
    providers = case.input.get("providers") or case.input.get("providerIds")

    sequence = extract_sequence(
        history, case.input["iteration"], resolve_provider_id=None if providers is None else providers.get
    )

    assert_same(thaw(sequence), case.expected)


@pytest.mark.parametrize("case", CASES)
def test_the_fold_gives_the_same_message_by_message(case: Case) -> None:
    providers = case.input.get("providers") or case.input.get("providerIds")
    fold = SequenceFold(resolve_provider_id=None if providers is None else providers.get)
    history = FrozenList([], 0)

    for message in messages_from_wire(case.input["history"]):
        history = history.append(message)
        fold.advance(history)
        fold.entries(case.input["iteration"])

    assert_same(thaw(fold.entries(case.input["iteration"])), case.expected)
