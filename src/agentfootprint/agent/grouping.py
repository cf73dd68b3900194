"""How does a chart show each turn of the loop as one box: everything that leads to a reply, and the call, in one mount?

The stages are those of the other modes, with the events of the other modes; only their addresses are longer (AGT-37).
What later stages read is mapped out when the reply is there, so the state of the top is that of the other modes too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from agentfootprint.flow import Chart, Decider, Selector, Stage, Subflow
from agentfootprint.trace import ABSENT, Execution, FrozenList, Value

if TYPE_CHECKING:
    from agentfootprint.flow import Handle
    from agentfootprint.trace import Journal

__all__ = ["GROUP", "delivered_window", "grouped"]

GROUP: Final = "sf-llm-call"
"""Id of the mount."""
_NOTHING: Final = FrozenList([], 0)

_REPLY: Final = ("llmLatestContent", "llmLatestToolCalls", "thinkingBlocks")
_KEPT: Final = (
    "history",
    "totalInputTokens",
    "totalOutputTokens",
    "cumTokensInput",
    "cumTokensOutput",
    "cumEstimatedUsd",
    "unpricedCalls",
    "costBudgetHit",
    "activeInjections",
    "activeByslot",
    "deliveredMessageKeys",
    "systemPromptInjections",
    "messagesInjections",
    "toolsInjections",
    "dynamicToolSchemas",
    "cacheMarkers",
)
"""What a turn of the loop takes up and hands on."""
_READ: Final = (
    "userMessage",
    "runIdentity",
    "iteration",
    "maxIterations",
    "activatedInjectionIds",
    "lastToolResult",
    "toolResults",
    "cachingDisabled",
    "skillHistory",
    "wrapUpAsked",
)


def turn_seed(h: Handle) -> None:
    """Nothing of the reply before stands in the mount of the next one."""
    h.write({"llmLatestContent": "", "llmLatestToolCalls": _NOTHING, "thinkingBlocks": _NOTHING})


def grouped(parts: Sequence[Stage | Subflow | Selector | Decider]) -> Subflow:
    """The mount.

    Args:
        parts: The stages of the loop up to the reply, and what is made of its thinking.
    """
    return Subflow(
        Chart.of("LLM Call", Stage(turn_seed, id="turn-seed", name="TurnSeed", raw=True), *parts),
        id=GROUP,
        name="LLM Call",
        input=(*_READ, *_KEPT),
        output=(*_KEPT, *_REPLY, "messagesDelivery"),
        array_merge="replace-all",
        inputs="mutable",
    )


def delivered_window(journal: Journal) -> FrozenList | None:
    """The history as the last turn of the loop said pieces of context in it, when that turn ended without a reply.

    Args:
        journal: The rows of the run.
    """
    for row in reversed(journal.rows):
        if isinstance(row, Execution):
            if not row.info.path and row.info.local_id != GROUP:
                return None
            if row.info.local_id == "deliver":
                found: Value = row.writes.get("history", ABSENT)
                return found if isinstance(found, FrozenList) else None
    return None
