"""Tests of agentfootprint.recording.derived."""

from __future__ import annotations

import pickle
from typing import Any

from agentfootprint.events import ContextInjected
from agentfootprint.llm import InjectedBy, LLMMessage
from agentfootprint.recording import MessageRows, carried_over, fresh_rows
from agentfootprint.recording.derived import Totals, composed_slot, remembering_rows
from agentfootprint.trace import FrozenList, freeze, thaw
from tests.recording.runs import planted

WINDOW = [
    LLMMessage("user", "Should order A-1001 be refunded?"),
    LLMMessage("assistant", ""),
    LLMMessage("tool", "Order A-1001: purchased 47 days ago, price $480, category electronics.", tool_call_id="t1"),
]


def rows_of_the_reference() -> list[dict[str, Any]]:
    events = [event for event in planted()["events"] if event["meta"]["runtimeStageId"] == "sf-messages/compose#32"]
    return [event["payload"] for event in events if event["type"].endswith("injected")]


def test_the_rows_of_a_window_are_those_of_the_reference() -> None:
    rows = MessageRows(freeze(WINDOW))

    assert [thaw(row) for row in rows] == rows_of_the_reference()


def test_rows_of_a_window_that_was_read_from_a_file_are_the_same() -> None:
    assert list(MessageRows(freeze(thaw(freeze(WINDOW))))) == list(MessageRows(freeze(WINDOW)))


def test_a_message_that_a_piece_delivered_says_so() -> None:
    for injected in (InjectedBy("menu", "skill", 2), {"injectionId": "menu", "flavor": "skill"}):
        message = LLMMessage("user", "hi", injected_by=injected) if isinstance(injected, InjectedBy) else None
        window = freeze([message or {"role": "user", "content": "hi", "injectedBy": injected}])

        row = MessageRows(window)[0]

        assert (row.source, row.source_id, row.reason) == ("skill", "menu", "delivered by skill 'menu'")


def test_only_the_last_message_is_the_latest() -> None:
    rows = MessageRows(freeze(WINDOW))

    assert [row.as_recency for row in rows] == ["earlier", "earlier", "latest"]
    assert len(rows) == 3
    assert rows[-1].position == 2


def test_rows_pickle_as_a_plain_list() -> None:
    """01b trap 9."""
    rows = MessageRows(freeze(WINDOW))

    assert pickle.loads(pickle.dumps(rows)) == rows


def test_fresh_rows_are_those_that_the_last_pass_did_not_have() -> None:
    window = freeze(WINDOW)
    before, after = MessageRows(window[:1]), MessageRows(window)

    assert fresh_rows(None, before) == list(before)
    assert [row.position for row in fresh_rows(before, after)] == [1, 2]
    assert fresh_rows(after, after) == []
    assert carried_over(before, after, "step") == (1, "step")
    assert carried_over(None, after, "step") is None


def test_after_a_cut_all_rows_are_fresh() -> None:
    """01b trap 4: positions and hashes shift."""
    window = freeze(WINDOW)

    told = fresh_rows(MessageRows(window), MessageRows(window.tail(1)))

    assert [row.position for row in told] == [0, 1]


def row(text: str, hashed: str | None = None) -> ContextInjected:
    return ContextInjected(
        content_summary=text, content_hash=hashed or text, slot="tools", source="fact", reason="r", raw_content=text
    )


def test_a_content_is_announced_once_in_a_pass() -> None:
    rows = freeze([row("a"), row("b"), row("a")])

    assert fresh_rows(None, rows) == [rows[0], rows[1]]
    assert fresh_rows(freeze([row("b")]), rows) == [rows[0]]


def test_totals_count_utf_16_units_by_source_and_go_on_from_the_window_before() -> None:
    totals, window = Totals(), FrozenList([], 0)
    for message in (*WINDOW, LLMMessage("user", "😀")):
        window = window.append(message)

        assert totals.of(MessageRows(window)) == Totals().of(MessageRows(freeze(thaw(window))))

    used, sources = totals.of(MessageRows(window))
    assert used == 104
    assert thaw(sources)["user"] == {"chars": 34, "count": 2}
    assert [*sources] == ["user", "assistant", "tool-result"]
    assert Totals().of(freeze([row("ab"), row("c")])) == (3, freeze({"fact": {"chars": 3, "count": 2}}))


def test_a_composed_slot_is_that_of_the_reference() -> None:
    event = next(
        event
        for event in planted()["events"]
        if event["meta"]["runtimeStageId"] == "sf-messages/compose#32" and event["type"].endswith("slot_composed")
    )

    found = composed_slot("messages", Totals().of(MessageRows(freeze(WINDOW))), 10_000, 2)

    assert thaw(found) == event["payload"]


def test_rows_are_made_once_while_they_are_remembered() -> None:
    window = freeze(WINDOW)

    with remembering_rows():
        first, again = MessageRows(window)[0], MessageRows(window[:2])[0]

    assert first is again
    assert MessageRows(window)[0] is not first
