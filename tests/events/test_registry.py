"""Tests of agentfootprint.events.registry."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import agentfootprint.events.payloads
from agentfootprint.events import DOMAINS, EVENT_TYPES, PAYLOAD_BY_TYPE, PAYLOADS, EventBus, Payload, domain_of

ADDED = [  # DEC-43
    *("agentfootprint.error.throttled", "agentfootprint.tools.definition_changed"),
    *("agentfootprint.tools.outcome_unknown", "agentfootprint.stream.restarted"),
]


def below(kind: type[Payload]) -> Iterator[type[Payload]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from below(subclass)


def test_every_payload_class_stands_in_the_one_list_once() -> None:
    for module in pkgutil.iter_modules(agentfootprint.events.payloads.__path__):
        importlib.import_module(f"agentfootprint.events.payloads.{module.name}")

    assert len(PAYLOADS) == len(set(PAYLOADS))
    assert {kind for kind in below(Payload) if kind.__module__.startswith("agentfootprint.")} == set(PAYLOADS)


def test_names_are_distinct_and_additions_come_last() -> None:
    assert len(set(EVENT_TYPES)) == len(PAYLOADS) == 107 + len(ADDED)
    assert list(EVENT_TYPES[107:]) == ADDED
    assert [PAYLOAD_BY_TYPE[name] for name in EVENT_TYPES] == list(PAYLOADS)


def test_every_domain_has_its_wildcard() -> None:
    bus = EventBus()

    for domain in DOMAINS:
        bus.on(f"{domain}.*", print)

    assert len(DOMAINS) == 24
    assert all(bus.has_listeners(name) for name in EVENT_TYPES)


def test_the_domain_of_a_type_is_all_before_its_last_dot() -> None:
    assert domain_of("agentfootprint.stream.token") == "agentfootprint.stream"
    assert domain_of("plain") == ""


def test_events_outside_any_stage_know_their_address() -> None:
    """EVT-9."""
    addresses = {
        kind.type.removeprefix("agentfootprint."): kind.outside_stage for kind in PAYLOADS if kind.outside_stage
    }

    assert addresses == {
        "agent.run_configured": "run-configured#0",
        "skill.graph_declared": "graph-declared#0",
        "integrity.disposition": "integrity-disposition#0",
        "tools.session_closed": "tool-teardown#0",
        "tools.session_close_failed": "tool-teardown#0",
    }
