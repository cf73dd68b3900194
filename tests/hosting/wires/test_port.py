"""Tests of agentfootprint.hosting.wires.port: two dialects of different kinds fit it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from agentfootprint import Agent, Mock
from agentfootprint.agui import AgUiWire
from agentfootprint.hosting import (
    InMemorySessions,
    ReadRequest,
    RequestFacts,
    SupportsAwaiting,
    SupportsConversations,
    SupportsMount,
    Wire,
)
from agentfootprint.trace import ABSENT


class Plain:
    """A dialect with one body for a request and one for an answer."""

    def read_request(self, facts: RequestFacts) -> ReadRequest:
        body: Mapping[str, Any] = cast("Mapping[str, Any]", facts.body) if isinstance(facts.body, Mapping) else {}
        return ReadRequest(
            input=str(body.get("input", "")),
            decision=body.get("decision", ABSENT),
            session_id=facts.headers.get("x-session-id"),
        )

    def health(self, uptime_ms: int) -> dict[str, Any]:
        return {"status": "ok", "uptimeMs": uptime_ms}

    def output(self, text: str) -> dict[str, Any]:
        return {"output": text}

    def failure(self, message: str, code: str | None) -> dict[str, Any]:
        return {"error": message, "code": code}

    def chunk(self, text: str) -> dict[str, Any]:
        return {"text": text}


def test_what_a_wire_can_do_besides_is_asked_for() -> None:
    plain, agui = Plain(), AgUiWire()

    assert isinstance(plain, Wire)
    assert isinstance(agui, Wire)
    assert isinstance(agui, SupportsMount)
    assert not isinstance(plain, (SupportsMount, SupportsAwaiting, SupportsConversations))
    assert not isinstance(object(), Wire)


async def test_a_host_mounts_a_dialect_that_serves_its_path_by_itself() -> None:
    wire: SupportsMount = AgUiWire()

    mounted = wire.mount(Agent(Mock("It is done.")), "/agent", sessions=InMemorySessions())

    async with mounted.adapter:
        assert "/agent" in [route.path for route in mounted.routes]


@pytest.mark.parametrize(
    ("body", "decision"),
    [({"input": "hi"}, ABSENT), ({"decision": None}, None), ({"decision": False}, False), (None, ABSENT), ([], ABSENT)],
)
def test_the_presence_of_a_decision_makes_a_resume_not_its_value(body: Any, decision: Any) -> None:
    """HST-4."""
    read = Plain().read_request(RequestFacts(body=body, headers={"x-session-id": "s"}))

    assert read.decision is decision
    assert read.session_id == "s"


def test_what_a_request_holds_stays_out_of_its_repr() -> None:
    facts = RequestFacts(body={"input": "secret"}, headers={"authorization": "secret"}, query={"q": "secret"})
    read = ReadRequest(input="secret", user_id="secret", decision="secret", parsed="secret", session_id="s-1")

    assert "secret" not in repr(facts) + repr(read)
