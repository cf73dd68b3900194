"""Tests of agentfootprint.providers.openai.transport: what fails, and what is told of it."""

from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import openai
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
from agentfootprint.providers import HttpOptions, OpenAIProvider
from agentfootprint.testing import Call, Failure, FakeVendor, Manner, OpenAIWire, Reply
from tests.providers.chances import KEY, ask, asked
from tests.providers.openai.desks import model_at

WIRE = OpenAIWire(key=KEY)
PAIR = (Call("look_up", {"id": "A-1"}), Call("refund", {"id": "A-1", "why": "über 40 €"}))
LONG = "Order A-1 über 🌍 was sent to Zürich."


async def failure_of(*answers: Reply | Failure, streamed: bool = False, **http: Any) -> ProviderError:
    """What a call raises when the vendor answers so."""
    async with FakeVendor(WIRE, answers) as vendor, model_at(vendor, **http) as model:
        with pytest.raises(ProviderError) as caught:
            await asked(model, ask(), streamed=streamed)
        assert vendor.refused == []
        assert len(vendor.requests) == 1, "the SDK must not repeat a call"
    return caught.value


async def test_a_reply_that_stops_for_calls_and_has_none_is_refused() -> None:
    for streamed in (False, True):
        error = await failure_of(Reply("x", stop="tool_calls"), streamed=streamed)
        assert type(error) is ProviderStreamError


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("status", "kind", "wanted", "retryable"),
    [
        (400, None, ProviderBadRequestError, False),
        (401, None, ProviderAuthError, False),
        (403, None, ProviderPermissionError, False),
        (404, None, ProviderModelNotFoundError, False),
        (409, None, ProviderBadRequestError, True),
        (422, None, ProviderBadRequestError, False),
        (429, None, ProviderRateLimitError, True),
        (429, "insufficient_quota", ProviderRateLimitError, False),
        (500, None, ProviderServerError, True),
        (502, None, ProviderServerError, True),
        (503, None, ProviderOverloadedError, True),
    ],
)
async def test_each_status_is_an_error_of_its_own(
    status: int, kind: str | None, wanted: type[ProviderError], *, retryable: bool, streamed: bool
) -> None:
    failure = Failure(status, kind, "it went wrong", headers={"x-request-id": "req_1"})

    error = await failure_of(failure, streamed=streamed)

    assert type(error) is wanted
    assert (error.status, error.retryable, error.request_id, error.provider) == (status, retryable, "req_1", "openai")
    assert str(error).startswith("[openai] ")
    assert "it went wrong" in str(error)
    assert error.wire_name == "OpenAIProviderError"
    assert isinstance(error.__cause__, openai.APIStatusError)
    assert pickle.loads(pickle.dumps(error)).args == error.args


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
async def test_a_stated_wait_stands_on_the_error(headers: dict[str, str], wait: float | None) -> None:
    error = await failure_of(Failure(429, headers=headers))

    assert error.retry_after == wait


async def test_a_prompt_that_did_not_fit_says_by_how_much() -> None:
    said = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."

    error = await failure_of(Failure(400, "context_length_exceeded", said, headers={"x-request-id": "req_1"}))

    assert isinstance(error, ContextWindowExceededError)
    assert (error.limit_tokens, error.actual_tokens, error.request_id, error.retryable) == (8192, 9000, "req_1", False)


async def test_a_page_of_a_proxy_is_quoted_in_part() -> None:
    error = await failure_of(Failure(502, body=b"<html>" + b"x" * 5_000))

    assert type(error) is ProviderServerError
    assert len(str(error)) < 500


@pytest.mark.parametrize("frames", [0, 1, 3])
@pytest.mark.parametrize(
    ("kind", "wanted", "status"),
    [
        ("server_error", ProviderServerError, 500),
        ("rate_limit_exceeded", ProviderRateLimitError, 429),
        ("insufficient_quota", ProviderRateLimitError, 429),
        ("context_length_exceeded", ContextWindowExceededError, None),
        ("of_tomorrow", ProviderStreamError, None),
    ],
)
async def test_an_error_inside_a_stream_is_classified_like_one_of_http(
    kind: str, wanted: type[ProviderError], status: int | None, frames: int
) -> None:
    reply = Reply(LONG, manner=Manner(failure_frames=frames, failure=Failure(500, kind)))

    error = await failure_of(reply, streamed=True)

    assert type(error) is wanted
    assert (error.status, error.phase) == (status, "stream")


async def test_an_error_inside_a_whole_answer_of_status_200_is_raised() -> None:
    body = b'{"error": {"message": "busy", "type": "server_error"}}'

    error = await failure_of(Failure(200, body=body))

    assert type(error) is ProviderServerError


@pytest.mark.parametrize("ending", ["clean", "dropped", "reset"])
async def test_a_stream_that_is_cut_anywhere_is_never_taken_for_whole(ending: Any) -> None:
    replies = [Reply(LONG, id="r"), Reply("Hm.", calls=PAIR, id="r")]
    for reply in replies:
        async with FakeVendor(WIRE, [reply]) as vendor, model_at(vendor) as model:
            wanted = [chunk async for chunk in model.stream(ask())][-1].response
            frames = WIRE.frames(reply, vendor.requests[0])
        assert wanted is not None
        whole = sum(map(len, frames))
        signed = whole - len(frames[-1]) - len(frames[-2])  # up to the reason it stopped
        cuts = [*range(0, whole, 37), signed - 3, signed - 1, whole - 1]
        script = [Reply(reply.text, calls=reply.calls, id="r", manner=Manner(cut_bytes=c, ending=ending)) for c in cuts]
        async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
            for cut in cuts:
                try:
                    got = [chunk async for chunk in model.stream(ask())][-1].response
                except (ProviderStreamError, ProviderConnectionError):
                    continue
                assert cut >= signed - 2
                assert got is not None
                assert (got.content, [c.args for c in got.tool_calls]) == (
                    wanted.content,
                    [c.args for c in wanted.tool_calls],
                )


