"""Tests of records that agents write while they run: `RecordOptions(spill=...)`."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import (
    Agent,
    ConfigError,
    Identity,
    Limits,
    LLMCall,
    Mock,
    Paused,
    Recording,
    RecordOptions,
    RunOptions,
    ToolContext,
    approve,
    tool,
)
from agentfootprint.agent import RunReader
from agentfootprint.events import Event, Token, event_to_wire
from agentfootprint.flow import RedactionPolicy
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.recording import UnsafeRecordingIdError
from tests.agent.pausing.desk import desk, question
from tests.recording.runs import answering_after, lookup


def looker(iterations: int, record: RecordOptions | bool = True) -> Agent[Any, Any]:
    """An agent that looks up an order an iteration."""
    return Agent(
        Mock(answering_after(iterations)),
        system="You decide refunds.",
        tools=[lookup],
        limits=Limits(iterations=iterations + 2),
        record=record,
    )


def told(events: list[Event[Any]]) -> list[tuple[str, Any]]:
    """What events say, without clocks."""
    payloads = [(each.type, event_to_wire(each)["payload"]) for each in events]
    for _, payload in payloads:
        payload.pop("durationMs", None)
    return payloads


def left_in(folder: Path) -> list[str]:
    """The names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


async def read_by(
    agent: Agent[Any, Any], *, form: Any = "native", pause_at: int = -1, until: int = 0
) -> tuple[list[Event[Any]], Any]:
    """Every event of a run as a reader gets them that stops reading for a while."""
    found: list[Event[Any]] = []
    async with agent.stream("Refund?", form=form) as run:
        async for event in run:
            found.append(event)
            if len(found) == pause_at:
                while run.recording.ended is None and len(run.recording.calls) < until:
                    await run.changed()
        return found, await run.result()


@pytest.mark.parametrize("form", ["native", "wire"])
@pytest.mark.parametrize("pause_at", [-1, 1, 700])
async def test_a_reader_gets_every_event_once_however_far_it_is_behind(
    tmp_path: Path, form: Any, pause_at: int
) -> None:
    kept, _ = await read_by(looker(50), form=form)

    found, result = await read_by(looker(50, RecordOptions(spill=tmp_path)), form=form, pause_at=pause_at, until=49)

    assert told(found) == told(kept)
    assert len(result.recording.calls) == 50


@pytest.mark.parametrize("form", ["native", "wire"])
async def test_a_reader_that_comes_late_gets_every_event_once(tmp_path: Path, form: Any) -> None:
    kept, _ = await read_by(looker(60), form=form)
    found: list[Event[Any]] = []
    early = 0

    async with looker(60, RecordOptions(spill=tmp_path)).stream("Refund?", form=form) as run:
        while early < 40:
            await run.changed()
            early += 1
        feed = run.recording.feed(form)
        while not run.is_over:
            found += feed.take()
            await run.changed()
        found += feed.take()

    assert told(found) == told(kept)


async def test_a_reader_beyond_the_bound_reads_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentfootprint.recording.spilling.writer.MOST_HELD", 2_000)
    kept, _ = await read_by(looker(120))

    found, _ = await read_by(looker(120, RecordOptions(spill=tmp_path)), pause_at=50, until=119)

    assert told(found) == told(kept)


async def test_a_server_that_follows_a_run_under_a_policy_gets_the_real_text(tmp_path: Path) -> None:
    policy = RedactionPolicy(patterns=["."], emit_patterns=["."])
    said = "Dana Reyes is entitled to a refund."
    record = RecordOptions(spill=tmp_path, redaction=policy)
    agent = Agent(Mock(said), record=record)
    texts: list[str] = []

    async with agent.stream("Refund?", options=RunOptions(run_id="run-a")) as run:
        reader = RunReader(run)
        texts += [reader.text or "" async for event in reader if event.type == Token.type]

    assert "".join(texts) == said
    assert b"entitled" not in (tmp_path / "run-a.jsonl").read_bytes()


async def test_twenty_runs_at_once_have_a_file_each(tmp_path: Path) -> None:
    agent = looker(20, RecordOptions(spill=tmp_path))

    results = await asyncio.gather(*(agent.run(f"Refund number {number}?") for number in range(20)))

    assert len(left_in(tmp_path)) == 20
    for number, result in enumerate(results):
        opened = Recording.load(tmp_path / f"{result.run_id}.jsonl")
        assert opened.user_message == f"Refund number {number}?"
        assert opened.ended == "done"
        assert len(opened.calls) == 20
        assert {event.meta.run_id for event in opened.events} == {result.run_id}


