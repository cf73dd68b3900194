"""Tests of agentfootprint.testing.server."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
import pytest

from agentfootprint.testing import Failure, FakeVendor, Manner, Received, Refusal, Reply


@dataclasses.dataclass(frozen=True)
class PlainWire:
    """A vendor of one line: answers in words, in a stream one word a frame, and refuses to be asked about secrets."""

    base_path: str = "/v1"
    stream_type: str = "text/event-stream"

    def check(self, request: Received) -> Refusal | None:
        return Refusal("not that", 403) if request.body == "secret" else None

    def aside(self, request: Received) -> Mapping[str, Any] | None:
        return {"models": ["a"]} if request.method == "GET" else None

    def streams(self, request: Received) -> bool:
        return request.body == "stream"

    def whole(self, reply: Reply, request: Received) -> bytes:
        return reply.whole_text.encode()

    def frames(self, reply: Reply, request: Received) -> list[bytes]:
        return [piece.encode() + b"\n" for piece in reply.text_pieces]

    def noise(self) -> bytes:
        return b":\n"

    def failure(self, failure: Failure) -> bytes:
        return json.dumps({"error": failure.message}).encode()

    def failure_frame(self, failure: Failure) -> bytes:
        return b"failed: " + failure.message.encode() + b"\n"


async def posted(vendor: FakeVendor, body: str = "hi") -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.post(vendor.base_url, json=body, timeout=5)


async def answered(reply: Reply | Failure, body: str = "stream") -> httpx2.Response:
    async with FakeVendor(PlainWire(), [reply]) as vendor:
        return await posted(vendor, body)


PIECES = ["é1", "é2", "é3"]


async def test_a_request_is_kept_and_answered_by_the_next_item_of_the_script() -> None:
    async with FakeVendor(PlainWire(), [Reply("one")]) as vendor:
        vendor.then(Failure(529, message="busy", headers={"retry-after": "2"}))
        first, second = await posted(vendor), await posted(vendor, "again")

    assert (first.status_code, first.text, first.headers["request-id"]) == (200, "one", "req_1")
    assert (second.status_code, second.json(), second.headers["retry-after"]) == (529, {"error": "busy"}, "2")
    assert vendor.bodies == ["hi", "again"]
    assert (vendor.requests[0].method, vendor.requests[0].path, vendor.requests[0].number) == ("POST", "/v1", 1)
    assert vendor.requests[0].headers["content-type"] == "application/json"


async def test_the_script_may_be_a_function_of_the_request() -> None:
    async with FakeVendor(PlainWire(), lambda got: Reply(f"you said {got.body}")) as vendor:
        assert (await posted(vendor)).text == "you said hi"
        with pytest.raises(TypeError):
            vendor.then(Reply())


async def test_what_the_wire_refuses_and_what_the_script_does_not_have_is_remembered() -> None:
    async with FakeVendor(PlainWire()) as vendor:
        statuses = [(await posted(vendor, body)).status_code for body in ("secret", "hi")]

    assert statuses == [403, 400]
    assert [number for number, _ in vendor.refused] == [1, 2]
    assert vendor.refused[0][1] == Refusal("not that", 403)


async def test_what_asks_no_model_uses_up_no_answer() -> None:
    async with FakeVendor(PlainWire(), [Reply("one")]) as vendor, httpx2.AsyncClient() as client:
        assert (await client.get(vendor.base_url)).json() == {"models": ["a"]}
        assert (await client.post(vendor.base_url, json="hi")).text == "one"
        await vendor.until(lambda: vendor.connections == 1)


@pytest.mark.parametrize("piece", [None, 1, 4])
async def test_a_stream_comes_in_pieces_of_any_size(piece: int | None) -> None:
    answer = await answered(Reply(PIECES, manner=Manner(piece=piece)))

    assert answer.text == "é1\né2\né3\n"
    assert answer.headers["content-type"] == "text/event-stream"


async def test_a_stream_may_be_noisy_and_end_its_lines_otherwise() -> None:
    answer = await answered(Reply(PIECES[:2], manner=Manner(noise=True, crlf=True, headers={"x-more": "1"})))

    assert answer.content == ":\r\né1\r\n:\r\né2\r\n".encode()
    assert answer.headers["x-more"] == "1"


async def test_a_stream_may_fail_in_the_middle() -> None:
    answer = await answered(Reply(PIECES, manner=Manner(failure_frames=1, failure=Failure(message="so sorry"))))

    assert (answer.status_code, answer.text) == (200, "é1\nfailed: so sorry\n")


async def test_a_clean_cut_looks_like_the_end() -> None:
    at_a_frame = await answered(Reply(PIECES, manner=Manner(cut_frames=2)))
    at_a_byte = await answered(Reply(PIECES, manner=Manner(cut_bytes=5)))
    whole = await answered(Reply("whole", manner=Manner(cut_bytes=-1)), "hi")

    assert (at_a_frame.text, at_a_byte.content, whole.text) == ("é1\né2\n", b"\xc3\xa91\n\xc3", "whol")


@pytest.mark.parametrize("body", ["hi", "stream"])
@pytest.mark.parametrize("ending", ["dropped", "reset"])
async def test_another_cut_breaks_the_connection(body: str, ending: Any) -> None:
    with pytest.raises(httpx2.TransportError):
        await answered(Reply(PIECES, manner=Manner(cut_bytes=3, ending=ending)), body)


async def test_a_failure_may_be_a_page_or_no_word_at_all() -> None:
    page = await answered(Failure(502, body=b"<html>"))
    with pytest.raises(httpx2.TransportError):
        await answered(Failure(drop=True))

    assert (page.status_code, page.text, page.headers["content-type"]) == (502, "<html>", "text/html")


async def test_an_answer_may_come_in_the_form_that_was_not_asked_for() -> None:
    other = Manner(other_form=True)

    assert (await answered(Reply("ab", manner=other), "stream")).headers["content-type"] == "application/json"
    assert (await answered(Reply("ab", manner=other), "hi")).headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize("manner", [Manner(delay=60), Manner(stall_frames=1)])
async def test_a_client_that_leaves_is_noticed_while_the_vendor_is_silent(manner: Manner) -> None:
    async with FakeVendor(PlainWire(), [Reply(PIECES, manner=manner)]) as vendor:
        asking = asyncio.create_task(posted(vendor, "stream"))
        await vendor.until(lambda: vendor.requests)
        asking.cancel()
        await vendor.until(lambda: vendor.abandoned)
        await vendor.until(lambda: not vendor.connections)

    assert vendor.abandoned == [1]


async def test_a_vendor_that_closes_leaves_nobody_waiting() -> None:
    async with FakeVendor(PlainWire(), [Reply(PIECES, manner=Manner(stall_frames=1))]) as vendor:
        asking = asyncio.create_task(posted(vendor, "stream"))
        await vendor.until(lambda: vendor.requests)

    with pytest.raises(httpx2.TransportError):
        await asking


async def test_a_body_sent_in_chunks_is_read() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b'"in '
        yield b'parts"'

    async with FakeVendor(PlainWire(), [Reply("ok")]) as vendor, httpx2.AsyncClient() as client:
        await client.post(vendor.base_url, content=parts())

    assert vendor.bodies == ["in parts"]


async def test_a_body_that_is_no_json_is_kept_as_it_came() -> None:
    async with FakeVendor(PlainWire(), [Reply("ok")]) as vendor, httpx2.AsyncClient() as client:
        await client.post(vendor.base_url, content=b"{")

    assert (vendor.requests[0].raw, vendor.requests[0].body) == (b"{", None)


def test_there_is_no_address_before_it_listens() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        _ = FakeVendor(PlainWire()).base_url
