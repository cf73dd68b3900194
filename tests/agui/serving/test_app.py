"""Tests of agentfootprint.agui.serving.app on a real server: uvicorn on loopback, sockets that close or never read."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette

from agentfootprint import Agent, Mock
from agentfootprint.agui import AgUiOptions, AgUiWire, agui_app
from agentfootprint.agui.serving import sending
from agentfootprint.hosting import InMemorySessions
from tests.agui.serving.clients import asked, body, resumed, until
from tests.agui.serving.test_sending import Endless


@asynccontextmanager
async def served(app: Any) -> AsyncGenerator[str]:
    """The address of a server in this loop."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on"))
        task = asyncio.create_task(server.serve(sockets=[bound]))
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


async def opened(url: str, given: Any, *, room: int | None = None) -> socket.socket:
    """A connection on which the request was sent, and nothing is read."""
    host, port = url.removeprefix("http://").split(":")
    raw = socket.socket()
    if room is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, (host, int(port)))
    sent = json.dumps(body(given)).encode()
    head = f"POST /agent HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(sent)}\r\n\r\n"
    await asyncio.get_running_loop().sock_sendall(raw, head.encode() + sent)
    return raw


async def again(url: str, given: Any) -> list[dict[str, Any]]:
    """The same request once more, when the thread is free."""
    async with httpx.AsyncClient(base_url=url, timeout=20) as client:
        while True:
            events = resumed((await client.post("/agent", json=body(given))).text)
            if events[-1].get("code") != "thread_busy":
                return events


async def test_many_clients_at_once_get_each_their_own_words_in_order() -> None:
    agent = Agent(Mock(lambda request: request.messages[-1].content, delay=0.01))

    async with served(agui_app(agent)) as url, httpx.AsyncClient(base_url=url, timeout=30) as client:

        async def one(n: int) -> str:
            said = " ".join(f"{n}-{m}" for m in range(60))
            answer = await client.post("/agent", json=body(asked(said, thread=f"t-{n}")))
            events = resumed(answer.text)
            assert events[-1]["result"] == said
            return "".join(each["delta"] for each in events if each["type"] == "TEXT_MESSAGE_CONTENT")

        spoken = await asyncio.gather(*(one(n) for n in range(40)))

    assert spoken == [" ".join(f"{n}-{m}" for m in range(60)) for n in range(40)]


async def test_a_socket_that_closes_cancels_the_run() -> None:
    agent = Agent(Mock("Late.", delay=30.0))
    async with served(agui_app(agent)) as url:
        raw = await opened(url, asked())
        await until(lambda: agent.inflight)

        raw.close()

        await asyncio.wait_for(until(lambda: not agent.inflight), 10)


async def test_a_socket_that_never_reads_is_let_go_and_its_run_finishes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "LOOK_SECONDS", 0.02)
    provider = Endless(60_000)
    agent = Agent(provider)
    async with served(agui_app(agent, options=AgUiOptions(max_lag=1_000))) as url:
        with await opened(url, asked(), room=4_096):
            await asyncio.wait_for(until(lambda: provider.sent == 60_000 and not agent.inflight), 30)
            events = await again(url, asked())

    assert events[-1]["result"] == "word " * 60_000


async def test_an_application_around_the_routes_of_an_agent_ends_its_runs() -> None:
    agent = Agent(Mock("Late.", delay=30.0))
    store = InMemorySessions()
    chat = AgUiWire(options=AgUiOptions(on_disconnect="finish")).mount(agent, "/agent", sessions=store)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with chat.adapter:
            yield

    async with served(Starlette(routes=[*chat.routes], lifespan=lifespan)) as url:
        raw = await opened(url, asked())
        await until(lambda: agent.inflight)
        raw.close()

    kept = await store.hydrate("_/_/t-1")
    assert agent.inflight == ()
    assert kept is not None
    assert "claim" not in kept.data["agui"]


async def test_a_server_that_ends_cancels_and_keeps_what_goes_on() -> None:
    agent = Agent(Mock("Late.", delay=30.0))
    async with served(agui_app(agent)) as url:
        raw = await opened(url, asked())
        await until(lambda: agent.inflight)
        handle = agent.inflight[0]
        raw.close()

    assert handle.is_over
    assert agent.inflight == ()
