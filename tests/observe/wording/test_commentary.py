"""Tests of agentfootprint.observe.wording.commentary."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agentfootprint.observe import (
    DEFAULT_COMMENTARY,
    comment_on,
    commentary_messages,
    extract_commentary_vars,
    select_commentary_key,
)
from tests.observe.made import desk, event, tool_end, tool_start

NEVER = {"cause": "halt"}


def test_a_run_is_told_in_sentences() -> None:
    events = desk(turns=1).run_sync("Weather?").recording.events

    said = [
        sentence
        for each in events
        if not each.type.endswith("token") and (sentence := comment_on(each, app_name="Desk"))
    ]

    assert said == [
        "Desk is asked: Weather?",
        "Desk asks its model.",
        "The model wants to use tools.",
        "Desk calls weather.",
        "The result is back.",
        "Desk asks its model again, with what came back.",
        "The model has answered.",
    ]


def test_a_call_that_was_never_dispatched_gets_one_sentence_of_its_own() -> None:
    start, end = tool_start("c1", "refund", not_dispatched=NEVER), tool_end("c1", not_dispatched=NEVER)

    assert (select_commentary_key(start), select_commentary_key(end)) == ("stream.tool_start.notDispatched", None)
    assert comment_on(start) == "refund was settled without being called."


def test_an_agent_in_a_composition_is_called_by_its_place_there() -> None:
    inside = tool_start("c1", "t", at="step-writer/sf-messages/compose#4")

    assert extract_commentary_vars(inside, app_name="Desk")["agentName"] == "writer"


CASES: list[tuple[str, dict[str, Any], str]] = [
    ("tools.result_refused", {"toolName": "t", "sizeChars": 9, "maxChars": 5, "narrowBy": ["day"]}, "narrowed by day."),
    ("tools.result_refused", {"toolName": "t", "sizeChars": 9, "maxChars": 5, "narrowBy": ["a", "b"]}, "any of a, b."),
    ("artifacts.minted", {"kind": "csv", "bytes": 7, "tool": "t", "label": "Sales"}, "t put aside “Sales” (7 bytes)."),
    ("artifacts.minted", {"kind": "csv", "bytes": 7, "tool": "t", "parentRefs": ["x"]}, "made from 1 other."),
    ("artifacts.resolved", {"via": "get", "kind": "csv", "bytes": 7}, "The application read an artifact of kind csv"),
    ("artifacts.expired", {"reason": "ttl", "kind": "csv", "bytes": 7}, "is past its time."),
    ("artifacts.expired", {"reason": "max-bytes", "kind": "csv", "bytes": 7}, "had to make room."),
    ("cost.limit_hit", {"kind": "max_cost", "limit": 1, "actual": 2.5, "action": "abort"}, "2.5 of 1); the run stops."),
    ("cost.limit_hit", {"kind": "max_cost", "limit": 1, "actual": 2, "action": "warn"}, "the run goes on."),
    ("skill.turn_routed", {"by": "none"}, "The turn begins without a skill."),
    ("skill.turn_routed", {"by": "none", "droppedResume": {"id": "old", "reason": "unknown-skill"}}, "kept skill old"),
    ("skill.turn_routed", {"by": "none", "scores": [{"id": "x", "score": 1, "relevance": 1}]}, "none fits"),
    ("skill.turn_routed", {"by": "entry", "to": "x", "witness": {"text": "refund"}}, "because of the words “refund”."),
    ("tools.effect", {"kind": "require-instruction", "outcome": "refused", "refusalReason": "no"}, "because no."),
    ("pause.request", {"reason": "OK?", "questionPayload": {}}, "A person is asked: OK?"),
    ("composition.enter", {"kind": "Graph", "id": "g", "name": "G", "childCount": 2}, "G begins."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "payload", "said"), CASES, ids=[f"{name}-{said[:12]}" for name, _, said in CASES])
def test_a_clause_is_said_when_the_event_has_it(name: str, payload: dict[str, Any], said: str) -> None:
    sentence = comment_on(event(name, payload))

    assert sentence is not None
    assert said in sentence
    assert comment_on(event(name, payload), templates=commentary_messages("fr"))


def test_a_skill_chosen_from_a_menu_off_it_or_kept_is_told_apart() -> None:
    def moved(**move: Any) -> str | None:
        common: dict[str, Any] = {
            "iteration": 1,
            "activeCount": 0,
            "skippedCount": 0,
            "evaluatedTotal": 0,
            "activeIds": [],
        }
        rest: dict[str, Any] = {"skippedDetails": [], "triggerKindCounts": {}, "skillCatalog": [], "cursorMove": move}
        return comment_on(event("context.evaluated", {**common, **rest}))

    assert moved(by="model-pick", to="b", offered=["a", "b"]) == "The model chose the skill b from a menu of 2."
    assert (
        moved(by="model-pick", to="b", declinedOffer=True) == "The model chose the skill b, which was not on the menu."
    )
    assert (moved(by="stay", to="b") or "").endswith(", and stays where it is.")
    assert moved(by="none") is None


def test_a_sentence_asks_for_nothing_that_no_event_gives() -> None:
    known = {name for text in DEFAULT_COMMENTARY.values() for name in re.findall(r"\{\{(\w+)\}\}", text)}

    given = set(extract_commentary_vars(event("skill.turn_routed", {"by": "menu"})))

    assert {"tieA", "tieAShare", "candidates"} <= given & known
