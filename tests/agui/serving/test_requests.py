"""Tests of agentfootprint.agui.serving.requests: what a request may hold, and what it is refused for."""

from __future__ import annotations

import logging
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import Context, ImagePart, RunAgentInput, TextPart, Tool, UrlSource, UserMessage

from agentfootprint import Agent, Fact, Mock, RunOptions
from agentfootprint.agui import AgUi, AgUiOptions
from agentfootprint.agui.serving.requests import message_of, read_input
from agentfootprint.hosting import SqliteSessions
from agentfootprint.llm import LLMRequest
from tests.agui.serving.clients import ALICE, asked, shown, told, types


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


@pytest.mark.parametrize("thread", ["../../etc/passwd", "a/b%2Fc", "_", "'; DROP TABLE agent_sessions; --", "日本 🦊"])
async def test_hostile_thread_ids_are_threads_of_their_own(thread: str, file: Path) -> None:
    store = SqliteSessions(file)
    adapter = AgUi(Agent(Mock(lambda _: "Yes.")), sessions=store, options=AgUiOptions(messages_snapshot="always"))
    await told(adapter, asked("Elsewhere.", thread="b/c", run="r-0"), ALICE)

    events = await told(adapter, asked(thread=thread), ALICE)

    assert shown(events) == [("user", "Hi."), ("assistant", "Yes.")]
    await store.aclose()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (asked(thread=""), "threadId"),
        (asked(run=" "), "runId"),
        (asked(thread="x" * 513), "threadId"),
        (asked(run="r\n1"), "runId"),
        (asked(thread="t\x00"), "threadId"),
        (asked().model_copy(update={"messages": []}), "message"),
        (asked("   "), "message"),
        (asked().model_copy(update={"context": [Context(description="d", value="v")] * 21}), "context"),
        (asked().model_copy(update={"context": [Context(description="d", value="v" * 8001)]}), "context"),
    ],
)
async def test_a_request_that_cant_be_meant_starts_no_run(given: RunAgentInput, named: str) -> None:
    adapter = AgUi(Agent(Mock("Never.")))

    events = await told(adapter, given)

    assert (types(events), events[-1]["code"]) == (["RUN_STARTED", "RUN_ERROR"], "invalid_input")
    assert named in events[-1]["message"]


async def test_parts_of_text_are_one_message_and_others_are_refused_by_kind() -> None:
    adapter = AgUi(Agent(Mock(lambda request: request.messages[-1].content)))
    two = UserMessage(id="u", content=[TextPart(text="a"), TextPart(text="b")])
    image = UserMessage(id="u", content=[ImagePart(source=UrlSource(value="http://x/secret.png"))])

    events = await told(adapter, asked().model_copy(update={"messages": [two]}))
    refused = await told(adapter, asked(run="r-2").model_copy(update={"messages": [image]}))

    assert events[-1]["result"] == "a\nb"
    assert refused[-1]["code"] == "invalid_input"
    assert "image" in refused[-1]["message"]
    assert "secret" not in refused[-1]["message"]


async def test_the_requests_context_is_facts_of_this_run() -> None:
    heard: list[str] = []

    def reply(request: LLMRequest) -> str:
        heard.append(request.system_prompt or "")
        return "Noted."

    agent = Agent(Mock(reply), context=[Fact("own", "The shop is open.")])
    runs: list[str] = []
    agent.on("agentfootprint.agent.turn_end", lambda event: runs.append(event.meta.run_id))
    adapter = AgUi(agent)

    await told(adapter, asked(context=[Context(description="Page", value="Orders")]))
    await told(adapter, asked(run="r-2"))

    assert "The shop is open." in heard[0]
    assert "Page: Orders" in heard[0]
    assert "Page: Orders" not in heard[1]
    assert len(runs) == 2


async def test_tools_of_the_client_are_left_out_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    adapter = AgUi(Agent(Mock(lambda _: "Yes.")))
    offered = [Tool(name="open_page", description="secret-description", parameters={})]

    with caplog.at_level(logging.INFO, "agentfootprint.agui"):
        events = await told(adapter, asked(tools=offered))
        await told(adapter, asked(run="r-2", tools=offered))

    assert events[-1]["type"] == "RUN_FINISHED"
    assert [record.message for record in caplog.records] == [
        "An AG-UI client offers tools of its own; they are left out."
    ]


async def test_on_input_alone_reads_what_is_forwarded() -> None:
    seen: list[Any] = []

    def on_input(given: RunAgentInput) -> RunOptions:
        seen.append(given.forwarded_props)
        return RunOptions(correlation_id="c-1")

    agent = Agent(Mock("Yes."))
    ids: list[Any] = []
    agent.on("agentfootprint.agent.turn_end", lambda event: ids.append(event.meta.correlation_id))

    await told(AgUi(agent, on_input=on_input), asked(forwarded_props={"tenant": "evil"}))

    assert (seen, ids) == ([{"tenant": "evil"}], ["c-1"])


@pytest.mark.parametrize("id", ["r-1/message/0/call-llm#18", "said-r-0", "r-1/history/0/user", "x" * 513, "", "a\nb"])
async def test_a_message_has_an_id_of_its_own_whatever_the_client_says(id: str) -> None:
    adapter = AgUi(Agent(Mock(lambda _: "Yes.")), options=AgUiOptions(messages_snapshot="always"))
    await told(adapter, asked("Before.", run="r-0"))
    given = asked().model_copy(update={"messages": [UserMessage(id=id, content="Now.")]})

    events = await told(adapter, given)

    assert [content for _, content in shown(events)] == ["Before.", "Yes.", "Now.", "Yes."]
    messages = [each for each in events if each["type"] == "MESSAGES_SNAPSHOT"][-1]["messages"]
    assert len({each["id"] for each in messages}) == 4


def test_a_minted_id_that_a_client_used_before_is_passed_over() -> None:
    given = asked(run="r-2").model_copy(update={"messages": [UserMessage(id="", content="Hi.")]})

    minted = message_of(given, {"r-2/history/0/user"})

    assert minted.id == "r-2/history/1/user"


@pytest.mark.parametrize(
    ("members", "fields"),
    [
        ('"messages":[' + "0," * 400_000 + "0]", ["messages"]),
        ('"messages":[{"id":"x","role":"user","content":[' + "0," * 400_000 + "0]}]", ["messages"]),
        ('"messages":[],"resume":[' + "{}," * 200_000 + "{}]", ["resume"]),
        ('"messages":[' + "0," * 15_000 + "0]", ["(body)"]),
        ('"messages":[],"state":[' + "0," * 400_000 + "0]", []),
    ],
)
def test_a_body_of_nothing_but_faults_is_refused_before_they_are_all_told(members: str, fields: list[str]) -> None:
    body = f'{{"threadId":"t","runId":"r",{members}}}'
    tracemalloc.start()

    _, found = read_input(body.encode())

    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == fields
    assert most < 32 * len(body)
