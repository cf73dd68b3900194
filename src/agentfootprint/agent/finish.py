"""How a turn begins and ends: the seed of the state, and the answer that is handed back (02 s.4, s.19)."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.agent.scope import RunScope
from agentfootprint.events import IterationEnd, TurnEnd, TurnStart, TurnStoppedEarly
from agentfootprint.flow import Handle
from agentfootprint.llm import LLMMessage
from agentfootprint.trace import FrozenList

if TYPE_CHECKING:
    from agentfootprint.agent.gating.gates import RunGates

__all__ = ["FINAL_INPUT", "break_final", "prepare_final", "seed"]

_NOTHING: Final = FrozenList([], 0)
_SEED: Final = {
    "newMessages": _NOTHING,
    "turnNumber": 1,
    "contextTokensRemaining": 32_000,
    "iteration": 1,
    "finalContent": "",
    "totalInputTokens": 0,
    "totalOutputTokens": 0,
    "systemPromptInjections": _NOTHING,
    "messagesInjections": _NOTHING,
    "toolsInjections": _NOTHING,
    "llmLatestContent": "",
    "llmLatestToolCalls": _NOTHING,
    "thinkingBlocks": _NOTHING,
    "pausedToolCallId": "",
    "pausedToolName": "",
    "pausedToolStartMs": 0,
    "cumTokensInput": 0,
    "cumTokensOutput": 0,
    "cumEstimatedUsd": 0,
    "costBudgetHit": False,
    "activeInjections": _NOTHING,
    "activatedInjectionIds": _NOTHING,
    "deliveredMessageKeys": _NOTHING,
    "cacheMarkers": _NOTHING,
    "skillHistory": _NOTHING,
}
"""What a turn starts with beside its own facts (02 s.7); the order on the wire is that of `seed`."""

FINAL_INPUT: Final = (
    "userMessage",
    "history",
    "runIdentity",
    "turnNumber",
    "contextTokensRemaining",
    "iteration",
    "maxIterations",
    "totalInputTokens",
    "totalOutputTokens",
    "turnStartMs",
    "systemPromptInjections",
    "messagesInjections",
    "toolsInjections",
    "llmLatestContent",
    "llmLatestToolCalls",
    "thinkingBlocks",
    "pausedToolCallId",
    "pausedToolName",
    "pausedToolStartMs",
    "cumTokensInput",
    "cumTokensOutput",
    "cumEstimatedUsd",
    "costBudgetHit",
    "activeInjections",
    "activatedInjectionIds",
    "dynamicToolSchemas",
    "deliveredMessageKeys",
    "cacheMarkers",
    "cachingDisabled",
    "skillHistory",
    "activeByslot",
    "lastToolResult",
    "toolResults",
)
"""What the final subflow is given of the state."""


def seed(h: Handle) -> Awaitable[None] | None:
    """Write what the turn starts from (02 s.7), and say that it starts."""
    scope: RunScope = h.home.run.scope
    message: str = h.args["message"]
    hears = scope.continued is None or scope.continued.appends  # what is tried once more was heard before
    if scope.rules is not None and scope.rules.messages and hears:
        return _seed_heard(h, scope, scope.rules, message)
    _begin(h, scope, message)
    return None


async def _seed_heard(h: Handle, scope: RunScope, rules: RunGates, message: str) -> None:
    """The same, with the message as the rules at the input leave it; denied, the turn goes no further (AGT-54)."""
    verdict = await rules.hear(h, scope, message)
    scope.message = verdict.content
    _begin(h, scope, verdict.content)
    if verdict.kind == "deny":
        rules.refuse_input(h, scope, verdict)


def _begin(h: Handle, scope: RunScope, message: str) -> None:
    state: dict[str, Any] = {
        "userMessage": message,
        "history": FrozenList([LLMMessage("user", message)], 1),
        "runIdentity": scope.run_identity(),
        **_SEED,
        "maxIterations": scope.limits.iterations,
        "turnStartMs": int(time.time() * 1000),
        "dynamicToolSchemas": scope.plan.tool_schemas,
        "cachingDisabled": not scope.plan.caching,
    }
    if scope.continued is not None:
        scope.continued.begin(message, state)
    if scope.identity is None and scope.facts.session_id is not None:
        state["runIdentitySource"] = "session"
    if scope.given is not None or scope.plan.configure is not None:
        from agentfootprint.agent.shaping.configuring import configure_run  # only where something is said for a run

        configure_run(scope, state)
    if scope.purse is not None and scope.purse.budget is not None:
        state["costBudgetOnExceed"] = scope.purse.budget.on_exceed
    h.write(state)
    scope.emit(h, TurnStart(turn_index=0, user_prompt=message))


def prepare_final(h: Handle) -> None:
    """The last reply becomes the answer; the turn is closed (AGT-148)."""
    scope: RunScope = h.home.run.scope
    content: str = h["llmLatestContent"]
    iteration: int = h["iteration"]
    blocks: FrozenList = h["thinkingBlocks"]
    message: str = h["userMessage"]
    total_in: int = h["totalInputTokens"]
    total_out: int = h["totalOutputTokens"]
    h["turnStartMs"]
    scope.answer = content
    answer = LLMMessage("assistant", content, thinking_blocks=tuple(blocks))
    h["finalContent"] = content
    is_denied = scope.spoken is not None and scope.spoken.is_denied
    h["newMessages"] = _NOTHING if is_denied else FrozenList([LLMMessage("user", message), answer], 2)
    scope.emit(h, IterationEnd(turn_index=0, iter_index=iteration, tool_call_count=0))
    scope.emit(h, turn_end(scope, iteration, total_in, total_out))


def turn_end(scope: RunScope, iteration: int, total_in: int, total_out: int) -> TurnEnd:
    """The event that says the answer exists."""
    early = scope.stopped_early
    return TurnEnd(
        turn_index=0,
        final_content=scope.answer,
        total_input_tokens=total_in,
        total_output_tokens=total_out,
        iteration_count=iteration,
        duration_ms=scope.elapsed_ms(),
        denied=True if scope.spoken is not None and scope.spoken.is_denied else None,
        stopped_early=None
        if early is None
        else TurnStoppedEarly(
            reason=early["reason"],
            iteration=early["iteration"],
            pending_tool_calls=early["pendingToolCalls"],
            wrapped_up=early.get("wrappedUp"),
        ),
    )


def break_final(h: Handle) -> str:
    """End the run with the answer as its value."""
    content: str = h["finalContent"]
    h.break_()
    return content
