"""Tests of agentfootprint.agent.redacting.serving: what a policy changes, and what it must not."""

from __future__ import annotations

import gc
import itertools
import json
import sys
import weakref
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from types import FrameType
from typing import Any, cast

import pytest

from agentfootprint import Agent, LLMCall, Mock, PauseCheckpoint, RecordOptions, RunOptions, RunResult, tool
from agentfootprint.agent import Limits, ReplayRefusedError, conversation_redaction
from agentfootprint.events import Event
from agentfootprint.explain import RedactedRecordError
from agentfootprint.flow import RedactionPolicy
from agentfootprint.identity import Identity
from agentfootprint.llm import CallHooks, LLMChunk, LLMRequest, LLMResponse, ToolCall
from agentfootprint.recording import Recording
from tests.agent.redacting.shop import ANSWER, CARD, MARKERS, MESSAGE, SCRIPT, asking, shop

EVERYTHING = RedactionPolicy(
    patterns=["."], emit_patterns=["."], fields={"history": ["content"]}, event_fields={"shop.paid": ["*"]}
)


class Watching(Mock):
    """A scripted model that keeps what it was sent, as JSON."""

    def __init__(self, script: list[Any]) -> None:
        super().__init__(script, name="anthropic", cursor="run")
        self.sent: list[str] = []

    async def stream(self, request: LLMRequest, hooks: CallHooks | None = None) -> AsyncGenerator[LLMChunk]:
        self.sent.append(json.dumps(request.to_wire()))
        async for chunk in super().stream(request, hooks):
            yield chunk


def timeless(found: Any) -> Any:
    """JSON without ids of runs and times, which no two runs share."""
    if isinstance(found, dict):
        clocks = ("runId", "originRunId", "checkpointedAt", "durationMs", "pausedAt", "turnStartMs", "conversationId")
        return {key: timeless(item) for key, item in cast("dict[str, Any]", found).items() if key not in clocks}
    return [timeless(item) for item in cast("list[Any]", found)] if isinstance(found, list) else found


async def both(make: Callable[..., Agent[Any, str]]) -> tuple[RunResult[Any], RunResult[Any]]:
    """The run without a policy, and under one that names everything."""
    plain = await make().run(MESSAGE)
    return plain, await make(record=RecordOptions(redaction=EVERYTHING)).run(MESSAGE)


async def test_the_model_the_tools_and_the_caller_get_the_real_values() -> None:
    plain, covered = await both(shop)

    assert covered.text == plain.text == ANSWER
    assert covered.messages == plain.messages
    assert [(call.name, call.args, call.result) for call in covered.tool_calls] == [
        (call.name, call.args, call.result) for call in plain.tool_calls
    ]
    assert timeless(covered.checkpoint.to_wire()) == timeless(plain.checkpoint.to_wire())


async def test_the_requests_to_the_model_are_the_same_to_the_byte() -> None:
    models = [Watching([*SCRIPT, ANSWER]), Watching([*SCRIPT, ANSWER])]

    await shop(provider=models[0]).run(MESSAGE)
    await shop(provider=models[1], record=RecordOptions(redaction=EVERYTHING)).run(MESSAGE)

    assert len(models[0].sent) == 3
    assert models[1].sent == models[0].sent


async def test_the_text_of_a_stream_is_the_answer_and_its_events_are_what_is_served() -> None:
    agent = shop(record=RecordOptions(redaction=conversation_redaction()))

    async with agent.stream(MESSAGE) as run:
        text = "".join([piece async for piece in run.text()])
        events = [event async for event in run]

    assert text == MARKERS["remark"] + ANSWER
    tokens = [event for event in events if event.type.endswith("stream.token")]
    assert {event.payload.content for event in tokens} == {"[REDACTED]"}


async def test_a_paused_run_asks_with_the_real_question_and_goes_on_in_another_process() -> None:
    agent = asking(record=RecordOptions(redaction=EVERYTHING))
    paused = (await agent.run(MESSAGE)).paused
    assert paused is not None
    assert MARKERS["question"] in paused.question

    stored = PauseCheckpoint.from_json(paused.checkpoint.to_json())
    assert stored.state["history"][0]["content"] == MESSAGE
    result = await asking(record=RecordOptions(redaction=EVERYTHING)).resume(stored, MARKERS["reply"])

    assert result.text == ANSWER


