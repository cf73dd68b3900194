"""Tests of agentfootprint.agui.serving.served: the claim on a thread, what is kept at the end, what a crash leaves."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any, ClassVar

import pytest
from ag_ui.core import Event, TextMessageContentEvent

from agentfootprint import Agent, Identity, Mock, ToolContext, tool
from agentfootprint.agent import Gates
from agentfootprint.agui import AgUi, AgUiOptions
from agentfootprint.agui.serving import served
from agentfootprint.agui.threads import stored
from agentfootprint.hosting import Envelope, InMemorySessions, SqliteSessions, WakeReason, envelope_transcript
from agentfootprint.llm import LLMResponse, ToolCall
from tests.agent.pausing.desk import RAN, desk
from tests.agui.serving.clients import ALICE, BOB, answered, asked, interrupt_id, shown, told, types, until

REFUND = Mock.call("refund", amount=480)
KEY = "acme/alice/t-1"


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()


class Counting(InMemorySessions):
    """A store that counts what is written, and can be told to refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[Envelope] = []
        self.refuses_from = 99

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        if len(self.writes) >= self.refuses_from:
            raise OSError("marker-of-a-disk")
        self.writes.append(envelope)
        return await super().persist(session_id, envelope, expect=expect)


async def test_a_turn_is_two_writes_and_ends_unclaimed() -> None:
    store = Counting()

    await told(AgUi(Agent(Mock("Yes.")), sessions=store), asked(), ALICE)

    assert ["claim" in each.data["agui"] for each in store.writes] == [True, False]
    kept = await store.hydrate(KEY)
    assert kept is not None
    assert kept.format == "conversation-v1"
    assert [dict(each) for each in envelope_transcript(kept)] == [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Yes."},
    ]
    assert await store.owner_of(KEY) == "%/acme/alice"


async def test_a_question_is_kept_with_its_conversation_and_without_the_checkpoint_in_it() -> None:
    store = InMemorySessions()

    await told(AgUi(desk(REFUND, "Done."), sessions=store), asked(), ALICE)

    kept = await store.hydrate(KEY)
    assert kept is not None
    assert kept.format == "flowchart-v1"
    assert kept.data["pending"]["tool"] == "refund"
    assert "checkpoint" not in kept.data["pending"]
    assert [each["gate"] for each in kept.data["agui"]["interrupts"]] == ["checkIn"]


async def test_the_answer_is_not_told_as_one_when_it_cant_be_kept(caplog: pytest.LogCaptureFixture) -> None:
    store = Counting()
    store.refuses_from = 1

    events = await told(AgUi(Agent(Mock("Yes.")), sessions=store), asked())

    assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "internal")
    assert "marker-of-a-disk" not in str(events) + caplog.text


async def test_a_process_that_died_holds_its_thread_until_its_claim_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    store = InMemorySessions()
    thread = await stored.open_thread(store, "_/_/t-1", stored.thread_identity("t-1", None))
    await thread.claim("r-dead")
    adapter = AgUi(Agent(Mock("Yes.")), sessions=store)

    before = await told(adapter, asked())
    later = stored.now_ms() + int(stored.CLAIM_SECONDS * 1000) + 1
    monkeypatch.setattr(stored, "now_ms", lambda: later)
    after = await told(adapter, asked(run="r-2"))

    assert before[-1]["code"] == "thread_busy"
    assert after[-1]["result"] == "Yes."


async def test_a_long_run_renews_its_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "CLAIM_SECONDS", 0.04)
    store = Counting()

    events = await told(AgUi(Agent(Mock("Yes.", delay=0.2)), sessions=store), asked())

    assert events[-1]["result"] == "Yes."
    assert sum("claim" in each.data["agui"] for each in store.writes) > 2


async def test_a_run_whose_thread_was_taken_meanwhile_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "CLAIM_SECONDS", 0.04)
    store = InMemorySessions()
    agent = Agent(Mock("Late.", delay=5.0))
    reading = asyncio.create_task(told(AgUi(agent, sessions=store), asked()))
    await until(lambda: agent.inflight)
    kept = await store.hydrate("_/_/t-1")
    assert kept is not None

    facts = {**kept.data["agui"], "claim": {**kept.data["agui"]["claim"], "token": "another"}}
    await store.persist("_/_/t-1", Envelope.now(kept.format, {**kept.data, "agui": facts}))

    events = await reading
    assert events[-1]["code"] == "thread_busy"
    assert agent.inflight == ()


