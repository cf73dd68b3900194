"""Tests that the published client of AG-UI and the served agent hold one conversation, whatever happens to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.hosting import SqliteSessions
from agentfootprint.identity import Identity, identity_namespace
from agentfootprint.trace import thaw
from tests.node.client import Client
from tests.serving import Served

HERE = Path(__file__).parent

Message = dict[str, Any]


@pytest.fixture(scope="module")
def client(node: str, packages: Path) -> Iterator[Client]:
    made = Client(node, packages)
    yield made
    made.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions") / "sessions.db"


@pytest.fixture(scope="module")
def server(file: Path) -> Iterator[Served]:
    with Served(HERE / "served.py", SESSIONS=str(file)) as served:
        yield served


@pytest.fixture
def thread(request: pytest.FixtureRequest, client: Client, server: Served) -> str:
    """A thread of the test's own, and a tab of the same name on it."""
    name = request.node.name
    client.open(name, f"{server.url}/agent", name)
    return name


def kept(file: Path, thread: str) -> list[Message]:
    """The conversation in the server's file, as a client writes one down."""

    async def read() -> Any:
        sessions = SqliteSessions(file)
        try:
            return await sessions.hydrate(identity_namespace(Identity(conversation_id=thread)))
        finally:
            await sessions.aclose()

    envelope = asyncio.run(read())
    assert envelope is not None
    return [plain(message) for message in thaw(envelope.data["history"])]


def plain(message: Message) -> Message:
    """What a message says, without ids: those of the client are AG-UI's, those of the server the provider's."""
    calls = [call.get("function", call) for call in message.get("toolCalls", [])]
    called = [(call["name"], call.get("args", None) or json.loads(call["arguments"])) for call in calls]
    return {"role": message["role"], "content": message.get("content") or "", "calls": called}


def said(answer: dict[str, Any]) -> list[Message]:
    return [plain(message) for message in answer["messages"]]


def ended(answer: dict[str, Any]) -> dict[str, Any]:
    return answer["events"][-1]


def test_a_tool_is_called_and_its_result_read(thread: str, client: Client, file: Path) -> None:
    done = client.run(thread, "r-1", say="weather")

    assert done["error"] is None
    assert done["advice"] == []
    assert done["result"] == 'I see: {"city":"Paris","degrees":21}'
    assert [message["role"] for message in done["messages"]] == ["user", "assistant", "tool", "assistant"]
    call = done["messages"][1]["toolCalls"][0]
    assert done["messages"][2]["toolCallId"] == call["id"]
    assert call["id"].startswith("r-1/tool-call/0/")
    assert said(done) == kept(file, thread)


def test_tools_that_run_at_once_are_one_message_of_the_assistant(thread: str, client: Client, file: Path) -> None:
    done = client.run(thread, "r-1", say="both")

    assert [message["role"] for message in done["messages"]] == ["user", "assistant", "tool", "tool", "assistant"]
    assert done["messages"][1]["content"] == "Let me look."
    assert len({call["id"] for call in done["messages"][1]["toolCalls"]}) == 2
    assert said(done) == kept(file, thread)


def test_a_second_turn_goes_on_with_the_thread(thread: str, client: Client, file: Path) -> None:
    client.run(thread, "r-1", say="weather")

    done = client.run(thread, "r-2", say="thanks")

    assert done["result"] == "You said thanks."
    assert len(done["messages"]) == 6
    assert said(done) == kept(file, thread)


@pytest.mark.parametrize("approved", [True, False])
def test_a_question_is_answered_after_the_server_was_replaced(
    thread: str, client: Client, server: Served, file: Path, approved: bool
) -> None:
    paused = client.run(thread, "r-1", say="refund")
    asked = paused["pendingInterrupts"]
    server.kill()
    server.start()

    answer = {"interruptId": asked[0]["id"], "status": "resolved", "payload": {"approved": approved, "by": "mallory"}}
    done = client.run(thread, "r-2", resume=[answer])

    assert ended(paused)["outcome"]["type"] == "interrupt"
    assert asked[0]["toolCallId"] == paused["messages"][1]["toolCalls"][0]["id"]
    assert done["error"] is None
    assert [*paused["advice"], *done["advice"]] == []
    assert done["pendingInterrupts"] == []
    assert [message["role"] for message in done["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert done["messages"][2]["toolCallId"] == asked[0]["toolCallId"]
    assert ("paid back for A-1" in done["messages"][2]["content"]) is approved
    assert "mallory" not in json.dumps(done["events"])
    assert said(done) == kept(file, thread)


def test_a_failure_is_told_in_our_words_and_the_thread_goes_on(thread: str, client: Client, file: Path) -> None:
    failed = client.run(thread, "r-1", say="fail")

    done = client.run(thread, "r-2", say="hello")

    assert ended(failed)["type"] == "RUN_ERROR"
    assert "ConnectionError" not in json.dumps(failed)
    assert "Traceback" not in json.dumps(failed)
    assert done["result"] == "You said hello."
    assert kept(file, thread)[-1]["content"] == "You said hello."


def test_a_run_that_the_client_leaves_is_cancelled_and_the_thread_goes_on(
    thread: str, client: Client, file: Path
) -> None:
    left = client.run(thread, "r-1", say="long", abortAt="TEXT_MESSAGE_CONTENT")

    tried = (client.run(thread, f"r-{number}", say="hello") for number in range(2, 100))
    done = next(each for each in tried if ended(each).get("code") != "thread_busy")  # the server must see it first

    assert "RUN_FINISHED" not in [event["type"] for event in left["events"]]
    assert done["result"] == "You said hello."
    assert kept(file, thread)[-1]["content"] == "You said hello."


def test_of_two_tabs_that_answer_at_once_one_is_heard(thread: str, client: Client, server: Served, file: Path) -> None:
    paused = client.run(thread, "r-1", say="refund")
    asked = paused["pendingInterrupts"][0]["id"]
    other = f"{thread} in another tab"
    client.open(other, f"{server.url}/agent", thread, like=thread)

    def answer(tab: str, run_id: str, *, approved: bool) -> dict[str, Any]:
        payload = {"approved": approved}
        return {
            "run": tab,
            "runId": run_id,
            "resume": [{"interruptId": asked, "status": "resolved", "payload": payload}],
        }

    both = client.ask(both=[answer(thread, "r-2", approved=True), answer(other, "r-3", approved=False)])

    heard = [done for done in both if ended(done)["type"] == "RUN_FINISHED"]
    refused = [ended(done) for done in both if ended(done)["type"] == "RUN_ERROR"]
    assert len(heard) == 1
    assert [error["code"] for error in refused] in (["thread_busy"], ["interrupt_unknown"])
    assert said(heard[0]) == kept(file, thread)


def test_a_run_that_is_asked_for_again_is_told_again(thread: str, client: Client, server: Served, file: Path) -> None:
    first = client.run(thread, "r-1", say="weather")
    again = f"{thread} again"
    client.open(again, f"{server.url}/agent", thread)

    second = client.run(again, "r-1", say="weather")

    assert ended(second)["result"] == first["result"]
    assert said(second) == said(first) == kept(file, thread)
