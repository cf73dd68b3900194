"""An agent that uses what the loop has, with a marker at each place where somebody's words enter."""

from __future__ import annotations

from typing import Any

from agentfootprint import Agent, Fact, Instruction, Mock, ToolContext, ask_human, tool
from agentfootprint.agent import Limits
from agentfootprint.llm import LLMResponse, ToolCall

__all__ = ["MARKERS", "MESSAGE", "asking", "shop"]

MARKERS = {
    "prompt": "mark-prompt-1f",
    "argument": "mark-argument-2e",
    "result": "mark-result-3d",
    "text result": "mark-text-4c",
    "remark": "mark-remark-5b",
    "thought": "mark-thought-6a",
    "progress": "mark-progress-79",
    "question": "mark-question-88",
    "reply": "mark-reply-97",
    "answer": "mark-answer-a6",
    "failure": "mark-failure-b5",
}
"""What entered where."""
MESSAGE = f"Please pay for {MARKERS['prompt']}."
CARD = f"4111-{MARKERS['argument']}"


@tool
def pay(card: str, amount: int, ctx: ToolContext) -> dict[str, Any]:
    """Pay with a card. Use it when a card is named."""
    ctx.progress({"stage": MARKERS["progress"]})
    ctx.emit("shop.paid", {"card": card, "note": MARKERS["progress"]})
    return {"card": card, "amount": amount, "receipt": MARKERS["result"]}


@tool
def look(order: str) -> str:
    """Look an order up. Use it first."""
    return f"{order}: {MARKERS['text result']}"


@tool
def fail(card: str) -> str:
    """Always fails. Use it never."""
    raise ValueError(f"{MARKERS['failure']}: no such card")


@tool
def ask(question: str) -> str:
    """Ask a person. Use it when only a person knows."""
    ask_human(question, reason="nobody else knows")


SCRIPT = (
    LLMResponse(
        MARKERS["remark"],
        tool_calls=[
            ToolCall("call-7b1-pay", "pay", {"card": CARD, "amount": 3}),
            ToolCall("c2", "look", {"order": "A"}),
        ],
        raw_thinking={
            "kind": "anthropic",
            "blocks": [{"type": "thinking", "thinking": MARKERS["thought"], "signature": "s"}],
        },
    ),
    LLMResponse("", tool_calls=[ToolCall("c3", "fail", {"card": CARD})]),
)
ASKS = LLMResponse("", tool_calls=[ToolCall("c4", "ask", {"question": f"Is it {MARKERS['question']}?"})])
ANSWER = f"Paid: {MARKERS['answer']}."


def shop(script: tuple[Any, ...] = (*SCRIPT, ANSWER), provider: Any = None, **options: Any) -> Agent[Any, str]:
    """The agent; `provider` instead of the scripted model."""
    return Agent(
        provider or Mock(list(script), name="anthropic", cursor="run"),
        id="shop",
        system="You take payments.",
        tools=[pay, look, fail, ask],
        context=[Fact("hours", "Open all day."), Instruction("after", "You have looked.", on_tool_return="look")],
        limits=Limits(iterations=8),
        **options,
    )


def asking(**options: Any) -> Agent[Any, str]:
    """The same, which asks a person before it answers."""
    return shop(provider=Mock([*SCRIPT, ASKS, ANSWER], name="anthropic", cursor="history"), **options)
