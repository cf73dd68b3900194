"""Tests of agentfootprint.agent.redacting: one marker, every view."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from agentfootprint import RecordOptions
from agentfootprint.agent import conversation_redaction
from agentfootprint.events import EVENT_TYPES
from agentfootprint.flow import RedactionPolicy
from tests.agent.redacting.shop import MARKERS, MESSAGE, asking
from tests.agent.redacting.views import KEPT, LIVE, Watched, watched

VIEWS = {*LIVE, *KEPT, "stream", "handle"}
CALL = "call-7b1-pay"
EVENTS = {kind: ["*"] for kind in EVENT_TYPES}

WANTS: dict[str, tuple[RedactionPolicy, tuple[str, ...]]] = {
    "a tool's argument, by name, wherever it is quoted": (RedactionPolicy(keys=["card"]), (MARKERS["argument"],)),
    "a name by a pattern": (RedactionPolicy(patterns=["(?i)^rece"]), (MARKERS["result"],)),
    "a name that only rows of a slot have": (RedactionPolicy(keys=["rawContent", "contentSummary"]), ()),
    "a list of the state as a whole": (RedactionPolicy(keys=["history", "messagesInjections"]), ()),
    "a place below a name": (RedactionPolicy(fields={"thinkingBlocks": ["content"], "blocks": ["content"]}), ()),
    "the provider's id": (RedactionPolicy(keys=["toolCallId"]), (CALL,)),
    "a place in an event's payload": (RedactionPolicy(event_fields={"agentfootprint.pause.request": ["*"]}), ()),
    "the payload of some events": (RedactionPolicy(emit_patterns=["tool_progress$", "^shop", "injected$"]), ()),
    "the payload of every event": (RedactionPolicy(emit_patterns=["."]), ()),
    "every place in every payload": (RedactionPolicy(event_fields=EVENTS), ()),
    "a conversation": (conversation_redaction(["note", "card"]), tuple(MARKERS.values())),
    "everything": (RedactionPolicy(patterns=["."], emit_patterns=["."]), (*MARKERS.values(), CALL)),
}
"""What somebody may want to keep out, and the markers that then stand nowhere."""

_PLAIN: list[Watched] = []


async def plain(folder: Path) -> Watched:
    """The run without a policy, looked at once."""
    if not _PLAIN:
        _PLAIN.append(await watched(asking(), MESSAGE, folder, answer=MARKERS["reply"]))
    return _PLAIN[0]


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("want", WANTS)
async def test_what_a_policy_names_is_in_no_view_and_the_same_things_happen(want: str, tmp_path: Path) -> None:
    policy, hidden = WANTS[want]
    agent = asking(record=RecordOptions(redaction=policy))
    before = await plain(made(tmp_path / "plain"))

    found = await watched(agent, MESSAGE, tmp_path, answer=MARKERS["reply"])

    assert set(found.views) == VIEWS
    assert {marker: found.showing(marker) for marker in hidden if found.showing(marker)} == {}
    assert found.types == before.types
    assert agent.bus.listener_errors == agent.wire_bus.listener_errors == 0
    assert [result.text for result in found.results] == [result.text for result in before.results]
    assert [result.messages for result in found.results] == [result.messages for result in before.results]


async def test_without_a_policy_every_marker_is_in_most_views(tmp_path: Path) -> None:
    found = await plain(made(tmp_path / "plain"))

    assert set(found.views) == VIEWS
    assert min(len(found.showing(marker)) for marker in (*MARKERS.values(), CALL)) > len(VIEWS) / 2


async def test_what_is_not_named_is_served_as_it_is(tmp_path: Path) -> None:
    policy, before = RedactionPolicy(keys=["no such name"]), await plain(made(tmp_path / "plain"))

    found = await watched(asking(record=RecordOptions(redaction=policy)), MESSAGE, tmp_path, answer=MARKERS["reply"])

    assert {marker: found.showing(marker) for marker in MARKERS.values()} == {
        marker: before.showing(marker) for marker in MARKERS.values()
    }


async def test_what_one_kind_of_name_hides_is_seen_under_another(tmp_path: Path) -> None:
    policy = RedactionPolicy(emit_patterns=["tool_progress$", "^shop"])

    found = await watched(asking(record=RecordOptions(redaction=policy)), MESSAGE, tmp_path, answer=MARKERS["reply"])

    assert found.showing(MARKERS["progress"]) == []  # it stands in these two events only
    assert found.showing(MARKERS["argument"])


def names_in(value: Any) -> Iterator[str]:
    """Every name under which something stands in JSON."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield key
            yield from names_in(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from names_in(item)


@pytest.mark.parametrize("part", range(6))
async def test_whatever_is_hidden_every_reader_reads_on(part: int, tmp_path: Path) -> None:
    before = await plain(made(tmp_path / "plain"))
    wires = [result.recording.to_wire() for result in before.results]
    states = [{"state": wire["snapshot"]["sharedState"], "events": wire["events"]} for wire in wires]
    names = sorted({name for state in states for name in names_in(state)})
    agent = asking(record=RecordOptions(redaction=RedactionPolicy(keys=names[part::6])))

    found = await watched(agent, MESSAGE, tmp_path, answer=MARKERS["reply"])

    assert len(names) > 100
    assert found.types == before.types
    assert [result.text for result in found.results] == [result.text for result in before.results]
