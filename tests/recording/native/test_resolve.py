"""Tests of agentfootprint.recording.native.resolve."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.recording import UnsupportedRecordingFormatError
from agentfootprint.recording.native.rowlog import RowLog
from agentfootprint.recording.native.runlog import load_rows
from agentfootprint.trace import thaw
from tests.recording.runs import agent_recording

STEP = {"stage": 0, "ops": [["k", "set"]]}


def log(*rows: list[Any]) -> RowLog:
    """A run log whose chart is an agent's and whose rows are these, from line 1 on."""
    header = dict(agent_recording(1).native_rows()[0])
    header["rows"] = 1 + len(rows)
    return load_rows([header, *rows], "run.json")[0]


def test_a_literal_is_the_object_under_it() -> None:
    found = log(["d", STEP], ["x", 0, 1, {"$lit": {"$at": [1, {"$lit": {"$fn": "x", "of": 2}}]}}])

    assert thaw(found.values.value(2, 0)) == {"$at": [1, {"$fn": "x", "of": 2}]}


def test_a_value_that_is_derived_in_an_unknown_way_refuses_only_the_question_that_needs_it() -> None:
    """01b LIN-12."""
    found = log(["d", STEP], ["x", 0, 1, {"$fn": "magic/9", "of": 1}], ["x", 0, 1, [1, 2]])

    assert thaw(found.values.value(3, 0)) == [1, 2]
    with pytest.raises(UnsupportedRecordingFormatError, match=r"'magic/9'.*newer version") as caught:
        found.values.value(2, 0)
    assert caught.value.code == "ERR_UNKNOWN_DERIVED_VALUE"


@pytest.mark.parametrize("address", [[9, 0], [2, 0], [2, 5], [3, 0, "x"], [3, 0, 7], ["x", 0], [3], []])
def test_a_reference_that_leads_nowhere_is_refused_naming_the_line(address: list[Any]) -> None:
    found = log(["d", STEP], ["x", 0, 1, {"$at": address}], ["x", 0, 1, [1, 2]])

    with pytest.raises(UnsupportedRecordingFormatError, match=r"Line \d+ of the recording refers to"):
        found.values.value(2, 0)


def test_references_in_a_circle_are_refused() -> None:
    found = log(["d", STEP], ["x", 0, 1, {"$at": [3, 0]}], ["x", 0, 1, [{"$at": [2, 0]}]])

    with pytest.raises(UnsupportedRecordingFormatError, match=r"refers to"):
        found.values.value(2, 0)


def test_a_long_chain_of_references_needs_no_recursion() -> None:
    rows = [["d", STEP], ["x", 0, 1, [1]], *(["x", 0, 1, [{"$at": [line, 0]}]] for line in range(2, 3000))]

    value = log(*rows).values.value(3000, 0)

    for _ in range(2998):
        value = value[0]
    assert thaw(value) == [1]
