"""The loop as a chart: one turn, from seed to answer, in the stages and with the ids of chapter 02, section 6.

A chart depends only on which branches are mounted; agents of one shape share it. Everything of a run is in the run's
scope, so stage functions are plain module functions.
"""

from __future__ import annotations

import functools

from agentfootprint.agent.batch import run_tool_calls
from agentfootprint.agent.call import call_llm
from agentfootprint.agent.calling.thinking import thinking_mounts
from agentfootprint.agent.compose import (
    cache_gate,
    compose_messages,
    compose_system_prompt,
    compose_tools,
    decide_cache_markers,
    delta,
    discover,
    evaluate,
    gather,
    keep_markers,
    route_pieces,
    which_slots,
)
from agentfootprint.agent.composing.delivering import deliver
from agentfootprint.agent.finish import FINAL_INPUT, break_final, prepare_final, seed
from agentfootprint.agent.grouping import GROUP, grouped
from agentfootprint.agent.judging.tiers import prepare_final_with_tiers
from agentfootprint.agent.pausing.answering import resume_tool_calls
from agentfootprint.agent.route import retry_output, route, wrap_up
from agentfootprint.flow import Chart, Decider, Flow, Pausable, Selector, Stage, Subflow

__all__ = ["agent_chart"]

_ENGINE = "sf-injection-engine"


def _engine() -> Subflow:
    chart = Chart.of(
        "Injection Engine",
        Stage(gather, id="gather", name="Gather", raw=True),
        Stage(evaluate, id="evaluate", name="Evaluate", raw=True),
        Stage(route_pieces, id="route", name="Route", raw=True),
        Stage(delta, id="delta", name="Delta", raw=True),
    )
    same = (
        "iteration", "maxIterations", "userMessage", "history", "lastToolResult", "toolResults",
        "activatedInjectionIds",
    )  # fmt: skip
    return Subflow(
        chart,
        id=_ENGINE,
        name="Injection Engine",
        input={**{key: key for key in same}, "priorActiveByslot": "activeByslot"},
        output=("activeInjections", "activeByslot"),
        array_merge="replace-all",
    )


def _slots() -> Selector:
    system = Subflow(
        Chart.of("System Prompt", Stage(compose_system_prompt, id="compose", name="Compose", raw=True)),
        id="sf-system-prompt",
        name="System Prompt",
        input=("userMessage", "iteration", "activeInjections"),
        output=("systemPromptInjections",),
        array_merge="replace-all",
    )
    messages = Subflow(
        Chart.of("Messages", Stage(compose_messages, id="compose", name="Compose", raw=True)),
        id="sf-messages",
        name="Messages",
        input={"messages": "history", "iteration": "iteration", "activeInjections": "activeInjections"},
        output=("messagesInjections",),
        array_merge="replace-all",
    )
    tools = Subflow(
        Chart.of(
            "Tools",
            Stage(discover, id="discover", name="Discover", raw=True),
            Stage(compose_tools, id="compose", name="Compose", raw=True),
        ),
        id="sf-tools",
        name="Tools",
        input=("iteration", "activeInjections", "activatedInjectionIds", "runIdentity"),
        output={"toolsInjections": "toolsInjections", "dynamicToolSchemas": "toolSchemas"},
        array_merge="replace-all",
    )
    return Selector(
        which_slots, id="context", name="Context", raw=True, fail_fast=True, branches=[system, messages, tools]
    )


def _cache() -> Subflow:
    chart = Chart.of(
        "Cache",
        Stage(decide_cache_markers, id="decide-cache-markers", name="CacheDecision", raw=True),
        Decider(
            cache_gate,
            id="cache-gate",
            name="CacheGate",
            raw=True,
            branches=[
                Stage(keep_markers, id="apply-markers", name="ApplyMarkers", raw=True),
                Stage(keep_markers, id="no-markers", name="NoMarkers", raw=True),
            ],
        ),
    )
    same = (
        "activeInjections",
        "iteration",
        "maxIterations",
        "userMessage",
        "cachingDisabled",
        "history",
        "skillHistory",
    )
    return Subflow(
        chart,
        id="sf-cache",
        name="Cache",
        input={**{key: key for key in same}, "cumulativeInputTokens": "totalInputTokens"},
        output=("cacheMarkers",),
        array_merge="replace-all",
    )


def _final(*, has_tiers: bool) -> Subflow:
    prepare = prepare_final_with_tiers if has_tiers else prepare_final
    chart = Chart.of(
        "Final",
        Stage(prepare, id="prepare-final", name="PrepareFinal", raw=True),
        Stage(break_final, id="break-final", name="BreakFinal", raw=True),
    )
    return Subflow(chart, id="final", name="Final", input=FINAL_INPUT, propagate_break=True, array_merge="replace-all")


@functools.cache
def agent_chart(
    *,
    thinking: str | None,
    retries_output: bool,
    wraps_up: bool,
    delivers: bool = False,
    has_tiers: bool = False,
    groups: bool = False,
) -> Flow:
    """The chart of an agent.

    Args:
        thinking: Id of the provider's thinking handler, if it has one.
        retries_output: Whether an answer that misses the output type may be asked for again.
        wraps_up: Whether a turn cut by the iteration limit gets a wrap-up call (AGT-7).
        delivers: Whether some piece of context is said in the conversation (04 s.5).
        has_tiers: Whether something stands in for an answer that misses the output type (AGT-131).
        groups: Whether what leads to a reply, and the model call, stand in one mount (AGT-37).
    """
    again = GROUP if groups else _ENGINE
    branches: list[Stage | Pausable | Subflow] = [
        Pausable(run_tool_calls, resume_tool_calls, id="tool-calls", name="ToolCalls", raw=True, loop_to=again)
    ]
    if retries_output:
        branches.append(Stage(retry_output, id="output-retry", name="OutputRetry", raw=True, loop_to=again))
    if wraps_up:
        branches.append(Stage(wrap_up, id="wrap-up", name="WrapUp", raw=True, loop_to=again))
    branches.append(_final(has_tiers=has_tiers))
    turn: list[Stage | Subflow | Selector | Decider] = [
        _engine(),
        *([Stage(deliver, id="deliver", name="Deliver", raw=True)] if delivers else []),
        _slots(),
        _cache(),
        Stage(call_llm, id="call-llm", name="CallLLM", raw=True),
    ]
    turn += thinking_mounts(thinking)
    decide = Decider(route, id="sf-route", name="Route", raw=True, default="final", branches=branches)
    steps = [grouped(turn)] if groups else turn
    return Chart.of("Agent", Stage(seed, id="seed", name="Initialize", raw=True), *steps, decide).build()