async def test_a_stream_that_ends_at_an_event_tells_what_had_arrived() -> None:
    error = await failure_of(Reply(("secret ", "words"), calls=PAIR, manner=Manner(cut_frames=5)), streamed=True)

    assert isinstance(error, StreamTruncatedError)
    assert error.text == "secret words"
    assert [call.name for call in error.calls] == ["look_up"]
    assert "secret" not in str(error)


async def test_a_server_that_never_says_why_it_stopped_is_heard_only_where_one_says_so() -> None:
    reply = Reply("All of it.", extra={"no_finish": True})
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        with pytest.raises(StreamTruncatedError):
            _ = [chunk async for chunk in model.stream(ask())]
        tolerant = model.with_options(tolerate_missing_finish=True)
        chunks = [chunk async for chunk in tolerant.stream(ask())]

    assert chunks[-1].response is not None
    assert (chunks[-1].response.content, chunks[-1].response.stop_reason) == ("All of it.", "stop")


@pytest.mark.parametrize("crlf", [False, True])
async def test_a_stream_survives_being_split_at_every_byte(*, crlf: bool) -> None:
    reply = Reply((LONG, "\ud83d", "\ude00 \u2028"), calls=PAIR, manner=Manner(piece=1, crlf=crlf, noise=True))
    async with FakeVendor(WIRE, [reply]) as vendor, model_at(vendor) as model:
        response = [chunk async for chunk in model.stream(ask())][-1].response

    assert response is not None
    assert response.content == f"{LONG}\U0001f600 \u2028"
    assert [dict(call.args) for call in response.tool_calls] == [c.args for c in PAIR]


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_in_the_other_form_is_refused_with_the_fix(*, streamed: bool) -> None:
    error = await failure_of(Reply("x", manner=Manner(other_form=True)), streamed=streamed)

    assert type(error) is ProviderStreamError
    assert "stream" in error.fix


async def test_a_vendor_that_does_not_answer_is_a_timeout_and_a_stream_that_falls_silent_too() -> None:
    silent = await failure_of(Reply("x", manner=Manner(delay=30)), timeout=1)
    stalled = await failure_of(Reply(LONG, manner=Manner(stall_frames=3)), streamed=True, timeout=1)

    assert (type(silent), silent.phase) == (ProviderTimeoutError, "connect")
    assert (type(stalled), stalled.phase) == (ProviderTimeoutError, "stream")


async def test_a_connection_that_is_dropped_or_never_made_names_the_address() -> None:
    dropped = await failure_of(Failure(drop=True))
    async with FakeVendor(WIRE) as vendor:
        nowhere = vendor.base_url
    async with OpenAIProvider(http=HttpOptions(api_key=KEY, base_url=nowhere)) as model:
        with pytest.raises(ProviderConnectionError) as caught:
            await model.complete(ask())

    assert type(dropped) is ProviderConnectionError
    assert nowhere.removesuffix("/v1") in str(caught.value)
    assert caught.value.retryable


async def test_an_unknown_model_is_named_by_the_vendor() -> None:
    wire = OpenAIWire(models=frozenset(("gpt-4o",)))
    async with FakeVendor(wire, []) as vendor, model_at(vendor) as model:
        with pytest.raises(ProviderModelNotFoundError, match=r"`gpt-99`"):
            await model.complete(ask(model="gpt-99"))


def chain(error: BaseException) -> Iterator[BaseException]:
    todo, seen = [error], set[int]()
    while todo:
        one = todo.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            todo += [other for other in (one.__cause__, one.__context__) if other is not None]


ECHO = f"the key {KEY} is bad"
ECHOES: list[Callable[[], Reply | Failure]] = [
    lambda: Failure(401, message=ECHO),
    lambda: Failure(500, message=ECHO),
    lambda: Failure(502, body=ECHO.encode()),
    lambda: Reply(LONG, manner=Manner(failure_frames=2, failure=Failure(500, message=ECHO))),
    lambda: Failure(200, body=ECHO.encode()),
    lambda: Reply(ECHO, manner=Manner(cut_frames=3)),
]


@pytest.mark.parametrize("echo", ECHOES)
async def test_the_key_is_in_no_error_and_in_nothing_behind_it(
    echo: Callable[[], Reply | Failure], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for streamed in (False, True):
        answer = echo()
        if isinstance(answer, Reply) and not streamed:
            continue
        error = await failure_of(answer, streamed=streamed)
        for one in chain(error):
            told = [str(one), repr(one), repr(one.args), repr(getattr(one, "body", "")), str(getattr(one, "doc", ""))]
            assert all(KEY not in text for text in told if one is error or not isinstance(one, ValueError)), told
        assert KEY not in "".join(traceback.format_exception(error))
        assert KEY not in pickle.dumps(error).decode("latin-1") or isinstance(error, StreamTruncatedError)
    assert KEY not in caplog.text
