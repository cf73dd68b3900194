"""Tests of agentfootprint.agui.serving.wire."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from agentfootprint import Agent, Mock
from agentfootprint.agui import AgUiOptions, AgUiWire
from agentfootprint.agui.errors import AgUiRefusedError
from agentfootprint.hosting import InMemorySessions, RequestFacts, Wire
from tests.agui.serving.clients import answered, asked, body, http, posted, resumed


def test_it_is_a_wire() -> None:
    wire = AgUiWire()

    assert isinstance(wire, Wire)
    assert wire.health(5) == {"status": "ok", "uptimeMs": 5}
    assert (wire.output("a"), wire.chunk("a")) == ({"output": "a"}, {"text": "a"})
    assert wire.failure("No.", "ERR_X") == {"error": "No.", "code": "ERR_X"}
    assert wire.failure("No.", None) == {"error": "No."}


def test_a_request_is_read_as_other_wires_read_theirs() -> None:
    read = AgUiWire().read_request(RequestFacts(body=body(asked("Hi."))))

    assert (read.input, read.session_id, read.user_id) == ("Hi.", "t-1", None)


@pytest.mark.parametrize("given", [None, [], {"threadId": "marker"}, body(answered("i", 1)), body(asked(thread=""))])
def test_what_is_no_request_is_refused_without_its_words(given: Any) -> None:
    with pytest.raises(AgUiRefusedError) as caught:
        AgUiWire().read_request(RequestFacts(body=given))

    assert "marker" not in str(caught.value)


async def test_two_agents_stand_in_one_application() -> None:
    store = InMemorySessions()
    wire = AgUiWire(options=AgUiOptions(steps=False))
    a = wire.mount(Agent(Mock("A.")), "/agent", sessions=store)
    b = wire.mount(Agent(Mock("B.")), "/", sessions=InMemorySessions())
    app = Starlette(routes=[*a.routes, Mount("/b", routes=list(b.routes))])

    events = await posted(app, asked())
    async with http(app) as client:
        other = resumed((await client.post("/b/", json=body(asked()))).text)

    assert (events[-1]["result"], other[-1]["result"]) == ("A.", "B.")
    assert "STEP_STARTED" not in [each["type"] for each in events]
    assert await store.hydrate("_/_/t-1") is not None
