"""Tests of agentfootprint.testing.anthropic_wire."""

from __future__ import annotations

import json
from typing import Any, cast

import anthropic
import pytest

from agentfootprint.testing import AnthropicWire, Call, Failure, FakeVendor, Received, Reply, Wire

WIRE: Wire = AnthropicWire()
ASKED = Received(3, "POST", "/v1/messages", {}, b"", {"model": "claude", "stream": True})


def events(reply: Reply) -> list[dict[str, Any]]:
    return [json.loads(frame.split(b"data: ")[1]) for frame in WIRE.frames(reply, ASKED)]


async def test_the_vendors_own_sdk_reads_what_it_says() -> None:
    reply = Reply("Hello.", calls=[Call("look_up", {"id": "A-1"}, id="c1")], thinking="hm", signature="s")
    asked: dict[str, Any] = {"model": "claude", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}
    async with (
        FakeVendor(WIRE, [reply, reply]) as vendor,
        anthropic.AsyncAnthropic(api_key="k", base_url=vendor.base_url, max_retries=0) as client,
    ):
        whole = cast("anthropic.types.Message", await client.messages.create(**asked))
        async with client.messages.stream(**asked) as stream:
            streamed = await stream.get_final_message()

    assert whole.to_dict()["content"] == streamed.to_dict()["content"]
    assert [block.type for block in whole.content] == ["thinking", "text", "tool_use"]
    assert whole.stop_reason == streamed.stop_reason == "tool_use"


def test_a_stream_opens_fills_and_closes_each_block_and_ends_with_the_end_signal() -> None:
    kinds = [event["type"] for event in events(Reply(("a", "b")))]

    assert kinds == [
        *("message_start", "content_block_start", "content_block_delta", "content_block_delta"),
        *("content_block_stop", "message_delta", "message_stop"),
    ]


def test_parallel_calls_may_be_open_at_the_same_time() -> None:
    two = [Call("look_up", {"id": "A-1"}), Call("refund", {"id": "B-2"})]

    indexes = [event["index"] for event in events(Reply(calls=two, interleave=True)) if "index" in event]

    assert indexes == [0, 1] * 4


@pytest.mark.parametrize("pieces", [1, 3, 99])
def test_the_fragments_of_arguments_add_up(pieces: int) -> None:
    said = events(Reply(calls=[Call("look_up", {"id": "A-1"}, pieces=pieces)]))

    fragments = [event["delta"]["partial_json"] for event in said if event["type"] == "content_block_delta"]
    assert json.loads("".join(fragments)) == {"id": "A-1"}
    assert all(fragments)


def test_ids_are_numbered_given_or_empty() -> None:
    calls = [Call("a"), Call("b", id="given"), Call("c", id="")]

    content = json.loads(WIRE.whole(Reply(calls=calls), ASKED))["content"]

    assert [block["id"] for block in content] == ["toolu_3_1", "given", ""]


def test_usage_may_be_left_out() -> None:
    assert "usage" not in json.loads(WIRE.whole(Reply("x", usage={}), ASKED))
    assert not any("usage" in event or "usage" in event.get("message", {}) for event in events(Reply("x", usage={})))


def test_a_failure_has_the_vendors_type_for_its_status_or_the_given_one() -> None:
    assert json.loads(WIRE.failure(Failure(429)))["error"]["type"] == "rate_limit_error"
    assert json.loads(WIRE.failure(Failure(418)))["error"]["type"] == "api_error"
    assert b"event: error" in WIRE.failure_frame(Failure(kind="of_tomorrow"))


def test_half_of_a_surrogate_pair_goes_out_as_an_escape() -> None:
    assert b"\\ud83c" in WIRE.whole(Reply("\ud83c"), ASKED)
    assert "é".encode() in WIRE.whole(Reply("é"), ASKED)
