"""Tests of agentfootprint.agent.llm_call."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import ConfigError, Identity, Limits, LLMCall, Mock, ModelSettings, Output, Recording, RunOptions
from agentfootprint.agent import CheckpointFormatError, DeadlineExceededError, InvalidRunInputError
from agentfootprint.events import Event, Token, event_to_wire
from agentfootprint.explain import UnknownSourceError
from agentfootprint.llm import LLMChunk, LLMRequest, LLMResponse, ProviderError
from tests.vectors.harness import load


def heard(call: LLMCall[Any], form: Any = "native") -> list[Event[Any]]:
    events: list[Event[Any]] = []
    call.on("*", events.append, form=form)
    return events


def test_one_request_is_sent_and_its_answer_handed_back() -> None:
    asked: list[LLMRequest] = []

    def model(request: LLMRequest) -> str:
        asked.append(request)
        return "Paris."

    call = LLMCall(Mock(model), system="Be terse.", settings=ModelSettings(temperature=0.2, max_tokens=9))
    result = call.run_sync("The capital of France?")

    assert (result.output, str(result), result.ended_because, result.iterations) == ("Paris.", "Paris.", "answer", 1)
    assert [message.role for message in result.messages] == ["user", "assistant"]
    (request,) = asked
    assert (request.system_prompt, request.tools, request.temperature, request.max_tokens) == (
        "Be terse.",
        None,
        0.2,
        9,
    )
    assert [message.content for message in request.messages] == ["The capital of France?"]


def test_its_events_are_those_of_the_reference_and_tokens_beside() -> None:
    cases: list[Any] = [each.values[0] for each in load("events").cases("run-streams")]
    wanted: list[Any] = next(case.expected["events"] for case in cases if case.name == "llm-call")
    call = LLMCall("mock-1", provider=Mock("Hello."), system="S")
    events = heard(call, "wire")
    call.run_sync("Hi")

    assert any(event.type == Token.type for event in events)  # AGT-160: the reference never streams here
    wire = [event_to_wire(event) for event in events if event.type != Token.type]
    assert [event["type"] for event in wire] == [event["type"] for event in wanted]
    for event, want in zip(wire, wanted, strict=True):
        assert event["payload"] == want["payload"]
        for key in ("runtimeStageId", "subflowPath", "compositionPath"):
            assert event["meta"][key] == want["meta"][key]


def test_an_empty_answer_is_an_answer() -> None:
    assert LLMCall(Mock("")).run_sync("Say nothing.").output == ""


class Refund(BaseModel):
    approved: bool


def test_the_answer_may_be_typed() -> None:
    assert LLMCall(Mock('{"approved": true}'), output=Refund).run_sync("?").output == Refund(approved=True)
    missed = LLMCall(Mock("no"), output=Refund).run_sync("?")
    assert (missed.output_or_none, missed.ended_because) == (None, "output_unmet")


async def test_it_streams() -> None:
    call = LLMCall(Mock("one two"))
    async with call.stream("Count.") as run:
        texts = [text async for text in run.text()]
        result = await run.result()

    assert ("".join(texts), result.text) == ("one two", "one two")


async def test_any_number_of_runs_may_be_in_flight() -> None:
    call = LLMCall(Mock(lambda request: f"you said {request.messages[0].content}"))
    results = await asyncio.gather(*(call.run(f"{n}", session_id=f"s{n}") for n in range(50)))

    assert [result.text for result in results] == [f"you said {n}" for n in range(50)]
    assert len({result.run_id for result in results}) == 50


def test_it_is_recorded_and_explained_in_this_process_and_from_a_file(tmp_path: Path) -> None:
    result = LLMCall(Mock("APPROVED"), system="You decide refunds.").run_sync("Refund?")
    loaded = Recording.load(result.recording.save(tmp_path / "call.json"))

    for recording in (result.recording, loaded):
        (call,) = recording.calls
        assert (call.system_text, call.content) == ("You decide refunds.", "APPROVED")
        assert [message.content for message in call.messages] == ["Refund?"]
    why = result.why()
    assert (why.answer, why.sources, why.step) == ("APPROVED", (), "sf-llm-call/call-llm#7")
    assert "APPROVED" in str(why)


def test_what_it_has_is_left_out_by_no_name() -> None:
    call = LLMCall(Mock("x"), system="S", output=Refund)

    assert call.without([]).run_sync("?").text == "x"
    with pytest.raises(UnknownSourceError):
        call.without(["policy"])


async def test_a_run_takes_the_options_of_a_run() -> None:
    call = LLMCall(Mock("x"), id="judge")
    result = await call.run(
        {"message": "go"},
        identity=Identity(conversation_id="c", tenant="t"),
        options=RunOptions(run_id="run-mine", correlation_id="k"),
    )

    meta = result.recording.events[0].meta
    assert (result.run_id, meta.correlation_id, meta.tenant) == ("run-mine", "k", "t")
    assert meta.composition_path == ("LLMCall:judge",)
    assert (call.name, call.id, call.is_free, call.spec["id"], repr(call)) == (
        "LLMCall",
        "judge",
        True,
        "judge",
        "LLMCall(id='judge', model='mock-model')",
    )


class Failing:
    name = "failing"
    default_model = "f"

    async def complete(self, request: LLMRequest, hooks: object = None) -> LLMResponse:
        raise ProviderError("no service", provider="failing", fix="Wait.")


def test_a_failing_model_ends_in_one_fatal_event() -> None:
    call = LLMCall(Failing())
    events = heard(call)
    with pytest.raises(ProviderError):
        call.run_sync("?")

    assert events[-1].type == "agentfootprint.error.fatal"
    assert events[-1].payload.stage == "__root__"


class Endless:
    name = "endless"
    default_model = "e"

    async def complete(self, request: LLMRequest, hooks: object = None) -> LLMResponse:
        raise AssertionError("it streams")

    async def stream(self, request: LLMRequest, hooks: object = None) -> Any:
        await asyncio.Event().wait()
        yield LLMChunk(token_index=0, content="x")


async def test_a_deadline_ends_it() -> None:
    with pytest.raises(DeadlineExceededError):
        await LLMCall(Endless(), limits=Limits(deadline=0.01)).run("?")


def test_what_decides_nothing_for_a_single_call_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"limits\.iterations decides nothing"):
        LLMCall("mock", limits=Limits(iterations=3))
    with pytest.raises(ConfigError, match=r"limits\.wrap_up decides nothing"):
        LLMCall("mock").run_sync("?", limits=Limits(wrap_up=False))
    with pytest.raises(ConfigError, match=r"nobody could ask again"):
        LLMCall("mock", output=Output(Refund, retries=1))
    with pytest.raises(ConfigError, match=r"The id of the call"):
        LLMCall("mock", id=" ")
    with pytest.raises(ConfigError, match=r"record is 3"):
        LLMCall("mock", record=3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"There is no event type"):
        LLMCall("mock").on("agentfootprint.stream.tokens", print)


def test_what_is_no_message_is_refused_and_nothing_is_resumed() -> None:
    with pytest.raises(InvalidRunInputError, match=r"LLMCall\.run needs a message") as caught:
        LLMCall("mock").run_sync(" ")
    assert caught.value.runner == "LLMCall.run"
    with pytest.raises(CheckpointFormatError, match=r"never waits for a person"):
        LLMCall("mock").resume_sync({}, "yes")
