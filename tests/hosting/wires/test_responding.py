"""Tests of agentfootprint.hosting.wires.responding."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from sse_starlette.sse import SendTimeoutError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentfootprint import Agent, Mock
from agentfootprint.hosting import EventStreamResponse, encode_sse, sse


async def test_pieces_are_sent_as_they_are_with_the_headers_of_a_stream() -> None:
    agent = Agent(Mock("It is done."))

    async def serve(request: Request) -> Response:
        async def pieces() -> AsyncIterator[str | bytes]:
            yield b": hello\n\n"
            async with agent.stream("Go.") as run:
                async for piece in sse(run, filter=lambda event: event.type.endswith("stream.token")):
                    yield piece

        return EventStreamResponse(pieces(), headers={"x-run-id": "r-1", "cache-control": "public"})  # pyright: ignore[reportArgumentType]  both kinds at once

    transport = httpx.ASGITransport(Starlette(routes=[Route("/", serve)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/")

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers.get_list("cache-control") == ["no-cache"]
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["x-run-id"] == "r-1"
    assert "\r" not in answer.text
    assert answer.text.startswith(": hello\n\nevent: agentfootprint.stream.token\nid: ")
    assert answer.text.count("\n\n") == 4


async def test_a_client_that_goes_closes_the_iterator() -> None:
    closed = asyncio.Event()

    async def pieces() -> AsyncIterator[str]:
        try:
            yield encode_sse("x", {})
            await asyncio.Event().wait()
        finally:
            closed.set()

    gone = asyncio.Event()
    sent: list[Any] = []

    async def receive() -> Any:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if message.get("body"):
            gone.set()

    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": []}
    gone_clients: list[Any] = []

    async def left(message: Any) -> None:
        gone_clients.append(message["type"])

    await EventStreamResponse(pieces(), status_code=201, client_close_handler_callable=left)(scope, receive, send)

    await asyncio.wait_for(closed.wait(), 5)
    assert sent[0]["status"] == 201
    assert sent[1]["body"] == b"event: x\ndata: {}\n\n"
    assert gone_clients == ["http.disconnect"]


async def test_a_client_that_takes_nothing_is_given_up_after_a_while() -> None:
    closed = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        try:
            yield b"data: 1\n\n"
        finally:
            closed.set()

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message.get("body"):
            await asyncio.Event().wait()

    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": []}
    with pytest.raises(SendTimeoutError):
        await EventStreamResponse(pieces(), send_timeout=0.01)(scope, receive, send)

    assert closed.is_set()


async def test_a_silent_stream_is_kept_alive_by_comments() -> None:
    heard = asyncio.Event()
    sent: list[bytes] = []

    async def pieces() -> AsyncIterator[bytes]:
        await heard.wait()
        yield b"data: 1\n\n"

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))
        if b"ping" in sent[-1]:
            heard.set()

    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": []}
    await EventStreamResponse(pieces(), ping=0.01)(scope, receive, send)

    assert b": ping\n\n" in sent
    assert b"data: 1\n\n" in sent
