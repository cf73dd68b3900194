"""Tests of agentfootprint.agent.pausing.entering."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Identity, Limits, Mock, ModelSettings, PauseCheckpoint, approve, tool
from agentfootprint.agent import (
    CheckpointFormatError,
    Decision,
    DecisionRequiredError,
    DecisionValue,
    PauseAnswerRequiredError,
    Paused,
    StaleDecisionError,
)
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event
from agentfootprint.trace import ValueRefusedError
from tests.agent.pausing.desk import RAN, desk, question

ASKS = [Mock.call("ask", question="Vip?"), "Done."]
GATED = [Mock.call("refund", amount=480), "Done."]


async def pause(agent: Agent[Any, str], **given: Any) -> Paused:
    return question(await agent.run("Go.", **given))


async def test_a_refusal_leaves_the_checkpoint_good_and_tells_nobody() -> None:
    agent = desk(*GATED)
    paused = await pause(agent)
    events: list[Event[Any]] = []
    agent.on("*", events.append)
    RAN.clear()

    for answer in ("yes", None, [1], {"approved": "yes", "by": "x"}, {"approved": True}, 3, True):
        with pytest.raises(DecisionRequiredError):
            await agent.resume(paused, answer)
    with pytest.raises(DecisionRequiredError) as refused:
        await agent.resume(paused)

    assert (refused.value.received, refused.value.gate, refused.value.tool_name) == ("nothing", "checkIn", "refund")
    assert (events, RAN) == ([], [])
    assert (await agent.resume(paused, {"approved": True, "by": ""})).text == "Done."


async def test_the_refusal_names_the_shape_and_never_the_value() -> None:
    agent = desk(*GATED)
    paused = await pause(agent)

    with pytest.raises(DecisionRequiredError) as refused:
        await agent.resume(paused, "the secret is 4711")

    assert "4711" not in str(refused.value)
    assert refused.value.received == "a string"


async def test_corrected_arguments_that_are_no_object_are_refused() -> None:
    agent = desk(*GATED)

    with pytest.raises(DecisionRequiredError, match="args are no object"):
        await agent.resume(await pause(agent), {"approved": True, "by": "d", "args": [480]})


async def test_a_question_needs_an_answer() -> None:
    agent = desk(*ASKS)

    with pytest.raises(PauseAnswerRequiredError) as refused:
        await agent.resume(await pause(agent))

    assert (refused.value.tool_name, refused.value.tool_call_id) == ("ask", "mock-call-1")


async def test_an_answer_that_cannot_be_recorded_is_refused() -> None:
    agent = desk(*ASKS)

    with pytest.raises(ValueRefusedError):
        await agent.resume(await pause(agent), {"x": object()})


async def test_an_answer_chosen_on_other_data_is_refused() -> None:
    agent = desk(*GATED)
    paused = await pause(agent)
    wire = paused.checkpoint.to_wire()
    wire["pauseData"]["checkIn"]["component"] = {"componentId": "panel", "propsRef": "art_1"}
    stale = Decision(approved=True, by="d", value=DecisionValue(kind="row", value=1, from_="art_2"))
    fresh = Decision(approved=True, by="d", value=DecisionValue(kind="row", value=1, from_="art_1"))

    with pytest.raises(StaleDecisionError) as refused:
        await agent.resume(wire, stale)

    assert (refused.value.asked, refused.value.answered) == ("art_1", "art_2")
    assert (await agent.resume(wire, fresh)).text == "Done."


@pytest.mark.parametrize("given", [None, 3, "{}", [1], {}, {"sharedState": {}}])
async def test_what_is_no_checkpoint_is_refused(given: Any) -> None:
    with pytest.raises(CheckpointFormatError):
        await desk(*ASKS).resume(given, "y")


async def test_a_damaged_checkpoint_is_refused_by_its_member_and_never_by_content() -> None:
    agent = desk(*ASKS)
    wire = (await pause(agent)).checkpoint.to_wire()
    cases: list[tuple[str, Any]] = [
        ("history", "secret text"),
        ("history", [{"role": "nobody", "content": "secret text"}]),
        ("userMessage", 5),
        ("iteration", "one"),
        ("pausedToolCallId", None),
        ("systemPromptInjections", [{"slot": 5}]),
    ]

    for key, value in cases:
        broken = {**wire, "sharedState": {**wire["sharedState"], key: value}}
        with pytest.raises(CheckpointFormatError) as refused:
            await agent.resume(broken, "y")
        assert refused.value.field.startswith(f"sharedState.{key}")
        assert "secret" not in str(refused.value)


async def test_a_checkpoint_of_another_stage_is_refused() -> None:
    agent = desk(*ASKS)
    wire = (await pause(agent)).checkpoint.to_wire()

    with pytest.raises(CheckpointFormatError) as refused:
        await agent.resume({**wire, "pausedStageId": "elsewhere"}, "y")

    assert refused.value.field == "pausedStageId"


async def test_an_agent_built_otherwise_is_refused_unless_the_caller_insists() -> None:
    wire = (await pause(desk(*ASKS))).checkpoint.to_wire()

    @tool
    async def other(x: int) -> int:
        """Do something. Use it always."""
        return x

    def made(id: str, **options: Any) -> Agent[Any, str]:
        return Agent(Mock(ASKS, cursor="history"), id=id, tools=[other], **options)

    for agent, field in (
        (made("elsewhere"), "agentfootprint.agentId"),
        (made("desk", limits=Limits(wrap_up=False)), "chartFingerprint"),
    ):
        with pytest.raises(CheckpointFormatError) as refused:
            await agent.resume(wire, "y")
        assert refused.value.field == field
        assert (await agent.resume(wire, "y", allow_chart_change=True)).text == "Done."


async def test_a_run_that_was_paused_for_somebody_stays_theirs() -> None:
    agent = desk(*ASKS)
    alice = Identity(conversation_id="c", principal="alice", tenant="acme")
    wire = (await pause(agent, identity=alice)).checkpoint.to_wire()

    with pytest.raises(CheckpointFormatError) as refused:
        await agent.resume(wire, "y", identity=Identity(conversation_id="c", principal="mallory"))
    result = await agent.resume(wire, "y")

    assert not {"alice", "mallory", "acme"} & set(str(refused.value).replace("'", " ").split())
    assert {event.meta.principal for event in result.recording.events} == {"alice"}


async def test_an_identity_of_another_kind_is_refused() -> None:
    agent = desk(*ASKS)

    with pytest.raises(ConfigError, match="identity"):
        await agent.resume(await pause(agent), "y", identity="alice")  # type: ignore[arg-type]


async def test_a_checkpoint_of_another_implementation_is_taken_up() -> None:
    agent = desk(*ASKS)
    wire = (await pause(agent)).checkpoint.to_wire()
    for key in ("agentfootprint", "chartFingerprint", "schemaVersion", "runInput"):
        del wire[key]
    del wire["sharedState"]["pausedToolIndex"]

    result = await agent.resume(PauseCheckpoint.from_wire(wire), "y")

    assert result.text == "Done."


async def test_options_that_were_given_to_the_run_hold_for_its_rest_in_the_same_process() -> None:
    seen: list[float | None] = []

    def model(request: Any) -> Any:
        seen.append(request.temperature)
        return "Done." if len(request.messages) > 1 else Mock.call("ask", question="?")

    agent = desk(provider=Mock(model))
    paused = await pause(agent, settings=ModelSettings(temperature=0.25))

    await agent.resume(paused, "y")

    assert seen == [0.25, 0.25]


async def test_a_decision_may_answer_a_plain_question_too() -> None:
    agent = desk(*ASKS)

    result = await agent.resume(await pause(agent), approve(by="d"))

    assert '"approved":true' in result.messages[2].content


async def test_a_gate_is_never_taken_for_a_plain_question() -> None:
    agent = desk(*GATED)
    RAN.clear()
    wire = (await pause(agent)).checkpoint.to_wire()
    asked = {**wire, "pauseData": {"toolCallId": "c", "toolName": "refund", "question": "Sure?"}}
    plain = {**wire, "sharedState": {**wire["sharedState"], "pausedCheckIn": False}}

    for broken in (asked, plain):
        with pytest.raises(CheckpointFormatError) as refused:
            await agent.resume(broken, approve(by="d"))
        assert refused.value.field == "pauseData"

    assert RAN == []
