"""Runs whose recordings several test modules look at."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentfootprint import Agent, Fact, Instruction, Limits, Mock, Steering, tool
from agentfootprint.events import RunFacts
from agentfootprint.flow import Chart, FlowRun
from agentfootprint.flow.parts import Part
from agentfootprint.llm import LLMRequest, LLMResponse
from agentfootprint.recording import Recording
from agentfootprint.trace import Journal

__all__ = [
    "ANSWER",
    "DATA",
    "FACTS",
    "agent_recording",
    "chart_recording",
    "journal_of",
    "lines_of",
    "planted",
]

ANSWER = "Refund APPROVED: Dana Reyes holds VIP tier override status, so the order qualifies beyond the window."
FACTS = RunFacts(run_id="run-1700000000000-1", started_at_ms=1_700_000_000_000)
DATA = Path(__file__).parents[1] / "vectors" / "data"


@tool
def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: purchased 47 days ago, price $480, category electronics."


def answering_after(iterations: int) -> Callable[[LLMRequest], str | LLMResponse]:
    """A model that looks orders up, one an iteration, and answers in the last."""

    def model(request: LLMRequest) -> str | LLMResponse:
        done = sum(message.role == "tool" for message in request.messages)
        return ANSWER if done >= iterations - 1 else Mock.call("lookup", order_id=f"A-{done}")

    return model


def agent_recording(iterations: int = 2, **options: Any) -> Recording:
    """The recording of an agent with facts, a rule and one tool."""
    given: dict[str, Any] = {
        "system": "You decide refunds.",
        "tools": [lookup],
        "context": [
            Fact("vip", "Dana Reyes holds VIP status: refunds are approved beyond 30 days."),
            Steering("style", "Two sentences at most."),
            Instruction("late", "Mention the price.", when=lambda turn: turn.iteration >= 3),
        ],
        "limits": Limits(iterations=iterations + 2),
    }
    agent = Agent(Mock(answering_after(iterations)), **(given | options))
    return agent.run_sync("Should order A-1001 be refunded?").recording


def chart_recording(*parts: Part, args: dict[str, Any] | None = None) -> Recording:
    """The recording of a chart, to its end or to its failure."""
    run = FlowRun(Chart.of("Test", *parts).build())
    recording = Recording.of_run(run.journal, facts=FACTS)
    try:
        asyncio.run(run.start(args))
    except Exception:  # noqa: BLE001  a chart may be meant to fail
        recording.finish("failed")
    else:
        recording.finish("done")
    return recording


def planted() -> dict[str, Any]:
    """The reference's own recording of a refund with a planted fact, in the wire form."""
    text = (DATA / "explain" / "planted_refund.recording.json").read_text(encoding="utf-8")
    return json.loads(text)["recording"]


def journal_of(recording: Recording) -> Journal:
    """The rows of a native recording."""
    journal = recording.journal
    assert journal is not None
    return journal


def lines_of(recording: Recording, path: Path) -> list[Any]:
    """The lines of a saved recording, decoded."""
    recording.save(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