async def test_a_reply_is_served_under_the_policy_of_the_leg_that_it_begins() -> None:
    first = await asking(record=RecordOptions(redaction=RedactionPolicy(keys=["card"]))).run(MESSAGE)
    assert first.paused is not None
    stored = PauseCheckpoint.from_json(first.paused.checkpoint.to_json())
    later, heard = asking(record=RecordOptions(redaction=RedactionPolicy(keys=["resumeInput", "content"]))), list[Any]()
    later.on("*", heard.append)

    result = await later.resume(stored, MARKERS["reply"])

    assert heard[0].type == "agentfootprint.pause.resume"
    assert heard[0].payload.resume_input == "[REDACTED]"
    assert MARKERS["argument"] in repr(heard)  # the policy of a run is not kept in its checkpoint
    assert result.recording.redaction is not None
    assert result.recording.redaction["redactedKeys"] == ["resumeInput", "content"]


async def test_a_policy_of_one_run_adds_to_that_of_its_agent(tmp_path: Path) -> None:
    agent = shop(record=RecordOptions(redaction=RedactionPolicy(keys=["card"])))
    more = RunOptions(record=RecordOptions(redaction=RedactionPolicy(keys=["receipt"], placeholder="-")))

    result = await agent.run(MESSAGE, options=more)

    text = result.recording.save(tmp_path / "run.json").read_text()
    assert MARKERS["argument"] not in text
    assert MARKERS["result"] not in text
    again = await agent.run(MESSAGE, options=RunOptions(record=RecordOptions()))
    assert MARKERS["argument"] not in again.recording.save(tmp_path / "again.json").read_text()


async def test_listeners_of_a_run_that_is_not_recorded_get_what_is_served_too() -> None:
    agent, heard = shop(record=RecordOptions(redaction=RedactionPolicy(keys=["card"]))), list[Event[Any]]()
    agent.on("*", heard.append)

    await agent.run(MESSAGE, options=RunOptions(record=False))

    assert heard
    assert MARKERS["argument"] not in repr(heard)


async def test_a_run_that_fails_withholds_words_that_may_quote_what_is_hidden() -> None:
    def broken(_: LLMRequest) -> str:
        raise RuntimeError(f"can't read {CARD}")

    agent, heard = Agent(Mock(broken), record=RecordOptions(redaction=RedactionPolicy(keys=["card"]))), list[Any]()
    agent.on("agentfootprint.error.fatal", heard.append)

    with pytest.raises(Exception, match=CARD):
        await agent.run(MESSAGE)

    assert [event.payload.error for event in heard] == ["[REDACTED]"]


async def test_whose_run_it_is_is_hidden_by_name() -> None:
    agent, heard = shop(record=RecordOptions(redaction=RedactionPolicy(keys=["principal"]))), list[Event[Any]]()
    agent.on("*", heard.append)
    dana = Identity(conversation_id="c1", principal="dana-77", tenant="acme")

    result = await agent.run(MESSAGE, identity=dana)

    assert {event.meta.principal for event in heard} == {"[REDACTED]"}
    assert {event.meta.tenant for event in result.recording.events} == {"acme"}
    assert "dana-77" not in repr(heard) + json.dumps(result.recording.native_rows())


async def test_a_single_call_has_a_policy_too() -> None:
    call = LLMCall(Mock(["It is 42."]), record=RecordOptions(redaction=conversation_redaction()))

    result = await call.run("What is it?")

    assert result.text == "It is 42."
    assert "42" not in repr([(event.type, event.payload) for event in result.recording.events])


async def test_what_is_kept_out_cant_be_replayed_or_proved() -> None:
    agent = shop(record=RecordOptions(redaction=conversation_redaction()))
    result = await agent.run(MESSAGE)

    with pytest.raises(ReplayRefusedError, match="a policy kept values out") as refused:
        await agent.replay(result.recording)
    with pytest.raises(RedactedRecordError, match=r"prove needs the user's message, which a policy kept out"):
        await result.prove()
    with pytest.raises(RedactedRecordError, match="rerun needs"):
        await result.rerun()

    assert refused.value.reason == "redacted"


