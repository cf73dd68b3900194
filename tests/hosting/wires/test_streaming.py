"""Tests of agentfootprint.hosting.wires.streaming."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from agentfootprint import Agent, AgentFootprintError, ConfigError, Mock, tool
from agentfootprint.agent import RunCancelledError
from agentfootprint.events import Event, Token, event_to_wire
from agentfootprint.hosting import sse

TOKEN = "agentfootprint.stream.token"


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


def an_agent() -> Agent:
    return Agent(Mock([Mock.call("lookup", order_id="A-1"), "It has shipped."]), tools=[lookup])


class Held:
    """An agent whose tool waits until it is let go."""

    def __init__(self, answer: str = "Done.") -> None:
        self.started, self.gate, self.stopped = asyncio.Event(), asyncio.Event(), asyncio.Event()

        @tool
        async def hold(what: str) -> str:
            """Wait until it is over. Use it to wait."""
            self.started.set()
            try:
                await self.gate.wait()
            finally:
                self.stopped.set()
            return what

        self.agent = Agent(Mock([Mock.call("hold", what="x"), answer]), tools=[hold])


def read(text: str) -> list[dict[str, str]]:
    """Blocks of a stream as a browser reads them; a comment is under the empty key."""
    blocks = text.removesuffix("\n\n").split("\n\n")
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]


async def text_of(pieces: AsyncIterator[str]) -> str:
    return "".join([piece async for piece in pieces])


async def test_every_event_of_the_run_is_framed_in_order_and_the_stream_ends_with_the_run() -> None:
    async with an_agent().stream("Where is A-1?") as run:
        blocks = read(await text_of(sse(run)))
        result = await run.result()

    events = result.recording.events
    assert [json.loads(block["data"]) for block in blocks] == [json.loads(json.dumps(event_to_wire(e))) for e in events]
    assert [block["event"] for block in blocks] == [event.type for event in events]
    assert [block["id"] for block in blocks] == [str(n) for n in range(1, len(events) + 1)]


async def test_the_wire_form_repeats_what_is_carried_over() -> None:
    async with an_agent().stream("Where is A-1?") as run:
        await run.result()
        native, wire = [read(await text_of(sse(run, form=form))) for form in ("native", "wire")]

    assert len(wire) > len(native)


async def test_text_is_the_answer_without_any_frame() -> None:
    async with an_agent().stream("Where is A-1?") as run:
        assert await text_of(sse(run, format="text")) == "It has shipped."


async def test_events_are_chosen_and_named_by_the_caller() -> None:
    def is_token(event: Event[Any]) -> bool:
        return isinstance(event.payload, Token)

    async with an_agent().stream("Where is A-1?") as run:
        blocks = read(await text_of(sse(run, filter=is_token, event_name=lambda event: "token")))

    assert {block["event"] for block in blocks} == {"token"}
    assert "".join(json.loads(block["data"])["payload"]["content"] for block in blocks) == "It has shipped."


@pytest.mark.parametrize("seen", [1, 7, 10**6])
async def test_a_client_that_comes_back_gets_what_came_after(seen: int) -> None:
    async with an_agent().stream("Where is A-1?") as run:
        whole = read(await text_of(sse(run)))
        rest = await text_of(sse(run, last_event_id=str(seen)))

    assert (read(rest) if rest else []) == whole[seen:]


@pytest.mark.parametrize("given", ["", "x", "-1", "9" * 400, "\u0662", None])
async def test_an_id_that_no_stream_gave_starts_at_the_beginning(given: str | None) -> None:
    async with an_agent().stream("Where is A-1?") as run:
        whole = await text_of(sse(run))

        assert await text_of(sse(run, last_event_id=given)) == whole


async def test_a_silence_is_broken_by_comments() -> None:
    held = Held()
    async with held.agent.stream("Wait.") as run, aclosing(sse(run, heartbeat=0.01)) as pieces:
        heard = [piece async for piece in _until(pieces, ": ping\n\n")]
        held.gate.set()
        rest = [piece async for piece in pieces]

    assert heard[-1] == ": ping\n\n"
    assert any("tool_end" in piece for piece in rest)


async def _until(pieces: AsyncIterator[str], last: str) -> AsyncIterator[str]:
    async for piece in pieces:
        yield piece
        if piece == last:
            return


async def test_a_client_that_goes_cancels_the_run_only_where_that_was_said() -> None:
    kept, cancelled = Held(), Held()

    async with kept.agent.stream("Wait.") as run:
        await anext(pieces := sse(run))
        await kept.started.wait()
        await pieces.aclose()
        assert not kept.stopped.is_set()
        kept.gate.set()
        assert (await run.result()).text == "Done."

    async with cancelled.agent.stream("Wait.") as run:
        await anext(pieces := sse(run, cancel_on_disconnect=True))
        await cancelled.started.wait()
        await pieces.aclose()
        assert cancelled.stopped.is_set()
        with pytest.raises(RunCancelledError):
            await run.result()


async def test_a_stream_read_to_its_end_cancels_nothing() -> None:
    async with an_agent().stream("Where is A-1?") as run:
        await text_of(sse(run, cancel_on_disconnect=True))

        assert (await run.result()).text == "It has shipped."


async def test_a_client_far_behind_is_told_so_and_let_go_and_may_come_back() -> None:
    held = Held("word " * 300)
    async with held.agent.stream("Go.") as run, aclosing(sse(run, max_lag=50)) as pieces:
        first = await anext(pieces)
        await held.started.wait()
        held.gate.set()
        await run.result()

        got = first + await text_of(pieces)
        again = await text_of(sse(run, max_lag=50, last_event_id=read(got)[-2]["id"]))

        whole = await text_of(sse(run))
    assert read(got)[-1][""].startswith("lagged ")
    assert got.rpartition(": lagged ")[0] + again == whole


async def test_a_client_that_is_let_go_for_its_lag_cancels_nothing_since_it_may_come_back() -> None:
    held = Held("word " * 300)
    async with held.agent.stream("Go.") as run, aclosing(sse(run, max_lag=5, cancel_on_disconnect=True)) as pieces:
        await anext(pieces)
        await held.started.wait()
        behind = len([event async for event in _upto(run, "tool_start")])
        rest = await text_of(pieces)
        held.gate.set()

        assert behind > 5
        assert ": lagged " in rest
        assert (await run.result()).text == ("word " * 300)


async def _upto(run: Any, name: str) -> AsyncIterator[Event[Any]]:
    async for event in run:
        yield event
        if event.type.endswith(name):
            return


async def test_a_reader_a_thousand_events_behind_gets_joined_tokens_and_loses_none() -> None:
    answer = "word " * 3000
    async with Agent(Mock(answer)).stream("Go.") as run:
        result = await run.result()
        text = await text_of(sse(run))

    blocks = read(text)
    tokens = [json.loads(block["data"])["payload"]["content"] for block in blocks if block.get("event") == TOKEN]
    assert "".join(tokens) == result.text
    assert len(tokens) < 10
    assert blocks[-1] == {"id": str(len(result.recording.events))}


async def test_a_run_that_fails_ends_the_stream_and_not_with_an_error() -> None:
    async with Agent(Mock([])).stream("Go.") as run:
        text = await text_of(sse(run))
        with pytest.raises(AgentFootprintError):
            await run.result()

    assert read(text)[0]["event"].startswith("agentfootprint.")


@pytest.mark.parametrize(
    "options",
    [
        {"heartbeat": -1.0},
        {"heartbeat": float("nan")},
        {"max_lag": 0},
        {"max_lag": 1.5},
        {"format": "json"},
        {"form": "json"},
        {"format": "text", "filter": bool},
        {"format": "text", "event_name": str},
        {"format": "text", "heartbeat": 1.0},
        {"format": "text", "last_event_id": "1"},
        {"format": "text", "form": "wire"},
        {"format": "text", "max_lag": 5},
    ],
)
async def test_options_that_can_not_work_are_refused(options: Any) -> None:
    async with an_agent().stream("Go.") as run:
        with pytest.raises(ConfigError) as caught:
            sse(run, **options)

    assert caught.value.option in options
