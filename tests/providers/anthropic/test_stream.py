"""Tests of agentfootprint.providers.anthropic.stream."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.llm import LLMChunk, LLMResponse, ProviderStreamError, WireToolManifest, whole_text
from agentfootprint.providers.anthropic.response import Reader
from agentfootprint.providers.anthropic.stream import Assembly

Event = dict[str, Any]


def start(index: int, **block: Any) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def end(reason: str | None = "end_turn", **usage: Any) -> list[Event]:
    return [{"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}, {"type": "message_stop"}]


TEXT = start(0, type="text", text="")
CALL = start(0, type="tool_use", id="c", name="refund", input={})


def fed(*events: Event) -> list[LLMChunk]:
    assembly = Assembly(Reader(), WireToolManifest(()), "req_1")
    return [chunk for event in events for chunk in assembly.feed(event.get("type"), json.dumps(event))]


def answer(*events: Event) -> LLMResponse:
    response = fed(*events)[-1].response
    assert response is not None
    return response


@given(st.lists(st.text(st.sampled_from("aé🌍\ud83c\udf0d\n"), max_size=4), max_size=6))
def test_the_pieces_add_up_to_the_answer_also_where_a_character_was_split(pieces: list[str]) -> None:
    *chunks, last = fed(TEXT, *(delta(0, "text_delta", text=piece) for piece in pieces), stop(0), *end())

    assert last.response is not None
    assert "".join(chunk.content for chunk in chunks) == last.response.content == whole_text("".join(pieces))
    assert all(chunk.content for chunk in chunks)
    assert [chunk.token_index for chunk in (*chunks, last)] == list(range(len(chunks) + 1))


@given(st.lists(st.integers(1, 40), max_size=6), st.permutations([0, 1, 2]))
def test_calls_stand_in_the_models_order_however_their_fragments_arrive(cuts: list[int], order: list[int]) -> None:
    texts = {index: json.dumps({"of": index, "text": "{é}"}) for index in range(3)}
    events = [start(index, type="tool_use", id=f"c{index}", name="refund", input={}) for index in order]
    for low, high in zip([0, *sorted(cuts)], [*sorted(cuts), 99], strict=True):
        events += [delta(index, "input_json_delta", partial_json=texts[index][low:high]) for index in reversed(order)]
    events += [stop(index) for index in order]

    calls = answer(*events, *end("tool_use")).tool_calls

    assert [(call.id, call.args["of"]) for call in calls] == [("c0", 0), ("c1", 1), ("c2", 2)]


def test_a_server_that_uses_one_index_for_all_blocks_mixes_nothing() -> None:
    second = start(0, type="tool_use", id="d", name="refund", input={})
    events = [CALL, delta(0, "input_json_delta", partial_json='{"a": 1}'), stop(0), second, stop(0)]

    assert [(call.id, dict(call.args)) for call in answer(*events, *end("tool_use")).tool_calls] == [
        ("c", {"a": 1}),
        ("d", {}),
    ]
    with pytest.raises(ProviderStreamError):
        fed(CALL, second, stop(0), *end("tool_use"))


def test_arguments_that_came_with_the_opening_of_a_block_count_when_no_fragment_follows() -> None:
    opened = start(0, type="tool_use", id="c", name="refund", input={"a": 1})

    assert dict(answer(opened, stop(0), *end("tool_use")).tool_calls[0].args) == {"a": 1}


def test_a_call_that_was_never_closed_is_lost_only_in_a_reply_that_was_cut() -> None:
    piece = delta(0, "input_json_delta", partial_json='{"a": 1}')

    assert answer(CALL, piece, *end("max_tokens")).tool_calls == ()
    with pytest.raises(ProviderStreamError, match="within a call"):
        fed(CALL, piece, *end("tool_use"))


@pytest.mark.parametrize(
    "events",
    [
        [delta(0, "text_delta", text="x")],
        [TEXT, stop(0), delta(0, "text_delta", text="x")],
        [TEXT, stop(0), stop(0)],
        [TEXT, delta(1, "text_delta", text="x")],
        [CALL, delta(0, "text_delta", text="x")],
        [TEXT, delta(0, "thinking_delta", thinking="x")],
        [{"type": "content_block_start", "content_block": {"type": "text"}}],
        [TEXT, stop(0), *end(None)],
        [*end("tool_use")],
    ],
)
def test_a_stream_that_contradicts_itself_is_refused(events: list[Event]) -> None:
    with pytest.raises(ProviderStreamError) as caught:
        fed(*events)

    assert (caught.value.retryable, caught.value.request_id) == (True, "req_1")


@pytest.mark.parametrize("data", ["", "{", "[]", "null", '"text"', "[" * 100_000])
def test_an_event_that_is_no_object_is_refused_without_quoting_it(data: str) -> None:
    with pytest.raises(ProviderStreamError, match="no JSON object") as caught:
        list(Assembly(Reader(), WireToolManifest(())).feed("message_start", data))

    assert caught.value.__cause__ is None


def test_of_counts_that_are_repeated_the_last_one_is_right() -> None:
    opening = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3, "output_tokens": 1}}}

    usage = answer(opening, *end(input_tokens=4, output_tokens=9, cache_read_input_tokens=2)).usage

    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (4, 9, 2, None)


def test_a_delta_of_a_kind_of_tomorrow_is_passed_over() -> None:
    assert answer(TEXT, delta(0, "citations_delta", citation={}), delta(0, "text_delta", text="x"), stop(0), *end())
