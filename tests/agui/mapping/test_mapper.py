"""Tests of agentfootprint.agui.mapping.mapper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from ag_ui import core
from ag_ui.encoder import EventEncoder
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.agui import AgUiIdError, AgUiMapperStateError, AgUiOptions, verify_events
from agentfootprint.agui.mapping.calls import OpenCall
from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.agui.mapping.outcomes import Cancelled, Failed, Interrupted, Succeeded
from agentfootprint.events import EVENT_TYPES, Event
from tests.agui.client import Client, wire_of
from tests.agui.made import BARE, called, event, iteration, mapped, names, said, settled, token

HIDDEN = "[REDACTED]"

ids = st.sampled_from(["c1", "c2", HIDDEN, ""])
texts = st.sampled_from(["", "a", "Hello there", HIDDEN, "{}", "\u00e9\U0001f600"])
numbers = st.sampled_from([0, 1, 2, 7, HIDDEN])
scopes = st.sampled_from(["", "x/", "y/", "x/z/", "x/sf-llm-call/", "final/", "sf-thinking/"])
stages = st.sampled_from(["call-llm#1", "call-llm#9", "tool-calls#2", "tool-calls#3", "normalize#4", "s#paused", "odd"])
addresses = st.builds(str.__add__, scopes, stages)
values = st.one_of(st.none(), texts, st.just({"a": [1, None, "x"]}), st.just(0.5), st.booleans())
counts = st.one_of(
    st.just(HIDDEN),
    st.fixed_dictionaries(
        {"input": numbers, "output": numbers},
        optional={"cacheRead": numbers, "thinking": numbers, "usageReported": st.just(False)},
    ),
)
blocks: st.SearchStrategy[Any] = st.lists(
    st.fixed_dictionaries(
        dict[str, Any](type=st.just("thinking"), content=texts),
        optional=dict[str, Any](signature=st.sampled_from(["sig", HIDDEN])),
    ),
    max_size=2,
)
questions = st.one_of(
    st.just(HIDDEN),
    st.fixed_dictionaries(
        {},
        optional={
            "toolCallId": ids,
            "toolName": texts,
            "question": texts,
            "checkIn": st.one_of(st.just(HIDDEN), st.just({"evidence": {"willDo": "x"}, "component": {"a": 1}})),
            "ask": st.just({"question": "?", "middleware": "m"}),
            "authorization": st.just({"service": "s", "sessionId": "s-1"}),
            "awaitingInput": st.just({"requestId": "i", "fields": [{"id": "a", "type": "string"}], "supplied": HIDDEN}),
            "alsoAsked": st.lists(st.just({"toolCallId": "c1", "ask": HIDDEN, "index": 1}), max_size=2),
        },
    ),
)

SHAPES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "agent.turn_start": {"turnIndex": numbers, "userPrompt": texts},
    "agent.turn_end": {"finalContent": texts},
    "agent.iteration_start": {"turnIndex": numbers, "iterIndex": numbers},
    "agent.iteration_end": {"turnIndex": numbers, "iterIndex": numbers, "history": st.just([{"role": "user"}])},
    "agent.route_decided": {"chosen": st.sampled_from(["final", "output-retry", HIDDEN])},
    "stream.llm_start": {"iteration": numbers, "provider": texts, "model": texts, "messagesCount": numbers},
    "stream.token": {"iteration": numbers, "tokenIndex": numbers, "content": texts},
    "stream.llm_end": {
        "iteration": numbers,
        "content": texts,
        "toolCallCount": numbers,
        "usage": counts,
        "stopReason": texts,
    },
    "stream.restarted": {"reason": texts},
    "stream.thinking_delta": {"iteration": numbers, "tokenIndex": numbers, "content": texts},
    "stream.thinking_end": {"iteration": numbers, "blocks": blocks},
    "stream.tool_start": {"toolName": texts, "toolCallId": ids, "args": values, "notDispatched": values},
    "stream.tool_progress": {"toolCallId": ids, "toolName": texts, "iteration": numbers, "payload": values},
    "stream.tool_end": {
        "toolCallId": ids,
        "result": values,
        "modelResult": values,
        "error": st.sampled_from([True, HIDDEN]),
        "status": st.sampled_from(["success", HIDDEN, None]),
        "notDispatched": values,
    },
    "composition.enter": {"kind": st.sampled_from(["Loop", "Sequence", HIDDEN]), "id": texts, "name": texts},
    "composition.exit": {"kind": st.just("Loop"), "id": texts, "status": st.sampled_from(["ok", "err"])},
    "composition.iteration_start": {"loopId": texts, "iteration": numbers},
    "composition.iteration_exit": {"loopId": texts, "iteration": numbers, "reason": st.just("break")},
    "pause.request": {"reason": texts, "questionPayload": questions},
    "pause.resume": {"resumeInput": values, "pausedDurationMs": numbers},
    "error.fatal": {"error": texts, "stage": texts, "scope": texts},
    "permission.halt": {"target": texts, "reason": texts, "iteration": numbers, "sequenceLength": numbers},
    "agent.output_contract_unmet": {"stage": st.just("json-parse"), "error": texts},
    "agent.budget_exhausted": {"reason": st.just("max-iterations"), "iteration": numbers},
    "artifacts.presented": {"ref": texts, "toolCallId": ids},
    "cost.tick": {"cumulative": st.one_of(st.just(HIDDEN), st.just({"estimatedUsd": 0.25}))},
    "skill.activated": {"skillId": texts},
    "skill.deactivated": {"skillId": texts},
    "of.the_future": {"toolCallId": ids, "thinkingBlocks": blocks},
}


@st.composite
def events(draw: st.DrawFn) -> Event[Any]:
    """Any event, of any shape: parts may be hidden or missing, whole payloads too."""
    kind = draw(st.sampled_from(sorted(SHAPES)))
    payload = draw(
        st.one_of(
            st.fixed_dictionaries({}, optional=SHAPES[kind]), st.fixed_dictionaries(SHAPES[kind]), st.just(HIDDEN)
        )
    )
    ordinal = draw(st.sampled_from([None, None, 0, 1]))
    clock = draw(st.sampled_from([1_700_000_000_000, 5, 0, -1]))
    return event(kind, payload, draw(addresses), ordinal=ordinal, wallClockMs=clock)


@st.composite
def runs(draw: st.DrawFn) -> list[Event[Any]]:
    """Events in any order, now and then with a reply streamed in the usual way."""
    out: list[Event[Any]] = []
    for _ in range(draw(st.integers(0, 12))):
        if draw(st.booleans()):
            out.append(draw(events()))
            continue
        at = draw(addresses)
        out += [token(n, draw(texts), at) for n in range(draw(st.integers(0, 3)))]
        out += [said(draw(texts), at, calls=draw(st.integers(0, 2))), called(draw(ids), at=at), settled(draw(ids), at)]
    return out


def made(thinking: dict[str, Any], more: dict[str, Any]) -> AgUiOptions:
    return AgUiOptions(**thinking, **more)


options = st.builds(
    made,
    st.sampled_from([{}, {"reasoning": "full"}, {"reasoning": "full", "encrypted_reasoning": True}]),
    st.fixed_dictionaries(
        {
            "steps": st.booleans(),
            "state": st.sampled_from(["off", "live"]),
            "messages_snapshot": st.sampled_from(["auto", "always", "never"]),
            "custom": st.sampled_from([None, ["*"]]),
            "raw": st.booleans(),
            "text": st.sampled_from(["caller", "record"]),
        }
    ),
)
outcomes = st.sampled_from(
    [
        None,
        Succeeded(),
        Succeeded(text="Answer", result={"a": 1}),
        Interrupted(),
        Interrupted(data={"toolCallId": "c1", "checkIn": {}}, consent_urls={"s-1": "https://idp.example"}),
        Cancelled(),
        Failed(code="timeout"),
    ]
)
WAITING = [
    OpenCall(id=f"r-0/tool-call/{n}/tool-calls#2", provider_id="c1", n=n, address="tool-calls#2", tool_name="t")
    for n in range(2)
]


def sent_for(run: Sequence[Event[Any]], wanted: AgUiOptions, outcome: Any, *, resumed: bool) -> list[core.Event]:
    mapper = Mapper(
        "t-1",
        "r-1",
        wanted,
        open_calls=WAITING if resumed else (),
        message_ids={"": "r-0/message/0/call-llm#1"} if resumed else None,
        history=[core.UserMessage(id="u", content="Hi")] if resumed else None,
        client_state={},
    )
    return [*mapper.begin(), *(each for one in run for each in mapper.map(one)), *mapper.end(outcome)]


@given(runs(), options, outcomes, st.booleans())
def test_whatever_happens_a_client_accepts_what_is_sent(
    run: list[Event[Any]], wanted: AgUiOptions, outcome: Any, resumed: bool
) -> None:
    sent = sent_for(run, wanted, outcome, resumed=resumed)

    verify_events(sent)
    wire = wire_of(sent)
    verify_events(wire)
    client = Client(wire, wire_of([core.UserMessage(id="u", content="Hi")]) if resumed else ())
    shown = [message["id"] for message in client.messages]
    assert len(shown) == len(set(shown))
    assert [each["type"] for each in wire].count("RUN_STARTED") == 1
    assert sum(each["type"] in ("RUN_FINISHED", "RUN_ERROR") for each in wire) == 1
    for each, encoded in zip(wire, map(EventEncoder().encode, sent), strict=True):
        assert json.loads(encoded.removeprefix("data: ")) == each


@given(runs(), st.sampled_from([None, Succeeded(text="Answer"), Interrupted()]), st.booleans())
def test_in_the_end_the_client_holds_the_messages_of_the_mapper(
    run: list[Event[Any]], outcome: Any, thinks: bool
) -> None:
    before = [core.UserMessage(id="u", content="Hi"), core.AssistantMessage(id="a", content="Let me")]
    wanted = AgUiOptions(reasoning="full" if thinks else "off", steps=False)
    mapper = Mapper("t-1", "r-1", wanted, open_calls=WAITING, message_ids={"": "a"}, history=before)

    sent = [*mapper.begin(), *(each for one in run for each in mapper.map(one)), *mapper.end(outcome)]

    if wire_of(sent)[-1]["type"] == "RUN_FINISHED":
        held = Client(wire_of(sent), wire_of(before)).messages
        assert held == wire_of(mapper.messages)


@given(runs(), options, outcomes)
def test_the_same_events_give_the_same_output(run: list[Event[Any]], wanted: AgUiOptions, outcome: Any) -> None:
    first, again = (wire_of(sent_for(run, wanted, outcome, resumed=False)) for _ in range(2))

    assert first == again


@given(runs())
def test_no_thinking_leaves_by_default_whatever_else_is_sent(run: list[Event[Any]]) -> None:
    thought = [
        event("stream.thinking_delta", {"iteration": 1, "tokenIndex": 0, "content": "SWORDFISH"}, "call-llm#1"),
        event("stream.thinking_end", {"iteration": 1, "blocks": [{"type": "thinking", "content": "SWORDFISH"}]}),
    ]
    everything = AgUiOptions(raw=True, state="live", messages_snapshot="always", custom=["*"], custom_unsafe=True)

    sent = sent_for([*thought, *run, *thought], everything, None, resumed=True)

    assert "SWORDFISH" not in str(wire_of(sent))


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_type_of_the_vocabulary_may_come_hidden_whole(kind: str) -> None:
    hidden = event(kind.removeprefix("agentfootprint."), HIDDEN, "call-llm#1")

    mapped([hidden, hidden], AgUiOptions(custom=["*"], state="live", reasoning="full"))


def test_an_event_that_says_nothing_to_a_client_costs_nothing() -> None:
    mapper = Mapper("t-1", "r-1", BARE)
    mapper.begin()

    assert mapper.map(event("of.the_future", {})) == []


def test_a_mapper_begins_and_ends_once() -> None:
    mapper = Mapper("t-1", "r-1")

    with pytest.raises(AgUiMapperStateError, match="before it had begun"):
        mapper.map(said("x"))
    with pytest.raises(AgUiMapperStateError, match="before it had begun"):
        mapper.end()
    mapper.begin()
    with pytest.raises(AgUiMapperStateError, match="begin twice"):
        mapper.begin()
    mapper.end()
    with pytest.raises(AgUiMapperStateError, match="end twice"):
        mapper.end()


def test_nothing_is_sent_after_the_terminal_event() -> None:
    mapper = Mapper("t-1", "r-1")
    mapper.begin()
    mapper.end()

    assert mapper.map(said("x")) == []


def test_a_run_needs_an_id() -> None:
    with pytest.raises(AgUiIdError, match="runId"):
        Mapper("t-1", "")


def test_the_start_names_the_parent_and_echoes_the_input_only_when_that_is_wanted() -> None:
    given_input = core.RunAgentInput(
        thread_id="t-1", run_id="r-1", state={}, messages=[], tools=[], context=[], forwarded_props={}
    )

    def start(wanted: AgUiOptions) -> dict[str, Any]:
        mapper = Mapper("t-1", "r-1", wanted, parent_run_id="r-0", client_input=given_input)
        return wire_of(mapper.begin())[0]

    assert start(AgUiOptions())["parentRunId"] == "r-0"
    assert "input" not in start(AgUiOptions())
    assert start(AgUiOptions(include_input=True))["input"]["threadId"] == "t-1"


def test_events_carry_the_time_at_which_they_happened() -> None:
    sent = mapped([iteration("start", 1), event("agent.iteration_end", {"iterIndex": 9})], AgUiOptions())

    assert [each.get("timestamp") for each in sent] == [None, *[1_700_000_000_000] * 3]
    assert names(sent)[-2:] == ["STEP_FINISHED", "RUN_FINISHED"]