async def test_an_answer_that_a_crash_interrupted_is_given_again_with_the_same_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str | None] = []

    @tool(check_in="always")
    async def pay(amount: int, ctx: ToolContext) -> str:
        """Pay an amount."""
        keys.append(ctx.idempotency_key)
        if len(keys) == 1:
            await asyncio.sleep(30)
        return "paid"

    def made() -> Agent[Any, Any]:
        return Agent(Mock([Mock.call("pay", amount=1), "Done."], cursor="history"), tools=[pay])

    store = SqliteSessions(tmp_path / "threads.db")
    question = interrupt_id(await told(AgUi(made(), sessions=store), asked()))
    thread = await stored.open_thread(store, "_/_/t-1", stored.thread_identity("t-1", None))
    await thread.claim("r-dead")
    dying = asyncio.create_task(made().resume(thread.pending, {"approved": True, "by": "anonymous"}))  # pyright: ignore[reportArgumentType]  it is there
    await until(lambda: keys)
    dying.cancel()
    await asyncio.wait([dying])
    later = stored.now_ms() + int(stored.CLAIM_SECONDS * 1000) + 1
    monkeypatch.setattr(stored, "now_ms", lambda: later)

    events = await told(AgUi(made(), sessions=store), answered(question, {"approved": True}))

    assert events[-1]["result"] == "Done."
    assert len(keys) == 2
    assert keys[0] == keys[1]
    await store.aclose()


