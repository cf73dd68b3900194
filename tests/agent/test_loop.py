"""Tests of agentfootprint.agent.loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import Agent, Identity, Limits, Mock, ProviderError, RunCheckpointError, tool
from agentfootprint.agent import DeadlineExceededError, InvalidRunInputError
from agentfootprint.events import Event
from agentfootprint.llm import LLMChunk, LLMResponse, ProviderRateLimitError, StreamTruncatedError


@pytest.mark.parametrize(
    ("given", "received"),
    [
        (None, "null"),
        ("", "an empty text"),
        (" \n", "a text of blanks only"),
        ("\u200b \ufeff\u00a0\u2060", "a text of blanks only"),
        (7, "a number"),
        (True, "a boolean"),
        ([1, 2, 3], "an array of 3"),
        ({}, "an empty object"),
        ({"secret": "hunter2", "b": 1}, "an object with keys: secret, b"),
        ({"message": 7}, "a number"),
    ],
    ids=ascii,
)
def test_what_is_no_message_is_refused_by_its_shape(given: Any, received: str) -> None:
    heard: list[Event[Any]] = []
    agent = Agent(Mock("x"), name="Desk")
    agent.on("*", heard.append)

    with pytest.raises(InvalidRunInputError, match=r"Agent\.run needs a message") as caught:
        agent.run_sync(given)

    assert caught.value.received == received
    assert "hunter2" not in str(caught.value)
    assert heard == []


def test_a_provider_that_fails_ends_the_run_with_what_is_left_of_it_and_one_fatal_event() -> None:
    heard: list[Event[Any]] = []
    agent = Agent(Mock([ProviderRateLimitError("Too many requests.", provider="mock")]))
    agent.on("*", heard.append)

    with pytest.raises(RunCheckpointError, match=r"Too many requests") as caught:
        agent.run_sync("hi")

    assert isinstance(caught.value.cause, ProviderRateLimitError)
    types = [event.type.rpartition(".")[2] for event in heard]
    assert types[-3:] == ["llm_start", "fatal", "disposition"]
    assert types.count("fatal") == 1


def test_a_stream_that_just_ends_is_no_answer() -> None:
    chunks = [LLMChunk(token_index=0, content="The answer is ")]

    with pytest.raises(RunCheckpointError) as caught:
        Agent(Mock([chunks])).run_sync("hi")

    assert isinstance(caught.value.cause, StreamTruncatedError)


def test_a_chunk_without_text_names_the_provider() -> None:
    broken: Any = LLMChunk(token_index=0, content=None)  # type: ignore[arg-type]

    with pytest.raises(RunCheckpointError, match=r"mock.*NoneType") as caught:
        Agent(Mock([[broken]])).run_sync("hi")

    assert isinstance(caught.value.cause, ProviderError)


async def test_a_deadline_ends_the_run_and_what_it_waits_for() -> None:
    stopped = asyncio.Event()

    @tool
    async def wait(what: str) -> str:
        """Wait for something. Use it to wait."""
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return what

    agent = Agent(Mock([Mock.call("wait", what="x")]), tools=[wait], limits=Limits(deadline=0.01))

    with pytest.raises(DeadlineExceededError, match=r"0\.01 s"):
        await agent.run("Wait.")

    assert stopped.is_set()


async def test_cancelling_the_task_cancels_the_run_and_passes_as_itself() -> None:
    started = asyncio.Event()
    heard: list[str] = []

    @tool
    async def wait(what: str) -> str:
        """Wait for something. Use it to wait."""
        started.set()
        await asyncio.Event().wait()
        return what

    agent = Agent(Mock([Mock.call("wait", what="x")]), tools=[wait])
    agent.on("*", lambda event: heard.append(event.type))
    task = asyncio.create_task(agent.run("Wait."))
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert heard[-2:] == ["agentfootprint.error.fatal", "agentfootprint.integrity.disposition"]


def test_identity_stands_in_the_state_and_only_named_parts_in_the_meta() -> None:
    heard: list[Event[Any]] = []
    agent = Agent(Mock("x"))
    agent.on("agentfootprint.agent.turn_start", heard.append)

    who = Identity(tenant="acme", principal="alice", conversation_id="t-42")
    named = agent.run_sync("hi", identity=who)
    by_session = agent.run_sync("hi", session_id="s-1")
    by_run = agent.run_sync("hi")

    state = [run.recording.snapshot["sharedState"] for run in (named, by_session, by_run)]
    assert state[0]["runIdentity"] == {"tenant": "acme", "principal": "alice", "conversationId": "t-42"}
    assert (state[1]["runIdentity"], state[1]["runIdentitySource"]) == ({"conversationId": "s-1"}, "session")
    assert state[2]["runIdentity"] == {"conversationId": by_run.run_id}
    assert [(e.meta.tenant, e.meta.principal) for e in heard] == [("acme", "alice"), (None, None), (None, None)]


def test_the_rows_of_the_disposition_count_what_really_ran() -> None:
    @tool
    async def lookup(order_id: str) -> str:
        """Look up one order by its number. Use it when the user names an order."""
        return order_id

    heard: list[Event[Any]] = []
    lying = LLMResponse("Hi.", wire_manifest=None)
    agent = Agent(Mock([Mock.call("lookup", order_id="1"), lying]), tools=[lookup])
    agent.on("agentfootprint.integrity.disposition", heard.append)

    agent.run_sync("hi")

    wire = heard[0].payload.rows[0]
    assert (wire.check, wire.seam, wire.checked, wire.findings) == ("invariant-violation", "wire", 2, 0)
    assert [row.not_applicable for row in heard[0].payload.rows[1:]] == [1, 1, 1]


class Silent:
    """A provider that states no manifest, and one that serves other tools than it was given."""

    def __init__(self, manifest: Any) -> None:
        self.name, self.manifest = "silent", manifest

    async def complete(self, request: Any, hooks: Any = None) -> LLMResponse:
        return LLMResponse("Hi.", wire_manifest=self.manifest)


def test_a_provider_that_serves_other_tools_is_a_finding_and_one_that_says_nothing_is_unreachable() -> None:
    from agentfootprint.llm import WireToolManifest

    rows: list[Any] = []
    for manifest in (None, WireToolManifest(("other",))):
        agent = Agent("some-model", provider=Silent(manifest))
        agent.on("agentfootprint.integrity.disposition", lambda event: rows.append(event.payload.rows[0]))
        result = agent.run_sync("hi")
        assert (result.cost_usd, result.unpriced_calls) == (None, 1)

    assert [(row.checked, row.findings, row.unreachable) for row in rows] == [(0, 0, 1), (1, 1, 0)]


async def test_an_async_listener_is_done_when_the_run_returns() -> None:
    heard: list[str] = []

    async def later(event: Event[Any]) -> None:
        await asyncio.sleep(0)
        heard.append(event.type)

    agent = Agent(Mock("x"))
    agent.on("agentfootprint.agent.turn_end", later)

    await agent.run("hi")

    assert heard == ["agentfootprint.agent.turn_end"]


def test_two_thousand_iterations_work() -> None:
    @tool
    async def lookup(order_id: str) -> str:
        """Look up one order by its number. Use it when the user names an order."""
        return order_id

    script = [Mock.call("lookup", order_id=str(n)) for n in range(1999)]
    agent = Agent(Mock([*script, "Done."]), tools=[lookup], limits=Limits(iterations=2000))

    assert agent.run_sync("Go on.").iterations == 2000
