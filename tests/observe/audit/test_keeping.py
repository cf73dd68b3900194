"""Tests of agentfootprint.observe.audit.keeping."""

from __future__ import annotations

from typing import Any

from agentfootprint.events import Event, IterationEnd, RunFacts, UnknownEvent
from agentfootprint.observe import AuditExporter, verify_audit
from agentfootprint.trace import View
from tests.observe.audit.chains import event


def kept(payload: Any) -> Any:
    audit = AuditExporter(payload_mode="verbatim")
    audit.export(event("shop.basket.filled", payload))
    bundle = audit.bundle()
    assert verify_audit(bundle).valid
    return bundle["records"][1]["payload"]


def test_a_long_text_is_cut_and_the_cut_may_halve_a_character() -> None:
    ends_in_the_middle = "a" * 254 + "😀" + "b" * 10

    text = kept({"text": ends_in_the_middle})["text"]

    assert text == "a" * 254 + "\ud83d" + "…"


def test_a_text_that_fits_is_whole() -> None:
    assert kept({"a": "x" * 256, "b": "😀" * 128}) == {"a": "x" * 256, "b": "😀" * 128}
    assert kept({"a": "x" * 257})["a"] == "x" * 255 + "…"


def test_what_stands_too_deep_is_said_to_be_there() -> None:
    value: Any = "bottom"
    for _ in range(12):
        value = {"in": value}

    text = str(kept(value))

    assert text.count("in") == 8
    assert "[truncated: depth]" in text
    assert "bottom" not in text


def test_numbers_that_readers_disagree_about_are_what_they_become_there() -> None:
    assert kept({"a": 2**53 + 1, "b": 2.0, "c": 10**400, "d": 1e-7}) == {"a": 2**53, "b": 2, "c": None, "d": 1e-7}


class Endless(View, frozen=True, gc=False, eq=False):
    """A history that nobody can walk."""

    fn = "endless/1"

    def __len__(self) -> int:
        return 10**9


def test_a_history_is_counted_and_never_walked() -> None:
    audit = AuditExporter()

    audit.export(
        Event(
            IterationEnd(turn_index=0, iter_index=1, tool_call_count=0, history=Endless()),
            "call-llm#1",
            5,
            RunFacts(run_id="run-1-1", started_at_ms=7),
        )
    )

    assert audit.bundle()["records"][1]["payload"]["history"] == "[1000000000 messages]"


def test_a_payload_that_was_redacted_whole_is_a_record() -> None:
    audit = AuditExporter()

    audit.export(UnknownEvent("agentfootprint.stream.llm_end", "[REDACTED]", {"runId": "run-1-1"}))

    assert audit.bundle()["records"][1]["payload"] == "[REDACTED]"
    assert verify_audit(audit.bundle()).valid