async def test_of_two_runs_that_would_write_one_file_the_second_is_refused_before_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    agent = looker(30, RecordOptions(spill=path))
    heard: list[str] = []

    async with agent.stream("First?") as run:
        await run.changed()
        agent.on("*", lambda event: heard.append(event.meta.run_id))
        with pytest.raises(ConfigError, match=r"record\.spill names '.*run\.jsonl', which is there already") as refused:
            await agent.run("Second?")
        result = await run.result()

    assert refused.value.option == "record.spill"
    assert set(heard) <= {result.run_id}
    assert Recording.load(path).user_message == "First?"


async def test_a_file_of_somebody_is_never_written_to(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")

    with pytest.raises(ConfigError, match=r"is there already"):
        await looker(1, RecordOptions(spill=path)).run("Refund?")

    assert path.read_text() == "mine"


async def test_a_place_that_can_not_be_written_refuses_the_run_before_it_begins(tmp_path: Path) -> None:
    asked: list[object] = []

    def model(request: object) -> str:
        asked.append(request)
        return "Done."

    agent = Agent(Mock(model), record=RecordOptions(spill=tmp_path / "none" / "run.jsonl"))

    with pytest.raises(ConfigError, match=r"its folder does not exist") as refused:
        await agent.run("Hello")

    assert refused.value.option == "record.spill"
    assert not asked
    assert not agent.inflight


async def test_a_run_id_that_is_no_file_name_refuses_the_run(tmp_path: Path) -> None:
    with pytest.raises(UnsafeRecordingIdError):
        await looker(1, RecordOptions(spill=tmp_path)).run("Refund?", options=RunOptions(run_id="../up"))

    assert left_in(tmp_path) == []


@pytest.mark.parametrize("spill", ["", "  ", "a\0b", 7, b"runs", False, ["runs"]])
def test_what_is_no_path_is_refused_where_it_is_given(spill: Any) -> None:
    with pytest.raises(ConfigError, match=r"record\.spill is not a path") as refused:
        RecordOptions(spill=spill)

    assert refused.value.option == "record.spill"


async def test_one_run_may_spill_where_its_agent_does_not(tmp_path: Path) -> None:
    agent = looker(2)

    result = await agent.run("Refund?", options=RunOptions(record=RecordOptions(spill=tmp_path)))
    await agent.run("Refund?")

    assert left_in(tmp_path) == [f"{result.run_id}.jsonl"]


async def test_a_run_that_records_nothing_writes_nothing(tmp_path: Path) -> None:
    agent = looker(2, RecordOptions(spill=tmp_path))

    await agent.run("Refund?", options=RunOptions(record=False))

    assert left_in(tmp_path) == []


async def test_a_run_that_pauses_and_its_resume_leave_a_file_each(tmp_path: Path) -> None:
    script = [Mock.call("refund", amount=250), "Refunded."]
    asked = await desk(*script, record=RecordOptions(spill=tmp_path)).run("Refund 250.")
    checkpoint = json.loads(json.dumps(question(asked).checkpoint.to_wire()))

    answered = await desk(*script, record=RecordOptions(spill=tmp_path)).resume(checkpoint, approve(by="ana"))

    first, second = (Recording.load(tmp_path / f"{each.run_id}.jsonl") for each in (asked, answered))
    assert (first.ended, second.ended) == ("paused", "done")
    assert second.answer is not None
    assert second.answer[0] == answered.text == "Refunded."
    kept = await desk(*script).resume(checkpoint, approve(by="ana"))
    assert [event.type for event in second.events] == [event.type for event in kept.recording.events]
    assert second.snapshot["sharedState"].keys() == kept.recording.snapshot["sharedState"].keys()
    assert len(second.value_at("history")) == len(kept.recording.value_at("history"))
    assert str(answered.why()) == str(kept.why())


async def test_a_failed_run_leaves_its_record(tmp_path: Path) -> None:
    def model(request: Any) -> Any:
        if len(request.messages) > 2:
            raise ValueError("out of order")
        return Mock.call("lookup", order_id="A-1")

    agent = Agent(Mock(model), tools=[lookup], record=RecordOptions(spill=tmp_path))
    with pytest.raises(Exception, match="out of order"):
        await agent.run("Refund?", options=RunOptions(run_id="run-a"))

    opened = Recording.load(tmp_path / "run-a.jsonl")
    assert opened.ended == "failed"
    assert [use.tool_name for use in opened.tool_uses] == ["lookup"]
    assert opened.events[-2].type.endswith("error.fatal")


async def test_a_run_that_is_cancelled_before_its_first_step_leaves_its_record(tmp_path: Path) -> None:
    async with looker(3, RecordOptions(spill=tmp_path)).stream("Refund?", options=RunOptions(run_id="run-a")) as run:
        await run.cancel()

    opened = Recording.load(tmp_path / "run-a.jsonl")
    assert opened.ended == "failed"
    assert any(event.type.endswith("error.fatal") for event in opened.events)


async def test_a_single_call_leaves_its_record(tmp_path: Path) -> None:
    call = LLMCall(Mock("Paris."), record=RecordOptions(spill=tmp_path))

    result = await call.run("What is the capital of France?")

    opened = Recording.load(tmp_path / f"{result.run_id}.jsonl")
    assert opened.ended == "done"
    assert [each.content for each in opened.calls] == ["Paris."]
    assert result.recording.user_message == "What is the capital of France?"


async def test_runs_that_find_something_out_write_nothing(tmp_path: Path) -> None:
    agent = looker(3, RecordOptions(spill=tmp_path / "run.jsonl"))
    result = await agent.run("Refund?")

    await result.rerun(samples=2)
    replay = await agent.replay(result.recording)

    assert replay.same
    assert left_in(tmp_path) == ["run.jsonl"]


async def test_tools_that_speak_from_threads_are_on_record(tmp_path: Path) -> None:
    @tool
    def count(name: str, ctx: ToolContext) -> str:
        """Count. Use it when asked to."""
        for number in range(20):
            ctx.emit("app.counted", {"name": name, "number": number})
            time.sleep(0)
        return "counted"

    calls = LLMResponse("", tool_calls=[ToolCall(f"c{n}", "count", {"name": f"n{n}"}) for n in range(4)])
    agent = Agent(
        Mock([calls, "Done."]),
        tools=[count],
        limits=Limits(parallel_tools=True),
        record=RecordOptions(spill=tmp_path),
    )
    result = await agent.run("Count.", options=RunOptions(run_id="run-a"))

    opened = Recording.load(tmp_path / "run-a.jsonl")
    assert told([*opened.events]) == told([*result.recording.events])
    heard = [told([each])[0][1] for each in opened.events if each.type == "app.counted"]
    assert sorted((each["name"], each["number"]) for each in heard) == [
        (f"n{n}", number) for n in range(4) for number in range(20)
    ]


async def test_a_streamed_answer_is_read_back_as_it_was_said(tmp_path: Path) -> None:
    said = "one two three four five six seven eight nine ten"
    agent = Agent(Mock(said, chunk_delay=0.03), record=RecordOptions(spill=tmp_path))

    async with agent.stream("Count.", options=RunOptions(run_id="run-a")) as run:
        texts = [text async for text in run.text()]

    opened = Recording.load(tmp_path / "run-a.jsonl")
    tokens = [each.payload.content for each in opened.events if isinstance(each.payload, Token)]
    assert tokens == texts
    assert opened.calls[0].content == said


async def test_a_conversation_leaves_a_file_for_each_turn(tmp_path: Path) -> None:
    agent = Agent(Mock(["One.", "Two."]), record=RecordOptions(spill=tmp_path))
    talk = agent.conversation(identity=Identity(conversation_id="c-1"))

    first, second = await talk.run("First"), await talk.run("Second")

    opened = [Recording.load(tmp_path / f"{each.run_id}.jsonl") for each in (first, second)]
    assert [each.user_message for each in opened] == ["First", "Second"]
    assert len(opened[1].calls[0].messages) == 3


def test_a_paused_question_is_one(tmp_path: Path) -> None:
    asked = desk(Mock.call("refund", amount=250), record=RecordOptions(spill=tmp_path / "run.jsonl")).run_sync(
        "Refund."
    )

    assert isinstance(asked.paused, Paused)
    with pytest.raises(ConfigError, match="Name a folder"):
        desk("Refunded.", record=RecordOptions(spill=tmp_path / "run.jsonl")).run_sync("Refund.")
