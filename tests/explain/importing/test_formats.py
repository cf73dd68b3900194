"""Tests of agentfootprint.explain.importing.formats."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.explain.importing import AlreadyRecordingError, UnknownTraceError
from agentfootprint.explain.importing.formats import recognise
from tests.explain.importing.logs import sample


def test_a_log_is_known_by_its_content() -> None:
    kind, known = recognise(sample(), "anything.txt")

    assert kind.name == "Who&When failure log"
    assert known == "history[].content and mistake_step"


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ({"spans": [], "resource": {}}, "an object with the keys 'spans', 'resource'"),
        (dict.fromkeys("abcdefg", 1), "an object with the keys 'a', 'b', 'c', 'd', 'e' and 2 more"),
        ({"x" * 100: 1}, f"an object with the keys '{'x' * 40}...'"),
        ({}, "an object without keys"),
        ([1, 2], "a list of 2"),
        ("text", "one value of type str"),
        (None, "one value of type NoneType"),
        ({"format": "agentfootprint.why/1"}, "a document of the format 'agentfootprint.why/1'"),
    ],
)
def test_an_unknown_document_is_refused_with_what_was_found_and_what_was_looked_for(document: Any, found: str) -> None:
    with pytest.raises(UnknownTraceError) as caught:
        recognise(document, "x.json")

    assert str(caught.value).startswith(f"x.json is no failure log of a known format: it holds {found}.")
    assert 'an object with "history"' in str(caught.value.fix)
    assert caught.value.code == "ERR_UNKNOWN_TRACE"


@pytest.mark.parametrize(
    "document",
    [
        {"snapshot": {}, "events": []},
        {"format": "agentfootprint.recording.v1", "recording": {}},
        {"format": "agentfootprint.recording.native/1"},
        {"format": "agentfootprint.runlog/1"},
    ],
)
def test_a_recording_of_ours_is_told_that_it_is_one(document: dict[str, Any]) -> None:
    with pytest.raises(AlreadyRecordingError, match=r"run\.json already is a recording\.") as caught:
        recognise(document, "run.json")

    assert "agentfootprint why run.json" in str(caught.value.fix)
