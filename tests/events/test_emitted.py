"""Tests of what the sources emit: every type is registered and documented, and who is silent is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentfootprint.events import DOMAINS, EVENT_TYPES, PAYLOADS
from tests.landed import ROOT, SOURCE

CLASSES = {payload.__name__: payload.type for payload in PAYLOADS}
NAMED = ("emit", "app_event", "UnknownEvent", "on", "once", "has_listeners", "typed_emit")
"""Functions whose first argument is an event's type."""
SHORT = {domain.removeprefix("agentfootprint.") for domain in DOMAINS}
OTHER_WORDS = {
    *(
        "composition.start",
        "composition.end",
        "skill.routing",
        "cost.cumulative_usd",
        "error.type",
    ),  # domain events, spans
    *("context.routed", "stream.thinking", "composition.handoff"),  # keys of commentary
    *("context.entry_witness", "context.model_pick"),
}
FOR_APPLICATIONS = {"eval.score", "eval.threshold_crossed", "risk.flagged"}
"""Emitted by applications, never here (05 s.2.9)."""
NOT_YET = {
    # skills and maps (04b)
    *("skill.activated", "skill.deactivated", "skill.escalated", "skill.graph_declared", "skill.rejected"),
    *("skill.reroute_superseded", "skill.route_conflict", "skill.step_advanced", "skill.step_skipped"),
    *("skill.steps_unfinished", "skill.turn_routed", "map.engaged", "map.parked"),
    # memory, documents, artifacts (07)
    *("memory.attached", "memory.detached", "memory.retrieved", "memory.strategy_applied", "memory.written"),
    *("embedding.generated", "artifacts.expired", "artifacts.minted", "artifacts.presented", "artifacts.refused"),
    *("artifacts.resolved", "context.evicted"),
    # retries, reliability, fallbacks (08, 08b)
    *("error.circuit_changed", "error.recovered", "error.retried", "error.throttled", "fallback.triggered"),
    *("reliability.fail_fast", "reliability.recovered", "reliability.retried", "stream.restarted"),
    *("agent.output_schema_validation_failed",),
    # credentials and gates (09b, 03)
    *("credential.acquired", "credential.authorization_required", "credential.failed", "credential.requested"),
    *("permission.gate_closed", "permission.gate_opened", "agent.evidence_checked", "integrity.context_error"),
    # tools (03)
    *(
        "tools.activated",
        "tools.code_run",
        "tools.deactivated",
        "tools.definition_changed",
        "tools.discovery_completed",
    ),
    *("tools.discovery_failed", "tools.discovery_started", "tools.effect", "tools.offered", "tools.outcome_unknown"),
    *("tools.result_refused", "tools.semantics_declared", "tools.shadowed"),
    # swarms
    "agent.handoff",
}
"""Registered, readable, documented, and emitted by parts that are not here yet."""


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def called(call: ast.Call) -> str | None:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", None)


def constants(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


@pytest.fixture(scope="module")
def made() -> set[str]:
    """The types whose payloads are made outside the vocabulary itself."""
    return {
        CLASSES[name]
        for path, module in sources()
        if path.relative_to(SOURCE).parts[0] != "events"
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and (name := called(node)) in CLASSES
    }


def test_every_type_that_is_named_where_events_are_sent_or_awaited_is_registered() -> None:
    known = {*EVENT_TYPES, *(f"{domain}.*" for domain in DOMAINS), "*"}
    strange = [
        f"{path.relative_to(ROOT)}:{node.lineno} {first.value}"
        for path, module in sources()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and called(node) in NAMED and node.args
        if isinstance(first := node.args[0], ast.Constant) and isinstance(first.value, str)
        if first.value.startswith("agentfootprint.") and first.value not in known
    ]

    assert strange == []


@pytest.mark.parametrize("room", ["observe", "agui", "hosting", "agent", "tools"])
def test_every_short_name_of_an_event_is_one(room: str) -> None:
    """Tables of readers name types without their first segment; a name that is none would never be met (trap 1)."""
    shape = re.compile(rf"({'|'.join(sorted(SHORT))})\.[a-z][a-z_]*")
    strange = {
        f"{path.relative_to(ROOT)}: {text}"
        for path, module in sources()
        if path.relative_to(SOURCE).parts[0] == room
        for text in constants(module)
        if shape.fullmatch(text) and f"agentfootprint.{text}" not in EVENT_TYPES and text not in OTHER_WORDS
        if (text.partition(".")[0], room) != ("agent", "agent")  # modules of the room
    }

    assert strange == set()


def test_a_type_is_emitted_here_or_it_is_known_who_will(made: set[str]) -> None:
    silent = {name.removeprefix("agentfootprint.") for name in EVENT_TYPES if name not in made}

    assert silent - FOR_APPLICATIONS <= NOT_YET
    assert silent >= FOR_APPLICATIONS
    assert {name.removeprefix("agentfootprint.") for name in EVENT_TYPES} >= FOR_APPLICATIONS | NOT_YET


def test_every_type_has_a_row_in_the_manual() -> None:
    page = (ROOT / "docs" / "reference" / "events.md").read_text(encoding="utf-8")

    assert [name for name in EVENT_TYPES if f"\n### {name}\n" not in page] == []
