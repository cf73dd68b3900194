"""Tests of agentfootprint.observe.views.engineering."""

from __future__ import annotations

from agentfootprint import Fact
from agentfootprint.events import EventBus
from agentfootprint.observe import context_engineering
from tests.observe.made import desk, event


def test_what_somebody_put_there_is_told_from_what_is_there_anyway() -> None:
    agent = desk(system="Be brief.", context=[Fact("user", "Name: Ann")])
    engineering = context_engineering(agent)
    put: list[str] = []
    there: list[str] = []
    engineering.on_engineered(lambda each: put.append(each.payload.source))
    listening = engineering.on_baseline(lambda each: there.append(each.payload.source))

    agent.run_sync("Weather?")

    assert put == ["fact"]
    assert set(there) == {"base", "user", "registry", "assistant", "tool-result"}
    listening.close()
    engineering.close()
    agent.run_sync("Weather?")
    assert put == ["fact"]


def test_a_source_that_is_not_known_is_neither() -> None:
    bus, heard = EventBus(), list[object]()
    engineering = context_engineering(bus)
    engineering.on_engineered(heard.append)
    engineering.on_baseline(heard.append)

    payload = {"contentSummary": "", "contentHash": "0", "slot": "messages", "source": "not-dispatched", "reason": ""}
    bus.dispatch(event("context.injected", payload))

    assert heard == []
