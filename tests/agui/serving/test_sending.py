"""Tests of agentfootprint.agui.serving.sending: slow clients, silent runs, connections that end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from ag_ui.core import Event
from ag_ui.encoder import EventEncoder
from pydantic import TypeAdapter

from agentfootprint import Agent, Mock
from agentfootprint.agui import AgUiOptions, agui_app
from agentfootprint.agui.serving import sending
from agentfootprint.agui.serving.sending import frame
from agentfootprint.hosting import InMemorySessions
from agentfootprint.llm import LLMChunk, LLMResponse
from tests.agui.serving.clients import Connection, asked, posted, resumed, until
from tests.vectors.harness import Case, load


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The response looks often."""
    monkeypatch.setattr(sending, "LOOK_SECONDS", 0.01)


class Endless:
    """A provider that streams as many tokens as it is let."""

    name = "endless"

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.sent = 0

    async def complete(self, request: Any, hooks: Any = None) -> LLMResponse:
        raise AssertionError

    async def stream(self, request: Any, hooks: Any = None) -> Any:
        for n in range(self.tokens):
            self.sent += 1
            yield LLMChunk(token_index=n, content="word ")
            if not n % 100:
                await asyncio.sleep(0)
        yield LLMChunk(token_index=self.tokens, content="", done=True, response=LLMResponse("word " * self.tokens))


@pytest.mark.parametrize("case", load("events").cases("agui-encode"))
def test_a_frame_is_what_the_protocols_encoder_prints(case: Case) -> None:
    event: Any = TypeAdapter(Event).validate_python(case.input)

    assert frame(event).decode() == case.expected == EventEncoder().encode(event)


async def test_a_client_that_goes_cancels_the_run() -> None:
    agent = Agent(Mock("Late.", delay=30.0))
    connection = Connection(agui_app(agent), asked())
    await connection.got.wait()
    await until(lambda: agent.inflight)

    connection.go()
    await connection.task

    assert agent.inflight == ()
    assert not connection.is_complete
    assert "RUN_FINISHED" not in "".join(connection.frames)


async def test_with_finish_a_client_that_goes_leaves_the_run_alone() -> None:
    agent = Agent(Mock("Done.", delay=0.05))
    app = agui_app(agent, options=AgUiOptions(on_disconnect="finish"))
    connection = Connection(app, asked())
    await until(lambda: agent.inflight)
    handle = agent.inflight[0]

    connection.go()
    await connection.task

    assert (await handle.result()).text == "Done."
    events = await posted(app, asked("And?", run="r-2"))
    while events[-1].get("code") == "thread_busy":
        events = await posted(app, asked("And?", run="r-2"))
    assert events[-1]["result"] == "Done."


@pytest.mark.usefixtures("quick")
async def test_a_client_that_never_reads_neither_slows_the_run_nor_is_it_kept_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    provider, store = Endless(20_000), InMemorySessions()
    agent = Agent(provider)
    app = agui_app(agent, sessions=store, options=AgUiOptions(max_lag=1_000))
    connection = Connection(app, asked())
    await connection.got.wait()
    connection.reads.clear()

    await asyncio.wait_for(connection.task, 20)

    assert not connection.is_complete
    await until(lambda: not agent.inflight)
    assert provider.sent == 20_000
    again = await posted(app, asked())
    while again[-1].get("code") == "thread_busy":
        again = await posted(app, asked())
    assert again[-1]["outcome"] == {"type": "success"}
    assert again[-1]["result"] == "word " * 20_000
    assert caplog.text == ""


async def test_a_slow_client_within_its_lag_gets_everything() -> None:
    connection = Connection(agui_app(Agent(Endless(3_000))), asked())
    await connection.got.wait()
    connection.reads.clear()
    for _ in range(200):
        await asyncio.sleep(0)
    connection.reads.set()

    await connection.task

    events = resumed("".join(connection.frames))
    assert connection.is_complete
    assert "".join(each.get("delta", "") for each in events) == "word " * 3_000


@pytest.mark.usefixtures("quick")
async def test_a_silent_run_is_kept_alive_by_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "HEARTBEAT_SECONDS", 0.02)
    connection = Connection(agui_app(Agent(Mock("Late.", delay=0.2))), asked())

    await connection.task

    assert ": ping\n\n" in connection.frames
    assert resumed("".join(connection.frames))[-1]["type"] == "RUN_FINISHED"


@pytest.mark.usefixtures("quick")
async def test_a_frame_that_nobody_takes_ends_the_connection_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "STALLED_SECONDS", 0.05)
    agent = Agent(Mock("Done."))
    connection = Connection(agui_app(agent), asked())
    await connection.got.wait()
    connection.reads.clear()

    await asyncio.wait_for(connection.task, 5)

    assert not connection.is_complete


async def test_a_server_that_cant_send_is_a_line_without_words(caplog: pytest.LogCaptureFixture) -> None:
    class Cut(Connection):
        async def _send(self, message: dict[str, Any]) -> None:
            if message["type"] != "http.response.start":
                raise OSError("marker-of-a-peer")

    agent = Agent(Mock("Late.", delay=5.0))
    await Cut(agui_app(agent), asked()).task

    assert [record.message for record in caplog.records] == ["An AG-UI stream was cut: OSError."]
    assert agent.inflight == ()
