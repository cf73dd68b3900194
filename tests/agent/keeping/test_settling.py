"""Tests of agentfootprint.agent.keeping.settling."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import LLMMessage, ToolCall
from agentfootprint.agent.keeping.settling import all_answered
from agentfootprint.llm import verify_pairs
from agentfootprint.trace import FrozenList

IDS = st.sampled_from(["a", "b", ""])


@st.composite
def histories(draw: st.DrawFn) -> list[LLMMessage]:
    """Turns that propose calls with few ids; some answered, in any order, before the next turn."""
    messages: list[LLMMessage] = []
    for turn in range(draw(st.integers(0, 4))):
        messages.append(LLMMessage("user", f"u{turn}"))
        ids = draw(st.lists(IDS, max_size=3))
        calls = [ToolCall(id_, f"t{place}", {}) for place, id_ in enumerate(ids)]
        messages.append(LLMMessage("assistant", "", tool_calls=calls))
        answered = draw(st.permutations(ids))[: draw(st.integers(0, len(ids)))]
        messages += [LLMMessage("tool", "done", tool_call_id=id_, tool_name="t") for id_ in answered]
    return messages


@given(histories())
def test_every_call_gets_its_one_answer_behind_its_turn_and_nothing_else_changes(messages: list[LLMMessage]) -> None:
    before = verify_pairs(messages)

    after = tuple(all_answered(FrozenList(list(messages), len(messages)), ()))

    assert verify_pairs(after).unanswered == ()
    added = [message for message in after if message.not_dispatched is not None]
    assert len(added) == len(before.unanswered)
    assert [message for message in after if message.not_dispatched is None] == messages
    for place, message in enumerate(after):
        if message.role == "tool":
            assert after[place - 1].role in ("assistant", "tool")


def test_an_answer_that_was_missing_stands_where_its_call_stands() -> None:
    calls = [ToolCall("a", "t0", {}), ToolCall("b", "t1", {}), ToolCall("a", "t2", {})]
    done = LLMMessage("tool", "done", tool_call_id="b", tool_name="t1")
    messages = [LLMMessage("user", "u"), LLMMessage("assistant", "", tool_calls=calls), done]

    after = tuple(all_answered(FrozenList(list(messages), len(messages)), ()))

    assert [message.tool_name for message in after[2:]] == ["t0", "t1", "t2"]
    assert after[3] is done