async def test_a_client_that_goes_before_the_run_begins_leaves_no_claim() -> None:
    class Slow(InMemorySessions):
        async def hydrate(self, session_id: str) -> Envelope | None:
            await asyncio.sleep(0.02)
            return await super().hydrate(session_id)

    store = Slow()
    agent = Agent(Mock(lambda _: "Yes."))
    reading = asyncio.create_task(told(AgUi(agent, sessions=store), asked()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    events = await told(AgUi(agent, sessions=store), asked(run="r-2"))

    assert events[-1]["result"] == "Yes."


async def test_cleanups_of_the_tool_that_asked_run_in_the_process_that_is_still_there() -> None:
    closed: list[str] = []

    @tool(check_in="always")
    async def pay(amount: int) -> str:
        """Pay an amount."""
        return "paid"

    @tool
    async def borrow(ctx: ToolContext) -> str:
        """Borrow a thing."""
        ctx.on_teardown(lambda: closed.append("returned"), scope="run")
        return "borrowed"

    def made() -> Agent[Any, Any]:
        return Agent(
            Mock([Mock.call("borrow"), Mock.call("pay", amount=1), "Done."], cursor="history"), tools=[pay, borrow]
        )

    adapter = AgUi(made())
    question = interrupt_id(await told(adapter, asked()))
    before = list(closed)
    await told(adapter, answered(question, {"approved": True}))
    assert (before, closed) == ([], ["returned"])

    async with AgUi(made()) as other:
        await told(other, asked(thread="t-2", run="r-5"))
        before = list(closed)
    assert (before, closed) == (["returned"], ["returned", "returned"])

    third = AgUi(made())
    question = interrupt_id(await told(third, asked(thread="t-3", run="r-6")))
    elsewhere = AgUi(made(), sessions=third.sessions)
    await told(elsewhere, answered(question, {"approved": True}, thread="t-3", run="r-7"))
    await told(third, asked(thread="t-3", run="r-8"))
    assert closed == ["returned"] * 3


async def test_questions_that_are_asked_together_are_answered_together() -> None:
    both = LLMResponse(tool_calls=(ToolCall("a", "refund", {"amount": 480}), ToolCall("b", "refund", {"amount": 300})))
    adapter = AgUi(desk(both, "Done.", gates=Gates(ask_together=True)))
    asks = await told(adapter, asked())
    questions = [each["id"] for each in asks[-1]["outcome"]["interrupts"]]
    assert len(set(questions)) == 2
    one = answered(questions[0], {"approved": True})
    other = answered(questions[1], {"approved": False, "note": "too much"})

    half = await told(adapter, one)
    whole = one.model_copy(update={"resume": [*(other.resume or []), *(one.resume or [])], "run_id": "r-3"})
    events = await told(adapter, whole)

    assert half[-1]["code"] == "interrupt_incomplete"
    assert RAN == ["refund 480"]
    results = [each["content"] for each in events if each["type"] == "TOOL_CALL_RESULT"]
    assert results[0] == "refunded 480"
    assert "too much" in results[1]
    assert events[-1]["result"] == "Done."


async def test_a_turn_that_fails_while_it_goes_on_with_an_answer_is_over() -> None:
    adapter = AgUi(desk(REFUND, RuntimeError("down")), options=AgUiOptions(messages_snapshot="always"))
    question = interrupt_id(await told(adapter, asked("Refund.")))

    failed = await told(adapter, answered(question, {"approved": True}))
    again = await told(adapter, answered(question, {"approved": True}, run="r-3"))
    later = AgUi(desk(REFUND, "Better."), sessions=adapter.sessions, options=adapter.options)
    after = await told(later, asked("And now?", run="r-4"))

    assert failed[-1]["type"] == "RUN_ERROR"
    assert again[-1]["code"] == "interrupt_unknown"
    assert after[-1]["type"] == "RUN_FINISHED"
    assert RAN == ["refund 480"]
    assert shown(after)[0] == ("user", "Refund.")


async def test_a_stored_thread_that_is_damaged_is_not_taken_for_a_new_one() -> None:
    store = InMemorySessions()
    adapter = AgUi(Agent(Mock(lambda _: "Yes.")), sessions=store)
    await told(adapter, asked())
    kept = await store.hydrate("_/_/t-1")
    assert kept is not None
    await store.persist("_/_/t-1", Envelope(format=kept.format, data={**kept.data, "agui": {"schema": 9}}, saved_at=1))

    events = await told(adapter, asked(run="r-2"))

    assert events[-1]["code"] == "internal"


async def test_a_conversation_begun_at_another_door_is_shown_whole() -> None:
    store = InMemorySessions()
    agent = desk(Mock.call("look", order="A"), "Shipped.", "Bye.")
    result = await agent.run("Where is A?")
    await store.persist("s-9", Envelope.now("conversation-v1", result.checkpoint.to_wire()))
    adapter = AgUi(agent, sessions=store, options=AgUiOptions(messages_snapshot="always"))

    events = [event async for event in adapter.run(asked("Thanks."), session_id="s-9")]

    wires = [each.model_dump(mode="json", by_alias=True) for each in events]
    assert shown(wires) == [
        ("user", "Where is A?"),
        ("assistant", ""),
        ("tool", "A: shipped"),
        ("assistant", "Shipped."),
        ("user", "Thanks."),
        ("assistant", "Bye."),
    ]
    ids = [each["id"] for each in next(each for each in wires if each["type"] == "MESSAGES_SNAPSHOT")["messages"]]
    assert len(set(ids)) == len(ids)
    assert "/history/" in ids[0]


async def test_an_agent_that_is_another_now_cant_take_the_question_up() -> None:
    store = InMemorySessions()
    question = interrupt_id(await told(AgUi(desk(REFUND, "Done."), sessions=store), asked()))
    other = Agent(Mock("Never."), id="other")

    events = await told(AgUi(other, sessions=store), answered(question, {"approved": True}))
    right = await told(AgUi(desk(REFUND, "Done."), sessions=store), answered(question, {"approved": True}, run="r-3"))

    assert events[-1]["code"] == "internal"
    assert right[-1]["result"] == "Done."


async def test_a_stream_is_closed_once_the_run_has_been_kept() -> None:
    store = Counting()
    adapter = AgUi(Agent(Mock("Yes.")), sessions=store)

    async with aclosing(adapter.run(asked())) as events:
        seen = [(event.type, len(store.writes)) async for event in events]

    assert seen[-1] == ("RUN_FINISHED", 2)
    assert types(await told(adapter, asked()))[-1] == "RUN_FINISHED"


async def test_a_named_session_of_somebody_else_is_not_there() -> None:
    store = InMemorySessions()
    adapter = AgUi(Agent(Mock(lambda _: "Yes.")), sessions=store, options=AgUiOptions(messages_snapshot="always"))

    async def said(text: str, run: str, identity: Identity | None) -> list[tuple[str, Any]]:
        events = [event async for event in adapter.run(asked(text, run=run), identity=identity, session_id="s-1")]
        return shown([each.model_dump(mode="json", by_alias=True) for each in events])

    await said("Of Alice.", "r-1", ALICE)

    assert await said("Of Bob.", "r-2", BOB) == [("user", "Of Bob."), ("assistant", "Yes.")]
    assert await said("Of nobody.", "r-3", None) == [("user", "Of nobody."), ("assistant", "Yes.")]
    assert len(await said("Again.", "r-4", ALICE)) == 4


async def test_a_result_that_is_no_json_fails_the_request_and_keeps_the_turn() -> None:
    store = InMemorySessions()
    wrong: Any = object()
    adapter = AgUi(Agent(Mock(lambda _: "Yes.")), sessions=store, options=AgUiOptions(result=lambda _: wrong))

    events = await told(adapter, asked("First."))
    after = await told(AgUi(adapter.agent, sessions=store), asked("Next.", run="r-2"))
    again = await told(AgUi(adapter.agent, sessions=store), asked("Next.", run="r-2"))

    assert events[-1]["code"] == "run_failed"
    assert after[-1]["type"] == "RUN_FINISHED"
    assert ("user", "First.") in shown(again)


async def test_a_store_is_told_which_session_is_about_to_be_read() -> None:
    class Sleepy(InMemorySessions):
        woken: ClassVar[list[tuple[str, str]]] = []

        async def on_wake(self, session_id: str, reason: WakeReason) -> None:
            self.woken.append((session_id, reason))

    store = Sleepy()
    adapter = AgUi(desk(REFUND, "Done."), sessions=store)
    question = interrupt_id(await told(adapter, asked(), ALICE))

    await told(adapter, answered(question, {"approved": True}), ALICE)

    assert store.woken == [(KEY, "invoke"), (KEY, "resume")]


async def test_what_was_approved_and_done_is_not_asked_again_when_it_cant_be_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    adapter = AgUi(desk(REFUND, "Done."))
    question = interrupt_id(await told(adapter, asked("Refund.")))

    def broken(*_: object) -> None:
        raise RuntimeError("marker")

    with monkeypatch.context() as patched:
        patched.setattr(served, "message_wires", broken)
        patched.setattr("agentfootprint.agui.mapping.mapper.Mapper.end", broken)
        lost = await told(adapter, answered(question, {"approved": True}))
    again = await told(adapter, answered(question, {"approved": True}, run="r-3"))
    after = await told(
        AgUi(desk(REFUND, "Bye."), sessions=adapter.sessions, options=AgUiOptions(messages_snapshot="always")),
        asked("Thanks.", run="r-4"),
    )

    assert lost[-1]["code"] == "internal"
    assert "marker" not in str(lost) + caplog.text
    assert again[-1]["code"] == "interrupt_unknown"
    assert RAN == ["refund 480"]
    assert ("tool", "refunded 480") in shown(after)


async def test_a_stream_that_a_client_would_refuse_ends_with_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stray(*_: object, **__: object) -> list[Event]:
        return [TextMessageContentEvent(message_id="never-opened", delta="marker")]

    monkeypatch.setattr("agentfootprint.agui.mapping.mapper.Mapper.map", stray)
    adapter = AgUi(Agent(Mock("Yes.")))

    events = await told(adapter, asked())

    assert types(events) == ["RUN_STARTED", "RUN_ERROR"]
    assert events[-1]["code"] == "internal"
    assert "marker" not in caplog.text
    assert "AgUiSequenceError" in caplog.text
