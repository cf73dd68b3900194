"""Tests of agentfootprint.recording.redacting.covering."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.events import (
    Event,
    LLMEnd,
    RunFacts,
    ThinkingDelta,
    ThinkingParseFailed,
    Token,
    TokenCounts,
    ToolEnd,
    ToolStart,
    UnknownEvent,
)
from agentfootprint.flow import RedactionPolicy
from agentfootprint.llm import LLMMessage, ToolCall
from agentfootprint.recording import Cover, MessageRows
from agentfootprint.trace import FrozenDict, FrozenList, HiddenField, Value, Veil, freeze, thaw

RUN = RunFacts(run_id="run-1700000000000-1", started_at_ms=1_700_000_000_000, principal="dana", tenant="acme")


def cover(**names: Any) -> Cover:
    return Cover(Veil(RedactionPolicy(**names)))


def test_a_name_is_hidden_at_any_depth_and_what_hides_nothing_is_the_same_object() -> None:
    given_ = freeze({"user": {"ssn": "1", "pets": [{"ssn": "2", "name": "Rex"}]}, "rest": {"a": [1, 2]}})

    shown = cover(keys=["ssn"]).of(given_)

    assert thaw(shown) == {
        "user": {"ssn": "[REDACTED]", "pets": [{"ssn": "[REDACTED]", "name": "Rex"}]},
        "rest": {"a": [1, 2]},
    }
    assert shown["rest"] is given_["rest"]
    assert cover(keys=["iban"]).of(given_) is given_


def test_a_text_that_is_json_is_looked_into() -> None:
    shown = cover(keys=["card"]).of('{"card":"4111","ok":true}')

    assert json.loads(shown) == {"card": "[REDACTED]", "ok": True}


@pytest.mark.parametrize(
    "text",
    [
        ' {"card": "4111"}\n\n[identical call]',
        '```json\n{"a": [{"card": "4111"}]}\n```',
        '[{"card":"4111"}, {"b": "{\\"card\\": \\"4111\\"}"}]',
        'if (x) { y(); } said {"card": "4111"} and {"card": {"n": "4111"}}.',
    ],
)
def test_json_is_found_wherever_it_stands_in_a_text(text: str) -> None:
    shown = cover(keys=["card"]).of(text)

    assert "4111" not in shown
    assert "[REDACTED]" in shown
    assert cover(keys=["other"]).of(text) is text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"a": {"card": 1}, "card": "41', '{"a": {"card":"[REDACTED]"}, [REDACTED]'),
        ('Said: {"a": 1, "card": "4111", "b": "so m…', 'Said: {"a": 1, [REDACTED]'),
        ('{"a": "{\\"card\\": \\"4111\\"', '{"a": "{[REDACTED]'),
        ('{"user": {"pin": 4111, "b": "', "{[REDACTED]"),
        ('{"a": "41', '{"a": "41'),
    ],
)
def test_of_an_object_that_was_cut_off_nothing_is_seen_from_the_first_hidden_name_on(text: str, shown: str) -> None:
    assert cover(keys=["card"], fields={"user": ["pin"]}).of(text) == shown


@pytest.mark.parametrize("text", ['{"a":' * 3000, '{"a":[' * 400 + "x" * 9000, "{" * 50_000, '{"a":"' * 20_000])
def test_a_text_that_takes_too_long_to_search_is_hidden_or_left_and_no_run_waits(text: str) -> None:
    assert cover(keys=["card"]).of(text) in (text, "[REDACTED]")


def test_pieces_of_an_answer_in_json_are_hidden_where_a_name_is_and_pieces_of_prose_are_not() -> None:
    shown = cover(keys=["card"])

    def told(*pieces: str) -> list[str]:
        tokens = [Token(iteration=1, token_index=place, content=piece) for place, piece in enumerate(pieces)]
        return [shown.event(Event(each, "call-llm#18", 0, RUN), "call-llm#18").payload.content for each in tokens]

    assert told(" ", '{"car', 'd":"4111"}') == [" ", "[REDACTED]", "[REDACTED]"]
    assert told("Paid ", "{4111}") == ["Paid ", "{4111}"]
    assert told("It is:\n```json\n", "{", '"card":', '"4111"', "}\n```") == ["It is:\n```json\n", *["[REDACTED]"] * 4]


def test_what_others_raised_is_withheld_where_a_name_is_hidden() -> None:
    told = ThinkingParseFailed(provider_name="p", subflow_id="s", error="no card 4111", error_name="E", iteration=1)
    event = Event(told, "call-llm#18", 0, RUN)

    hidden = cover(keys=["card"]).event(event, "call-llm#18").payload
    open_ = cover(emit_patterns=["^app"]).event(event, "call-llm#18").payload

    assert (hidden.error, hidden.error_name) == ("[REDACTED]", "E")
    assert open_.error == "no card 4111"


@pytest.mark.parametrize("kind", [Token, ThinkingDelta])
def test_pieces_of_json_are_told_apart_by_who_speaks_however_they_mix(kind: Any) -> None:
    shown = cover(keys=["card"])

    def told(where: str, place: int, content: str) -> str:
        piece: Any = kind(iteration=1, token_index=place, content=content)
        return shown.event(Event(piece, where, 0, RUN), where).payload.content

    begun = [told("a/call-llm#1", 0, '{"card":'), told("b/call-llm#2", 0, "I see"), told("a/call-llm#1", 1, '"41')]
    went_on = [
        told("b/call-llm#2", 1, ' {"card":'),
        told("a/call-llm#1", 2, '11"}'),
        told("b/call-llm#2", 2, '"4111"}'),
    ]

    assert begun == ["[REDACTED]", "I see", "[REDACTED]"]
    assert went_on == ["[REDACTED]"] * 3


@pytest.mark.parametrize("text", ["{card: 4111}", "[1, 2]", "{", "[card]", '{"a":1}', "card 4111", ""])
def test_a_text_that_is_no_json_or_names_nothing_stays(text: str) -> None:
    assert cover(keys=["card"]).of(text) is text


def test_a_record_stays_one_and_its_address_and_measures_stay() -> None:
    end = ToolEnd(tool_call_id="c1", result={"runId": "r"}, duration_ms=12, error=True)

    shown = cover(patterns=["."]).of(end)

    assert isinstance(shown, ToolEnd)
    assert (shown.tool_call_id, shown.result) == ("[REDACTED]", "[REDACTED]")
    assert (shown.duration_ms, shown.error) == (12, True)


def test_the_providers_id_is_hidden_under_each_of_its_names() -> None:
    message = LLMMessage("assistant", "", tool_calls=(ToolCall("c1", "pay", {"id": "c1"}),))
    answer = LLMMessage("tool", "ok", tool_call_id="c1", tool_name="pay")

    shown = cover(keys=["toolCallId"]).of(freeze([message, answer, {"pausedToolCallId": "c1"}]))

    assert shown[0].tool_calls[0].id == shown[1].tool_call_id == shown[2]["pausedToolCallId"] == "[REDACTED]"
    assert shown[0].tool_calls[0].args["id"] == "c1"  # an argument of that name is something else


def test_records_that_are_hidden_as_a_whole_keep_their_shape() -> None:
    call = ToolCall("c1", "pay", {"card": "4111"})
    message = LLMMessage("assistant", "Let me pay.", tool_calls=(call,))

    shown = cover(keys=["toolCalls"]).of(message)
    held = cover(keys=["history"]).held(FrozenList([message], 1), True)

    assert (shown.content, len(shown.tool_calls), shown.tool_calls[0].args) == ("Let me pay.", 1, "[REDACTED]")
    assert (held[0].role, held[0].content, held[0].tool_calls[0].name) == ("assistant", "[REDACTED]", "[REDACTED]")


def test_a_key_of_the_state_is_the_logs_word_and_its_numbers_stay() -> None:
    shown = cover(keys=["userMessage", "iteration"])

    assert shown.held("Hi", True) == "REDACTED"
    assert shown.held(3, True) == 3
    assert shown.held(freeze({"pin": 1, "zip": {"code": 2}}), (HiddenField.of("zip.code"),)) == {
        "pin": 1,
        "zip": {"code": "[REDACTED]"},
    }


def test_what_is_shown_of_a_list_that_grows_shares_with_what_was_shown_of_it_before() -> None:
    shown = cover(keys=["card"])
    short = FrozenList([freeze({"a": 1})], 1)
    longer = short.append(freeze({"card": "4111"}))

    before, after = shown.held(short, ()), shown.held(longer, ())

    assert after.starts_with(before)
    assert shown.held(longer, ()) is after
    assert thaw(shown.held(short, ())) == [{"a": 1}]
    assert thaw(after) == [{"a": 1}, {"card": "[REDACTED]"}]


def test_covering_a_list_that_grows_costs_what_it_grows_by() -> None:
    asked: list[str] = []

    class Counting(RedactionPolicy):
        def hides(self, key: str) -> bool:
            asked.append(key)
            return super().hides(key)

    shown = Cover(Veil(Counting(keys=["card"])))
    window, counts = FrozenList([], 0), list[int]()
    for number in range(200):
        window = window.append(LLMMessage("user", f"message {number}"))
        shown.held(window, ())
        shown.of(MessageRows(window))
        counts.append(len(asked))
        asked.clear()

    assert max(counts[10:]) == min(counts[10:])


def test_an_event_is_hidden_whole_by_its_name_or_in_places_and_stays_what_it_is() -> None:
    start = Event(ToolStart(tool_name="pay", tool_call_id="c1", args={"card": "4111"}), "tool-calls#22", 5, RUN)

    whole = cover(emit_patterns=["tool_start$"]).event(start, "tool-calls#22")
    places = cover(event_fields={start.type: ["args.card", "gone.x"]}).event(start, "tool-calls#22")

    assert isinstance(whole, UnknownEvent)
    assert (whole.type, whole.payload, whole.meta) == (start.type, "[REDACTED]", start.meta)
    assert isinstance(places.payload, ToolStart)
    assert (thaw(places.payload.args), places.payload.tool_name) == ({"card": "[REDACTED]"}, "pay")


def test_measures_of_an_event_stay_whatever_place_is_named() -> None:
    end = LLMEnd(
        iteration=3,
        content="Hi",
        tool_call_count=0,
        usage=TokenCounts(input=7, output=2),
        stop_reason="stop",
        duration_ms=4,
    )
    event = Event(end, "call-llm#18", 5, RUN)

    shown = cover(event_fields={event.type: ["*"]}).event(event, "call-llm#18").payload

    assert (shown.iteration, shown.tool_call_count, shown.duration_ms) == (3, 0, 4)
    assert shown.content == "[REDACTED]"


def test_whose_run_it_is_can_be_hidden_and_which_run_it_is_can_not() -> None:
    start = Event(ToolStart(tool_name="pay", tool_call_id="c1", args={}), "tool-calls#22", 5, RUN)

    meta = cover(keys=["tenant", "runId", "sessionId"]).event(start, "tool-calls#22").meta

    assert (meta.principal, meta.tenant, meta.run_id) == ("dana", "[REDACTED]", RUN.run_id)


def test_a_policy_says_its_own_word() -> None:
    assert cover(keys=["card"], placeholder="***").of(FrozenDict({"card": "4111"}))["card"] == "***"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=20,
)


def blanked(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: "[REDACTED]" if key == "a" else blanked(item) for key, item in fields.items()}
    return [blanked(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


@given(JSON, JSON)
def test_covering_is_hiding_by_name_and_done_once(first: Any, second: Any) -> None:
    shown = cover(keys=["a"])
    values: list[Value] = [freeze(first), freeze(second), freeze([first, second])]

    got = [shown.of(value) for value in (*values, *values)]

    assert [thaw(each) for each in got] == [blanked(each) for each in (first, second, [first, second])] * 2
    assert all(one is other for one, other in zip(got[:3], got[3:], strict=True) if isinstance(one, FrozenDict))
    assert [shown.of(each) for each in got] == got
