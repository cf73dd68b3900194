"""Clients of a served agent: one that reads events from the adapter, one that speaks HTTP, one that misbehaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from ag_ui.core import ResumeEntry, RunAgentInput, UserMessage

from agentfootprint import Identity
from agentfootprint.agui import AgUi, verify_events

__all__ = [
    "ALICE",
    "BOB",
    "Connection",
    "answered",
    "asked",
    "body",
    "http",
    "interrupt_id",
    "posted",
    "resumed",
    "shown",
    "told",
    "types",
    "until",
]

ALICE = Identity(conversation_id="", principal="alice", tenant="acme")
BOB = Identity(conversation_id="", principal="bob", tenant="acme")


def asked(text: str = "Hi.", *, thread: str = "t-1", run: str = "r-1", **more: Any) -> RunAgentInput:
    """A request with a message of the user's."""
    more.setdefault("protocol_version", "1.0")
    said = UserMessage(id=f"said-{run}", content=text)
    return RunAgentInput(thread_id=thread, run_id=run, messages=[said], **more)


def answered(id: str, payload: Any = None, *, thread: str = "t-1", run: str = "r-2", **more: Any) -> RunAgentInput:
    """A request that answers a question; without a payload it is given up."""
    entry = (
        ResumeEntry(interrupt_id=id, status="cancelled")
        if payload is None
        else ResumeEntry(interrupt_id=id, status="resolved", payload=payload)
    )
    more.setdefault("protocol_version", "1.0")
    return RunAgentInput(thread_id=thread, run_id=run, messages=[], resume=[entry], **more)


async def told(adapter: AgUi, given: RunAgentInput, identity: Identity | None = None) -> list[dict[str, Any]]:
    """All events of a run, as the wire has them; what a client would refuse fails here."""
    events = [event async for event in adapter.run(given, identity=identity)]
    verify_events(events)
    return [event.model_dump(mode="json", by_alias=True) for event in events]


async def until(holds: Callable[[], object]) -> None:
    """Let others go on until something holds."""
    while not holds():  # noqa: ASYNC110  what is waited for sets no event
        await asyncio.sleep(0)


def types(events: list[dict[str, Any]]) -> list[str]:
    return [each["type"] for each in events]


def interrupt_id(events: list[dict[str, Any]]) -> str:
    """The id of the one question that a run ended with."""
    (asked_for,) = events[-1]["outcome"]["interrupts"]
    return asked_for["id"]


def shown(events: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Role and content of each message of the last snapshot."""
    snapshot = [each for each in events if each["type"] == "MESSAGES_SNAPSHOT"][-1]
    return [(each["role"], each.get("content")) for each in snapshot["messages"]]


def body(given: RunAgentInput) -> dict[str, Any]:
    return given.model_dump(mode="json", by_alias=True)


@asynccontextmanager
async def http(app: Any) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of an app in this process."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agent.test") as client:
        yield client


def resumed(text: str) -> list[dict[str, Any]]:
    """The events of a body, which must pass a client's checks."""
    frames = [each for each in text.split("\n\n") if each and not each.startswith(":")]
    events = [json.loads(each.removeprefix("data: ")) for each in frames]
    verify_events(events)
    return events


async def posted(app: Any, given: RunAgentInput, token: str | None = None) -> list[dict[str, Any]]:
    """All events of a run over HTTP."""
    async with http(app) as client:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        answer = await client.post("/agent", json=body(given), headers=headers)
    assert answer.status_code == 200, answer.text
    return resumed(answer.text)


class Connection:
    """A connection whose other side reads as it likes."""

    def __init__(self, app: Any, given: RunAgentInput) -> None:
        self.frames: list[str] = []
        self.status = 0
        self.is_complete = False
        self.reads = asyncio.Event()
        """Set while the client reads."""
        self.reads.set()
        self.got = asyncio.Event()
        """Set with the first frame."""
        self._gone = asyncio.Event()
        self._body: bytes | None = json.dumps(body(given)).encode()
        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": "/agent",
            "headers": [],
            "query_string": b"",
            "root_path": "",
        }
        self.task = asyncio.create_task(app(scope, self._receive, self._send))

    def go(self) -> None:
        """Close it from the client's side."""
        self._gone.set()

    async def _receive(self) -> dict[str, Any]:
        if self._body is not None:
            sent, self._body = self._body, None
            return {"type": "http.request", "body": sent, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        if message["body"]:
            self.frames.append(message["body"].decode())
        self.is_complete = not message["more_body"]
        self.got.set()
