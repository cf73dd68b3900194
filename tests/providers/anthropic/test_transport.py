"""Tests of agentfootprint.providers.anthropic.transport."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import traceback
from typing import Any

import anthropic
import pytest

from agentfootprint.llm import (
    ContextWindowExceededError,
    ProviderAuthError,
    ProviderBadRequestError,
    ProviderConnectionError,
    ProviderError,
    ProviderModelNotFoundError,
    ProviderOverloadedError,
    ProviderPermissionError,
    ProviderRateLimitError,
    ProviderServerError,
    ProviderStreamError,
    ProviderTimeoutError,
    StreamTruncatedError,
)
from agentfootprint.providers import AnthropicProvider, HttpOptions
from agentfootprint.testing import Call, Failure, FakeVendor, Manner, Reply
from tests.providers.anthropic.desks import PAIR, WIRE, ask, failure_of, model_at
from tests.providers.chances import KEY

FAILURES: list[tuple[int, type[ProviderError], bool]] = [
    (400, ProviderBadRequestError, False),
    (401, ProviderAuthError, False),
    (403, ProviderPermissionError, False),
    (404, ProviderModelNotFoundError, False),
    (413, ProviderBadRequestError, False),
    (429, ProviderRateLimitError, True),
    (500, ProviderServerError, True),
    (502, ProviderServerError, True),
    (503, ProviderOverloadedError, True),
    (529, ProviderOverloadedError, True),
]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("status", "kind", "retryable"), FAILURES)
async def test_a_refused_call_is_one_request_and_a_typed_error(
    status: int, kind: type[ProviderError], *, retryable: bool, streamed: bool
) -> None:
    error = await failure_of(Failure(status, message="the vendor's words"), streamed=streamed)

    assert type(error) is kind
    assert (error.status, error.retryable, error.request_id) == (status, retryable, "req_1")
    assert str(error).startswith("[anthropic] ")
    assert "the vendor's words" in str(error)
    assert error.wire_name == "AnthropicProviderError"
    assert isinstance(error.__cause__, anthropic.APIStatusError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({}, None), ({"retry-after": "7"}, 7.0), ({"retry-after-ms": "250", "retry-after": "9"}, 0.25)],
)
async def test_a_stated_wait_is_kept_in_seconds(headers: dict[str, str], seconds: float | None) -> None:
    error = await failure_of(Failure(429, headers=headers))

    assert error.retry_after == seconds


async def test_a_prompt_that_does_not_fit_is_told_with_both_sizes() -> None:
    error = await failure_of(Failure(400, message="prompt is too long: 213462 tokens > 200000 maximum"))

    assert isinstance(error, ContextWindowExceededError)
    assert (error.actual_tokens, error.limit_tokens, error.retryable) == (213462, 200000, False)


async def test_the_page_of_a_proxy_is_quoted_in_part() -> None:
    error = await failure_of(Failure(502, body=b"<html>" + b"x" * 900 + b"</html>"))

    assert isinstance(error, ProviderServerError)
    assert len(str(error)) < 400


KINDS = [
    ("overloaded_error", ProviderOverloadedError, 529),
    ("rate_limit_error", ProviderRateLimitError, 429),
    ("api_error", ProviderServerError, 500),
    ("timeout_error", ProviderServerError, 504),
    ("invalid_request_error", ProviderBadRequestError, 400),
    ("of_tomorrow", ProviderStreamError, None),
]


@pytest.mark.parametrize("frames", [0, 1, 4])
@pytest.mark.parametrize(("kind", "error_type", "status"), KINDS)
async def test_an_error_inside_a_stream_is_told_like_one_of_http(
    frames: int, kind: str, error_type: type[ProviderError], status: int | None
) -> None:
    manner = Manner(failure_frames=frames, failure=Failure(kind=kind, message="busy"))

    error = await failure_of(Reply("A long enough answer.", manner=manner), streamed=True)

    assert type(error) is error_type
    assert (error.status, error.phase, error.vendor_code, error.request_id) == (status, "stream", kind, "req_1")


async def test_an_error_in_the_body_of_a_good_answer_is_one() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}

    error = await failure_of(Reply(extra={"message": body}))

    assert type(error) is ProviderOverloadedError


@pytest.mark.parametrize("frames", range(12))  # of 12, the last of which is the end signal
async def test_a_stream_that_was_cut_at_an_event_is_never_taken_for_whole(frames: int) -> None:
    reply = Reply("Hello, you.", calls=PAIR[:1], manner=Manner(cut_frames=frames))

    error = await failure_of(reply, streamed=True)

    assert type(error) is StreamTruncatedError
    assert "Hello, you.".startswith(error.text)
    assert (error.retryable, error.phase, error.request_id) == (True, "stream", "req_1")


async def test_what_had_arrived_of_a_cut_stream_is_kept_on_the_error_and_out_of_its_words() -> None:
    secret = {"card": "4111-1111"}
    reply = Reply("Hello, you.", calls=[Call("refund", secret, pieces=1)], manner=Manner(cut_bytes=-120))

    error = await failure_of(reply, streamed=True)

    assert isinstance(error, StreamTruncatedError)
    assert error.text == "Hello, you."
    assert error.calls == ({"id": "toolu_1_1", "name": "refund", "args": '{"card": "4111-1111"}'},)
    assert "4111" not in str(error)
    assert "Hello" not in str(error)


@pytest.mark.parametrize("ending", ["dropped", "reset"])
async def test_a_connection_that_breaks_is_told_as_one(ending: Any) -> None:
    streamed = await failure_of(Reply("Hello, you.", manner=Manner(cut_frames=4, ending=ending)), streamed=True)
    whole = await failure_of(Reply("Hello, you.", manner=Manner(cut_bytes=30, ending=ending)))

    assert isinstance(streamed, ProviderConnectionError)
    assert streamed.phase == "stream"
    assert isinstance(whole, ProviderConnectionError)
    assert streamed.retryable
    assert whole.retryable


async def test_nothing_that_listens_is_told_with_the_address() -> None:
    async with FakeVendor(WIRE) as vendor:
        address = vendor.base_url
    async with AnthropicProvider(http=HttpOptions(api_key=KEY, base_url=address)) as model:
        with pytest.raises(ProviderConnectionError, match=address):
            await model.complete(ask())


async def test_silence_is_given_up_before_the_answer_and_between_its_pieces() -> None:
    before = await failure_of(Reply("late", manner=Manner(delay=30)), timeout=1)
    between = await failure_of(Reply("late", manner=Manner(stall_frames=3)), streamed=True, timeout=1)

    assert type(before) is type(between) is ProviderTimeoutError


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_of_the_other_form_is_refused_by_name(*, streamed: bool) -> None:
    error = await failure_of(Reply("Hello.", manner=Manner(other_form=True)), streamed=streamed)

    assert isinstance(error, ProviderStreamError)
    assert "stream" in str(error)


async def test_a_reply_that_says_it_calls_and_calls_nothing_is_refused() -> None:
    for streamed in (False, True):
        assert isinstance(await failure_of(Reply(stop="tool_use"), streamed=streamed), ProviderStreamError)
    lost = await failure_of(Reply(calls=PAIR, extra={"unstopped": True}), streamed=True)
    assert isinstance(lost, ProviderStreamError)


def everything_told(error: BaseException) -> str:
    """All that an exception says or carries, and those behind it."""
    told = "".join(traceback.format_exception(error))
    todo, seen = [error], set[int]()
    while todo:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        told += repr(item) + str(item) + str(vars(item))
        for value in vars(item).values():
            for part in (value, getattr(value, "_request", None)):
                told += str(dict(getattr(part, "headers", {}))) + str(getattr(value, "_content", b""))
        todo += [one for one in (item.__cause__, item.__context__) if one is not None]
    return told


@pytest.mark.parametrize(
    ("answer", "streamed"),
    [
        (Failure(401, message=f"invalid key {KEY}"), False),
        (Failure(500, body=f"debug: {KEY}".encode()), False),
        (Reply("x", manner=Manner(failure_frames=1, failure=Failure(529, message=f"with {KEY}"))), True),
        (Reply("x", manner=Manner(cut_frames=2, ending="reset")), True),
        (Failure(drop=True), False),
    ],
)
async def test_the_key_is_in_no_error_and_in_no_log(
    answer: Reply | Failure, caplog: pytest.LogCaptureFixture, *, streamed: bool
) -> None:
    caplog.set_level(logging.DEBUG)

    error = await failure_of(answer, streamed=streamed)

    assert KEY not in everything_told(error)
    assert KEY not in caplog.text
    assert KEY not in str([record.args for record in caplog.records])


async def test_cancelling_closes_the_connection_and_is_not_told_as_a_failure() -> None:
    async with FakeVendor(WIRE, [Reply("x", manner=Manner(delay=60))] * 2) as vendor, model_at(vendor) as model:
        for run in (lambda: model.complete(ask()), lambda: anext(model.stream(ask()))):
            before = len(vendor.requests)
            task = asyncio.ensure_future(run())
            await vendor.until(lambda before=before: len(vendor.requests) > before)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await vendor.until(lambda before=before: len(vendor.abandoned) > before)
        assert vendor.abandoned == [1, 2]


async def test_a_reader_who_leaves_a_stream_closes_its_connection() -> None:
    stalled = Reply("Hello, you.", manner=Manner(stall_frames=3))
    async with FakeVendor(WIRE, [stalled]) as vendor, model_at(vendor) as model:
        async with contextlib.aclosing(model.stream(ask())) as chunks:
            assert (await anext(chunks)).content == "Hello"
        await vendor.until(lambda: vendor.abandoned)


async def test_an_error_in_the_body_that_came_instead_of_a_stream_is_told_as_what_it_is() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}

    error = await failure_of(Reply(manner=Manner(other_form=True), extra={"message": body}), streamed=True)

    assert type(error) is ProviderOverloadedError
