"""The vectors of the area `agent-loop` that are about texts: results, keys, hashes and cuts."""

from __future__ import annotations

import pytest

from agentfootprint.tools import repeated_call_key, result_text
from agentfootprint.trace import fnv1a, freeze, truncate_utf16
from tests.vectors.harness import Case, assert_same, load

LOOP = load("agent-loop")


@pytest.mark.parametrize("case", LOOP.cases("result-text"))
def test_result_text(case: Case) -> None:
    assert result_text(freeze(case.input)) == case.expected


@pytest.mark.parametrize("case", LOOP.cases("repeated-call-key"))
def test_repeated_call_key(case: Case) -> None:
    given = case.input

    key = repeated_call_key(given["tool"], given["args"], given["result"], given.get("mode", "result"))

    assert_same(key, case.expected)


@pytest.mark.parametrize("case", LOOP.cases("fnv1a"))
def test_fnv1a(case: Case) -> None:
    assert fnv1a(case.input) == case.expected


@pytest.mark.parametrize("case", LOOP.cases("truncate-80"))
def test_truncate_80(case: Case) -> None:
    assert truncate_utf16(case.input["text"], case.input["limit"]) == case.expected
