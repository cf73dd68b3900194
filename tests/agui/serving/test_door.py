"""Tests of agentfootprint.agui.serving.door: what HTTP requests are turned away with which status."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from agentfootprint import Agent, Mock
from agentfootprint.agui import AgUiOptions, agui_app
from agentfootprint.agui.serving import door
from agentfootprint.errors import ConfigError
from agentfootprint.hosting import (
    IdentityNotVerifiedError,
    InMemorySessions,
    VerifiedIdentity,
    VerifierUnavailableError,
)
from tests.agent.pausing.desk import RAN, desk
from tests.agui.serving.clients import answered, asked, body, http, interrupt_id, posted, resumed

MARKER = "marker-3f9a"


class Tokens:
    """A verifier of tokens such as `alice@acme`."""

    allow_anonymous = False

    async def verify(self, token: str) -> VerifiedIdentity:
        if token == "away":
            raise VerifierUnavailableError("tokens")
        if "@" not in token:
            raise IdentityNotVerifiedError("unverifiable")
        user, _, tenant = token.partition("@")
        return VerifiedIdentity(user, tenant=tenant)


def app(**options: Any) -> Any:
    return agui_app(Agent(Mock(lambda _: "Yes.")), **options)


async def test_a_run_over_http() -> None:
    async with http(app()) as client:
        answer = await client.post("/agent", json=body(asked()), headers={"accept": "text/event-stream"})

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-cache"
    events = resumed(answer.text)
    assert (events[0]["type"], events[-1]["type"]) == ("RUN_STARTED", "RUN_FINISHED")
    assert "null" not in answer.text


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("text/event-stream", 200),
        ("application/json, text/event-stream;q=0.5", 200),
        ("*/*", 200),
        ("text/*", 200),
        ("application/json", 406),
        ("text/event-stream;q=0", 406),
    ],
)
async def test_what_is_accepted(accept: str, status: int) -> None:
    async with http(app()) as client:
        answer = await client.post("/agent", json=body(asked()), headers={"accept": accept})

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("sent", "fields"),
    [
        (b"", ["(body)"]),
        (b"{", ["(body)"]),
        (b"[1]", ["(body)"]),
        (b"\xff\xfe", ["(body)"]),
        (b"[" * 100_000, ["(body)"]),
        (json.dumps({"threadId": MARKER}).encode(), ["runId", "messages"]),
        (json.dumps({**body(asked()), "threadId": [MARKER]}).encode(), ["threadId"]),
        (json.dumps({**body(asked()), "messages": [{"role": MARKER, "id": "x"}]}).encode(), ["messages.0"]),
        (
            json.dumps({**body(asked()), "resume": [{"interruptId": "i", "status": MARKER}]}).encode(),
            ["resume.0.status"],
        ),
        (json.dumps({**body(asked()), "runId": "\ud800"}).encode(), ["(body)"]),
    ],
)
async def test_a_malformed_body_is_told_by_its_fields_only(sent: bytes, fields: list[str]) -> None:
    async with http(app()) as client:
        answer = await client.post("/agent", content=sent)

    assert answer.status_code == 422
    assert answer.json()["fields"] == fields
    assert MARKER not in answer.text


async def test_a_body_that_is_too_long_is_not_read() -> None:
    async def endless() -> AsyncGenerator[bytes]:
        while True:
            yield b"x" * 65_536

    async with http(app(max_body_bytes=100_000)) as client:
        told = await client.post("/agent", content=b"x" * 100_001)
        untold = await client.post("/agent", content=endless())

        good = await client.post("/agent", json=body(asked()))
        other = await client.post("/agent", content=endless(), headers={"content-type": "text/plain"})

    assert (told.status_code, untold.status_code) == (413, 413)
    assert [each.headers.get("connection") for each in (told, untold, good, other)] == ["close", "close", None, "close"]
    assert told.json()["code"] == "ERR_BODY_TOO_LARGE"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json; charset=utf-8"}, 200),
        ({"content-type": "Application/JSON"}, 200),
        ({}, 200),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "text/plain; application/json"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"origin": "https://evil.example"}, 415),
    ],
)
async def test_what_a_page_of_another_origin_can_send_unasked_starts_no_run(
    headers: dict[str, str], status: int
) -> None:
    async with http(app()) as client:
        answer = await client.post("/agent", content=json.dumps(body(asked())).encode(), headers=headers)

    assert answer.status_code == status


async def test_a_body_that_comes_byte_by_byte_has_so_long_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def dripping() -> AsyncGenerator[bytes]:
        yield b"{"
        await asyncio.sleep(30)

    monkeypatch.setattr(door, "BODY_SECONDS", 0.02)
    async with http(app()) as client:
        answer = await client.post("/agent", content=dripping())

    assert (answer.status_code, answer.json()["code"]) == (408, "ERR_BODY_TIMEOUT")


async def test_a_verifier_that_hangs_is_one_that_is_away(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Hanging(Tokens):
        async def verify(self, token: str) -> VerifiedIdentity:
            await asyncio.sleep(30)
            return await super().verify(token)

    monkeypatch.setattr(door, "VERIFIED_SECONDS", 0.02)
    async with http(app(verifier=Hanging())) as client:
        answer = await client.post("/agent", json=body(asked()), headers={"authorization": f"Bearer {MARKER}"})

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert MARKER not in answer.text + caplog.text


async def test_a_server_that_ends_takes_no_more_requests() -> None:
    served = app()
    await served.state.agui.aclose()

    async with http(served) as client:
        answer = await client.post("/agent", json=body(asked()))

    assert (answer.status_code, answer.json()["code"]) == (503, "ERR_HOST_CLOSED")


async def test_other_methods_and_paths() -> None:
    async with http(app()) as client:
        got = await client.get("/agent")
        other = await client.post("/other", json=body(asked()))

    assert (got.status_code, other.status_code) == (405, 404)
    assert "POST" in got.headers["allow"]


async def test_nobody_is_let_in_without_a_proof(caplog: pytest.LogCaptureFixture) -> None:
    served = app(verifier=Tokens())
    async with http(served) as client:
        none = await client.post("/agent", json=body(asked()))
        bad = await client.post("/agent", content=b"{", headers={"authorization": f"Bearer {MARKER}"})
        away = await client.post("/agent", json=body(asked()), headers={"authorization": "Bearer away"})
        asks = await client.get("/agent/capabilities")

    assert (none.status_code, none.headers["www-authenticate"]) == (401, "Bearer")
    assert (bad.status_code, bad.headers["www-authenticate"]) == (401, 'Bearer error="invalid_token"')
    assert (away.status_code, asks.status_code) == (503, 401)
    assert MARKER not in bad.text + caplog.text


async def test_a_thread_is_its_callers_whatever_the_body_says() -> None:
    RAN.clear()
    store = InMemorySessions()
    served = agui_app(desk(Mock.call("refund", amount=480), "Done."), verifier=Tokens(), sessions=store)
    asks = await posted(served, asked("Secret."), "alice@acme")
    forged = answered(interrupt_id(asks), {"approved": True, "by": "alice"}, forwarded_props={"principal": "alice"})

    other = await posted(served, forged, "alice@rival")
    own = await posted(served, answered(interrupt_id(asks), {"approved": True}, run="r-3"), "alice@acme")

    assert other[-1]["code"] == "interrupt_unknown"
    assert own[-1]["result"] == "Done."
    assert RAN == ["refund 480"]


async def test_what_the_agent_can_do() -> None:
    async with http(app(options=AgUiOptions(reasoning="full", state="live"))) as client:
        found = (await client.get("/agent/capabilities")).json()

    assert found["transport"]["streaming"] is True
    assert found["state"] == {"snapshots": True, "deltas": True, "persistentState": False}
    assert found["reasoning"] == {"supported": True, "streaming": True, "encrypted": False}
    assert found["humanInTheLoop"]["interrupts"] is True
    assert found["tools"] == {"supported": False, "clientProvided": False}


async def test_a_store_that_cant_be_asked_is_an_error_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(InMemorySessions):
        async def hydrate(self, session_id: str) -> Any:
            raise OSError(MARKER, session_id)

    with caplog.at_level(logging.DEBUG):
        events = await posted(app(sessions=Broken()), asked(thread="private-thread"))

    assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "internal")
    assert MARKER not in str(events) + caplog.text
    assert "private-thread" not in caplog.text


async def test_a_verifier_with_a_bug_lets_nobody_in() -> None:
    class Buggy(Tokens):
        async def verify(self, token: str) -> VerifiedIdentity:
            raise RuntimeError(token)

    async with http(app(verifier=Buggy())) as client:
        answer = await client.post("/agent", json=body(asked()), headers={"authorization": f"Bearer {MARKER}"})

    assert answer.status_code == 401
    assert MARKER not in answer.text


@pytest.mark.parametrize(
    "options",
    [
        {"path": "agent"},
        {"path": "/{x}"},
        {"max_body_bytes": 0},
        {"options": AgUiOptions(raw=True)},
        {"cors_origins": "https://a.example"},
    ],
)
def test_an_app_that_cant_be_meant_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        app(**options)


async def test_pages_of_other_origins_are_let_in_only_when_named() -> None:
    asking = {"origin": "https://page.example", "access-control-request-method": "POST"}
    async with http(app()) as client:
        closed = await client.options("/agent", headers=asking)
    async with http(app(cors_origins=["https://page.example"])) as client:
        opened = await client.options("/agent", headers=asking)
        other = await client.options("/agent", headers={**asking, "origin": "https://evil.example"})

    assert "access-control-allow-origin" not in closed.headers
    assert opened.headers["access-control-allow-origin"] == "https://page.example"
    assert "access-control-allow-origin" not in other.headers
