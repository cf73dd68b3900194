"""Properties of turns that pause: random batches, random gates, random answers, in this process and through JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint import (
    Agent,
    LLMMessage,
    Mock,
    PauseCheckpoint,
    RunResult,
    ToolCall,
    approve,
    ask_human,
    decline,
    tool,
)
from agentfootprint.llm import LLMResponse, verify_pairs
from agentfootprint.security import extract_sequence, settled_proposals

KINDS: list[str] = ["runs", "asks", "gated", "fails"]
Turn = list[tuple[str, str]]
"""The calls of one reply: kind and id."""


def turns() -> st.SearchStrategy[list[Turn]]:
    ids = st.sampled_from(["a", "b", "c", ""])  # ids repeat, in a batch and over turns
    batch = st.lists(st.tuples(st.sampled_from(KINDS), ids), min_size=1, max_size=4)
    return st.lists(batch, min_size=1, max_size=3)


def agent_of(script: list[Turn], ran: list[str]) -> Agent[Any, str]:
    @tool
    async def runs(n: int) -> str:
        """Run. Use it always."""
        ran.append(f"runs {n}")
        return f"ran {n}"

    @tool
    async def asks(n: int) -> str:
        """Ask. Use it always."""
        ran.append(f"asks {n}")
        ask_human(f"{n}?")

    @tool(check_in="always")
    async def gated(n: int) -> str:
        """Run when approved. Use it always."""
        ran.append(f"gated {n}")
        return f"ran {n}"

    @tool
    async def fails(n: int) -> str:
        """Fail. Use it always."""
        ran.append(f"fails {n}")
        raise RuntimeError("no")

    numbers = iter(range(1000))
    replies = [
        LLMResponse(
            "",
            tool_calls=tuple(ToolCall(call_id, kind, {"n": next(numbers)}) for kind, call_id in turn),
            stop_reason="tool_use",
        )
        for turn in script
    ]
    return Agent(Mock([*replies, "Done."], cursor="history"), tools=[runs, asks, gated, fails])


async def played(script: list[Turn], choices: Sequence[int]) -> tuple[list[str], list[RunResult[str]]]:
    ran: list[str] = []
    agent = agent_of(script, ran)
    legs = [await agent.run("Go.")]
    for step in range(100):
        paused = legs[-1].paused
        if paused is None:
            return ran, legs
        choice = choices[step % len(choices)]
        answer: Any = f"answer {step}" if paused.check_in is None else (decline, approve)[choice % 2](by="d")
        stored: Any = paused if choice < 2 else PauseCheckpoint.from_json(paused.checkpoint.to_json())
        legs.append(await agent.resume(stored, answer))
    raise AssertionError("a turn without end")


@settings(max_examples=60, deadline=None)
@given(script=turns(), choices=st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_every_proposal_is_answered_once_in_order_and_what_ran_is_what_counts(
    script: list[Turn], choices: list[int]
) -> None:
    ran, legs = asyncio.run(played(script, choices))

    history = [message for message in legs[-1].messages if message.content != "Done."]
    assert verify_pairs(history).unanswered == ()
    for at, message in enumerate(history):
        if message.tool_calls:
            behind = history[at + 1 : at + 1 + len(message.tool_calls)]
            assert [each.tool_call_id for each in behind] == [call.id for call in message.tool_calls]
            assert [each.tool_name for each in behind] == [call.name for call in message.tool_calls]
    assert ran == [f"{call.name} {call.args['n']}" for call in _entered(history)]
    assert len(ran) == len(set(ran)), "nothing runs twice"
    assert_the_sequence_counts_what_ran(history, script)


def _entered(history: Sequence[LLMMessage]) -> list[ToolCall]:
    """The proposals whose tool was entered: not settled, and not declined."""
    settled = settled_proposals(history)
    entered: list[ToolCall] = []
    for at, message in enumerate(history):
        for place, call in enumerate(message.tool_calls):
            answer = history[at + 1 + place]
            if answer.not_dispatched is None and not answer.content.startswith("declined by human"):
                assert (at, place) not in settled
                entered.append(call)
    return entered


def assert_the_sequence_counts_what_ran(history: Sequence[LLMMessage], script: list[Turn]) -> None:
    """With ids that are all different: exactly the calls with an answer that no settlement gave."""
    ids = [call_id for turn in script for _, call_id in turn]
    if len(set(ids)) != len(ids) or "" in ids:
        return  # judged by id: a known limit (SEQ-5)
    counted = [entry.args["n"] for entry in extract_sequence(history, 1)]
    dispatched = [
        call.args["n"]
        for at, message in enumerate(history)
        for place, call in enumerate(message.tool_calls)
        if history[at + 1 + place].not_dispatched is None
    ]
    assert counted == dispatched


@settings(max_examples=30, deadline=None)
@given(script=turns(), choices=st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_brackets_close_and_the_records_of_the_legs_fit_together(script: list[Turn], choices: list[int]) -> None:
    _, legs = asyncio.run(played(script, choices))

    opened = closed = 0
    for leg in legs:
        assert leg.recording.ended == ("paused" if leg.paused else "done")
        types = [event.type.rpartition(".")[2] for event in leg.recording.events]
        opened += types.count("tool_start")
        closed += types.count("tool_end")
        assert types.count("disposition") == 1
        assert [call.name for call in leg.tool_calls] == [
            use.tool_name for use in leg.recording.tool_uses if use.finished
        ]
    assert opened == closed == sum(len(message.tool_calls) for message in legs[-1].messages)
