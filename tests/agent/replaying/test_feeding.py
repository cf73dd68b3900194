"""Tests of agentfootprint.agent.replaying.feeding."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import (
    Agent,
    Gates,
    Limits,
    Mock,
    Recording,
    RunOptions,
    Tool,
    ToolContext,
    Usage,
    approve,
    ask_human,
    tool,
)
from agentfootprint.agent import Act, DecisionValue, RuleOutcome, ToolResultView, after_tool, allow, deny
from agentfootprint.llm import LLMChunk, LLMResponse, ToolCall
from agentfootprint.tools import InputField, InvalidAskComponentError, ToolResult, absent, request_input

ran: list[str] = []


@tool
async def look(ctx: ToolContext, order: str) -> object:
    """Look an order up."""
    ran.append(order)
    ctx.progress({"order": order, "at": 1})
    ctx.emit("shop.seen", {"order": order})
    ctx.on_teardown(lambda: None)
    ctx.on_teardown(lambda: None, scope="call", key="cursor")
    await asyncio.sleep(0)
    if order == "lost":
        raise LookupError("no such order")
    if order == "void":
        return None
    if order == "gone":
        return absent("the order", checked=["shop"])
    return ToolResult({"order": order, "state": "shipped"}, status="success" if order == "A" else None)


@tool
async def hang() -> str:
    """Never come to an end."""
    await asyncio.Event().wait()
    return ""


@tool
def inquire(order: str) -> str:
    """Ask a person."""
    ask_human(f"May I see {order}?", reason="it is private")


@tool
def form() -> str:
    """Ask a person for values."""
    request_input(id="who", question="Who are you?", fields=[InputField("name")])


def batch(*calls: tuple[str, dict[str, Any]]) -> LLMResponse:
    proposed = [ToolCall(f"c{number}", name, args) for number, (name, args) in enumerate(calls)]
    return LLMResponse("Let me see.", tool_calls=proposed)


TOOLS: list[Tool[..., Any]] = [look, hang, inquire, form]
BATCH = batch(("look", {"order": "A"}), ("look", {"order": "lost"}), ("unknown", {}), ("look", {"wrong": 1}))
THOUGHT = LLMChunk(
    token_index=2,
    content="",
    done=True,
    response=LLMResponse(
        "Hello",
        usage=Usage(input=3, output=2, cache_read=1, thinking=4).containing(cache=True),
        stop_reason="max_tokens",
        raw_thinking={"kind": "anthropic", "blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
        provider_ref="reply-1",
    ),
)
CUT = [
    LLMChunk(token_index=0, content="", thinking_delta="h"),
    LLMChunk(token_index=1, content="He l"),
    LLMChunk(token_index=2, content="lo", thinking_delta="m"),
]


@after_tool(name="mask")
def mask(view: ToolResultView) -> RuleOutcome:
    return deny("Not for you.") if view.args.get("order") == "void" else allow("masked", "it is private")


AGENTS: dict[str, Callable[[], Agent[Any, Any]]] = {
    "one call after the other": lambda: Agent(Mock([BATCH, BATCH, "Done."]), tools=TOOLS),
    "calls side by side": lambda: Agent(Mock([BATCH, "Done."]), tools=TOOLS, limits=Limits(parallel_tools=True)),
    "odd results": lambda: Agent(
        Mock([batch(("look", {"order": "void"}), ("look", {"order": "gone"})), "Done."]), tools=TOOLS
    ),
    "a reply in chunks, with thoughts, cut": lambda: Agent(Mock([[*CUT, THOUGHT]])),
    "rules about results": lambda: Agent(
        Mock([batch(("look", {"order": "A"}), ("look", {"order": "void"})), "Done."]),
        tools=TOOLS,
        gates=Gates(act=Act(after_tool=[mask])),
    ),
    "a question": lambda: Agent(
        Mock([batch(("look", {"order": "A"}), ("inquire", {"order": "B"}), ("look", {"order": "C"})), "Done."]),
        tools=TOOLS,
    ),
    "a request for values": lambda: Agent(Mock([batch(("form", {})), "Done."]), tools=TOOLS),
    "a model that can't be reached": lambda: Agent(Mock([BATCH, ConnectionError("refused")]), tools=TOOLS),
    "a model that is busy": lambda: Agent(Mock([BATCH, RuntimeError("429 too many requests")]), tools=TOOLS),
    "a model that fails in words of its own": lambda: Agent(Mock([ValueError("it broke")])),
    "a model that fails without a word": lambda: Agent(Mock([RuntimeError("")])),
    "a stream that breaks off": lambda: Agent(Mock([CUT])),
    "the deadline, in a tool": lambda: Agent(
        Mock([batch(("look", {"order": "A"}), ("hang", {})), "Done."]), tools=TOOLS, limits=Limits(deadline=0.05)
    ),
    "the deadline, in the model": lambda: Agent(Mock("Done.", delay=60), limits=Limits(deadline=0.05)),
}


async def recorded(agent: Agent[Any, Any], **given: Any) -> Recording:
    """What a run recorded, however it ended."""
    handle = agent.start("Where is my order?", **given)
    try:
        return (await handle.result()).recording
    except Exception:  # noqa: BLE001  it stands in the recording
        return handle.recording


@pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS.keys())
async def test_a_run_replays_as_it_was_from_memory_and_from_files(make: Any, tmp_path: Path) -> None:
    agent = make()
    recording = await recorded(agent)
    ran.clear()
    told: list[object] = []
    agent.on("*", told.append)

    native = Recording.load(recording.save(tmp_path / "run.jsonl"))
    wire = Recording.load(recording.save(tmp_path / "run.json", form="wire"))
    replays = [await agent.replay(each) for each in (recording, native, wire)]

    assert [str(replay.difference) for replay in replays] == ["None"] * 3
    assert [replay.events for replay in replays] == [len(each.events) for each in (recording, native, wire)]
    assert ran == []
    assert told == []


async def test_a_run_that_was_cancelled_replays_up_to_there() -> None:
    agent = Agent(Mock([batch(("hang", {}))]), tools=TOOLS)
    handle = agent.start("Go on.")
    async for event in handle:
        if event.type == "agentfootprint.stream.tool_start":
            break
    await handle.cancel()

    assert (await agent.replay(handle.recording)).same


async def test_both_legs_of_a_paused_run_replay() -> None:
    agent = AGENTS["a question"]()
    first = await agent.run("Where is my order?")
    assert first.paused is not None
    stored = first.paused.checkpoint.to_wire()
    second = await agent.resume(first.paused, {"yes": True})

    replays = [await agent.replay(second.recording, paused=given) for given in (first.paused, stored)]

    assert (await agent.replay(first.recording)).same
    assert [replay.same for replay in replays] == [True, True]


@pytest.mark.parametrize(
    "answer",
    [
        approve(by="dana", value=DecisionValue(kind="slot", value={"hour": 9})),
        {"approved": False, "by": "dana", "ticket": "T-1"},
    ],
    ids=["a chosen value", "keys of the application"],
)
async def test_a_decision_replays_with_all_that_stood_in_it(answer: Any) -> None:
    async def pay(order: str) -> str:
        return order

    model = Mock([batch(("pay", {"order": "A"})), "Done."], cursor="history")
    agent = Agent(model, tools=[tool(description="Pay one order. Use it last.", check_in="always")(pay)])
    first = await agent.run("Pay A.")
    assert first.paused is not None
    second = await agent.resume(first.paused, answer)

    replay = await agent.replay(second.recording, paused=first.paused)

    assert replay.same, str(replay)


async def test_replaying_a_leg_leaves_the_question_open() -> None:
    agent = Agent(Mock([batch(("inquire", {"order": "B"})), "Done.", "Done again."]), tools=TOOLS)
    first = await agent.run("Where is my order?")
    assert first.paused is not None
    second = await agent.resume(first.paused.checkpoint.to_wire(), "yes")

    await agent.replay(second.recording, paused=first.paused)
    third = await agent.resume(first.paused, "yes")

    assert third.tool_calls[0].name == "inquire"


async def test_turns_of_a_conversation_replay_each_from_its_own_beginning() -> None:
    agent = Agent(Mock(["Hello.", "Fine.", RuntimeError("busy"), "Good bye."]))
    conversation = agent.conversation(session_id="s-1")
    turns = [await conversation.run(said) for said in ("Hi.", "How are you?")]
    failed = agent.start("Bye.", session_id="s-1")
    with pytest.raises(Exception, match="failed"):
        await failed.result()
    assert failed.checkpoint is not None
    again = await agent.resume_on_error(failed.checkpoint)

    recordings = [*(turn.recording for turn in turns), failed.recording, again.recording]

    assert [(await agent.replay(each)).same for each in recordings] == [True] * 4


async def test_what_the_caller_gave_a_run_is_given_again_or_found_in_the_recording() -> None:
    agent = Agent(Mock([batch(("look", {"order": "A"})), "Done."]), tools=TOOLS)
    options = RunOptions(model="another", correlation_id="c-1", trace_id="t-1")
    recording = await recorded(agent, options=options, session_id="s-1")

    replay = await agent.replay(recording)

    assert replay.same
    assert replay.recording.run_id == recording.run_id
    assert str(replay) == f"The replay of {recording.run_id} is the same in all of its {replay.events} events."


async def test_an_agent_that_decides_otherwise_is_told_where() -> None:
    strict = [True]

    @after_tool(name="moody")
    def moody(view: ToolResultView) -> RuleOutcome:
        return deny("No.") if strict[0] else allow()

    agent = Agent(Mock([BATCH, "Done."]), tools=TOOLS, gates=Gates(act=Act(after_tool=[moody])))
    recording = await recorded(agent)
    strict[0] = False

    difference = (await agent.replay(recording)).difference

    assert difference is not None
    assert difference.type == "agentfootprint.middleware.decision"
    assert difference.path == "payload.outcome"
    assert difference.step.startswith("tool-calls#")
    assert "No." not in str(difference)


async def test_an_agent_that_ends_sooner_is_told_where() -> None:
    agent = Agent(Mock([BATCH, "Done."]), tools=TOOLS)
    recording = await recorded(agent)
    shorter = await recorded(Agent(Mock(["Done."]), tools=TOOLS))

    replay = await agent.replay(recording, limits=Limits(iterations=1))

    assert not replay.same
    assert str(replay) == f"The replay of {recording.run_id} is not the same: {replay.difference}."
    assert (await agent.replay(shorter)).same


async def test_replaying_inside_a_loop_is_awaited_and_elsewhere_has_a_twin() -> None:
    agent = Agent(Mock("Paris."))
    recording = await recorded(agent)

    assert (await asyncio.to_thread(agent.replay_sync, recording)).same


@pytest.mark.parametrize("parallel", [False, True])
async def test_a_question_that_can_not_be_asked_replays_with_what_landed_beside_it(parallel: bool) -> None:
    @tool
    async def show(n: int) -> str:
        """Ask with a panel that can't be shown."""
        ask_human("?", data={"component": {"componentId": "panel", "propsRef": "art_1"}})

    calls = [
        ToolCall("c1", "look", {"order": "A"}),
        ToolCall("c2", "show", {"n": 1}),
        ToolCall("c3", "look", {"order": "B"}),
    ]
    agent = Agent(
        Mock([LLMResponse("", tool_calls=calls), "Done."], cursor="history"),
        tools=[look, show],
        limits=Limits(parallel_tools=parallel),
    )
    handle = agent.start("Go.")
    with pytest.raises(InvalidAskComponentError):
        await handle.result()

    assert (await agent.replay(handle.recording)).difference is None