async def test_a_proof_needs_only_what_it_starts_from_and_a_replay_of_a_whole_recording_has_no_policy() -> None:
    agent = shop(record=RecordOptions(redaction=RedactionPolicy(keys=["thinkingBlocks"])))

    proved = await (await agent.run(MESSAGE)).prove()
    replayed = await agent.replay((await shop().run(MESSAGE)).recording)

    assert proved.runs_used
    assert replayed.same


async def test_why_scores_nothing_by_a_placeholder_and_says_so() -> None:
    recording = (await shop(record=RecordOptions(redaction=conversation_redaction())).run(MESSAGE)).recording

    from agentfootprint.explain import why

    found = why(recording)

    assert found.sources
    assert not any(source.has_content_evidence for source in found.sources if source.text == "[REDACTED]")
    assert "redacted" in {flag.flag for flag in found.honesty_flags}
    assert {source.tool_name for source in found.sources if source.kind == "tool"} == {"pay", "look", "fail"}


def looping(iterations: int) -> Agent[Any, str]:
    """An agent whose calls and results have one size."""

    @tool
    def look(order: str) -> dict[str, str]:
        """Look an order up. Use it first."""
        return {"order": order, "state": "shipped"}

    asks = [
        LLMResponse("", tool_calls=[ToolCall(f"c{n:04}", "look", {"order": f"A-{n:04}"})]) for n in range(iterations)
    ]
    return Agent(
        Mock([*asks, "Done."], cursor="run"),
        tools=[look],
        limits=Limits(iterations=iterations + 1),
        record=RecordOptions(redaction=RedactionPolicy(keys=["order", "toolCallId"])),
    )


def calls_while(iterations: int) -> list[int]:
    """How many functions of the redaction were called in each iteration of a run that is listened to."""
    agent, counts, made = looping(iterations), list[int](), 0
    agent.on("*", lambda _: None)

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal made
        made += event == "call" and "/recording/redacting/" in frame.f_code.co_filename

    agent.on("agentfootprint.agent.iteration_end", lambda _: counts.append(made))
    sys.setprofile(count)
    try:
        agent.run_sync("Go on.")
    finally:
        sys.setprofile(None)
    return [after - before for before, after in itertools.pairwise(counts)]


def test_what_an_iteration_costs_does_not_depend_on_how_long_the_run_is() -> None:
    counts = calls_while(150)

    assert counts[0] > 0
    assert max(counts[100:-1]) <= 1.02 * max(counts[10:40])  # a number may have a digit more


def test_no_row_of_a_file_grows_with_the_run(tmp_path: Path) -> None:
    sizes = [
        len(line)
        for line in looping(300).run_sync("Go on.").recording.save(tmp_path / "run.json").read_bytes().splitlines()
    ]

    tenth = len(sizes) // 10
    early, late = sizes[tenth : 2 * tenth], sizes[-2 * tenth : -tenth]
    assert max(late) <= 1.1 * max(early) + 32
    assert sum(late) <= 1.1 * sum(early) + 32 * len(late)


def test_a_finished_run_is_freed_without_the_collector() -> None:
    def run() -> weakref.ref[Any]:
        agent = looping(3)
        agent.on("*", lambda _: None)
        result = agent.run_sync("Go on.")
        result.recording.to_wire()
        return weakref.ref(result)

    run()
    gc.collect()
    gc.disable()
    try:
        gone = run()
        assert gone() is None
    finally:
        gc.enable()


def test_a_file_is_written_and_read_alike(tmp_path: Path) -> None:
    recording = looping(5).run_sync("Go on.").recording

    stored = Recording.load(recording.save(tmp_path / "run.json"))

    assert stored.events == tuple(recording.events)
    assert stored.to_wire() == recording.to_wire()
    assert stored.save(tmp_path / "again.json").read_bytes() == (tmp_path / "run.json").read_bytes()
