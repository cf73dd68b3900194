"""What happens in one model call without a loop: what it is given, the call, its answer (02 s.23)?

The chart keeps the client's side apart from the call's: `client` hands over what is asked and, on its second visit,
ends the run with the answer. What the call was given stands in the state of the top, where `why` reads it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from agentfootprint.agent.call import exchange
from agentfootprint.agent.calling.thinking import thinking_mounts
from agentfootprint.agent.compose import close_slot, compose_messages
from agentfootprint.agent.scope import RunScope
from agentfootprint.context import TurnContext, compose, rows_text
from agentfootprint.flow import Chart, Flow, Handle, LoopTo, Stage, Subflow
from agentfootprint.llm import LLMMessage
from agentfootprint.trace import FrozenList, freeze

if TYPE_CHECKING:
    from agentfootprint.context import Pass

__all__ = ["call_chart"]

_NOTHING: Final = FrozenList([], 0)
_REASON: Final = "LLMCall.system()"


@functools.cache
def call_chart(*, thinking: str | None, has_tiers: bool) -> Flow:
    """The chart of a single model call.

    Args:
        thinking: Id of the provider's thinking handler, if it has one.
        has_tiers: Whether something stands in for an answer that misses the output type (AGT-131).
    """
    system = Subflow(
        Chart.of("System Prompt", Stage(_compose_system_prompt, id="compose", name="Compose", raw=True)),
        id="sf-system-prompt",
        name="System Prompt",
        input=("iteration", "given"),
        output=("systemPromptInjections",),
        array_merge="replace-all",
    )
    messages = Subflow(
        Chart.of("Messages", Stage(compose_messages, id="compose", name="Compose", raw=True)),
        id="sf-messages",
        name="Messages",
        input={"messages": "history", "iteration": "iteration"},
        output=("messagesInjections",),
        array_merge="replace-all",
    )
    extract = _extract_with_tiers if has_tiers else _extract
    once = Chart.of(
        "LLMCall",
        Stage(_seed, id="seed", name="Initialize", raw=True),
        system,
        messages,
        Stage(_call_llm, id="call-llm", name="CallLLM", raw=True),
        *thinking_mounts(thinking),
        Stage(extract, id="extract-final", name="ExtractFinal", raw=True),
    )
    call = Subflow(
        once,
        id="sf-llm-call",
        name="LLM",
        input=_GIVEN,
        output=_TAKEN,
        array_merge="replace-all",
    )
    return Chart.of("LLMCall", Stage(_client, id="client", name="Client", raw=True), call, LoopTo("client")).build()


_GIVEN: Final = {
    "userMessage": "userMessage",
    "history": "history",
    "given": "systemPromptInjections",
    "dynamicToolSchemas": "dynamicToolSchemas",
    "iteration": "iteration",
}
_TAKEN: Final = ("finalContent", "llmLatestContent", "totalInputTokens", "totalOutputTokens")


def _client(h: Handle) -> str | None:
    """Hand over what is asked; when the answer is there, end with it."""
    scope: RunScope = h.run.scope
    if scope.model_calls:
        answer: str = h["finalContent"]
        h.break_()
        return answer
    message: str = h.args["message"]
    state: dict[str, Any] = {
        "userMessage": message,
        "history": FrozenList([LLMMessage("user", message)], 1),
        "iteration": 1,
        "dynamicToolSchemas": _NOTHING,
    }
    if scope.given is not None:
        from agentfootprint.agent.shaping.configuring import configure_run  # only where something is said for the run

        configure_run(scope, state)
    state["systemPromptInjections"] = _rows(scope, message)
    h.write(state)
    return None


def _rows(scope: RunScope, message: str) -> FrozenList:
    """The base prompt, and the output type where one was declared."""
    turn = TurnContext(
        iteration=1,
        max_iterations=1,
        user_message=message,
        history=cast("Sequence[Any]", _NOTHING),
        tool_results=(),
        activated_ids=(),
        deps=scope.deps,
    )
    now: Pass = scope.context.evaluate(turn)
    scope.pass_ = scope.system_pass = now
    rows = now.system_rows
    if not scope.context.base.text:
        return rows
    return freeze([replace(rows[0], reason=_REASON), *rows[1:]])


def _seed(h: Handle) -> None:
    """What the call starts from."""
    scope: RunScope = h.run.scope
    state: dict[str, Any] = {
        "totalInputTokens": 0,
        "totalOutputTokens": 0,
        "llmLatestContent": "",
        "llmLatestToolCalls": _NOTHING,
        "thinkingBlocks": _NOTHING,
        "finalContent": "",
    }
    if scope.purse is not None:
        state |= {"cumTokensInput": 0, "cumTokensOutput": 0, "cumEstimatedUsd": 0, "costBudgetHit": False}
    h.write(state)


def _compose_system_prompt(h: Handle) -> None:
    """The base prompt and what the output type says (SLOT-1)."""
    scope: RunScope = h.run.scope
    rows: FrozenList = h.args["given"]
    assert scope.system_pass is not None  # noqa: S101  the client evaluated it
    cap = scope.budget.system_prompt
    composed = compose("system-prompt", h.args["iteration"], cap, scope.system_pass.system_totals)
    h["systemPromptInjections"] = rows
    close_slot(h, scope, rows, composed)


async def _call_llm(h: Handle) -> None:
    """Ask once (02 s.23)."""
    scope: RunScope = h.run.scope
    rows = h["systemPromptInjections"]
    iteration: int = h["iteration"]
    history: FrozenList = h["history"]
    totals: tuple[int, int] = (h["totalInputTokens"], h["totalOutputTokens"])
    forced = scope.plan.forced
    await exchange(
        h,
        scope,
        iteration,
        totals,
        system=rows_text(rows),
        history=history,
        tools=_NOTHING if forced is None else forced.schemas,
    )


def _extract(h: Handle) -> None:
    """The reply is the answer, an empty one too; it is judged when an output type was declared."""
    from agentfootprint.agent.judging.answers import judge_answer

    scope: RunScope = h.run.scope
    answer: str = h["llmLatestContent"]
    scope.answer = answer
    h["finalContent"] = answer
    contract = scope.plan.output
    if contract is not None:
        judge_answer(h, scope, contract, 1, answer)


async def _extract_with_tiers(h: Handle) -> None:
    """The same, and something in the place of an answer that missed."""
    from agentfootprint.agent.judging.tiers import try_tiers

    _extract(h)
    scope: RunScope = h.run.scope
    contract = scope.plan.output
    if contract is not None and scope.miss is not None:
        await try_tiers(h, scope, contract, scope.miss)
