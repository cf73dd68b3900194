"""Tests of `vectors/agent-loop` about output, budgets and the manifest, and of `vectors/events` about cost events."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agentfootprint import Agent, ConfigError, Limits, LLMCall, Mock, Usage, tool
from agentfootprint.agent import SCHEMA_CHECK_FRAME_PREFIX, is_schema_check_message
from agentfootprint.agent.judging.answers import corrective_turn
from agentfootprint.agent.shaping.manifest import Mounted, run_manifest
from agentfootprint.events import (
    ConfiguredArtifacts,
    ConfiguredMemory,
    ConfiguredRecipe,
    ConfiguredSkillGraph,
    CostLimitHit,
    CostTick,
    Event,
)
from agentfootprint.resilience import StaticPricing
from agentfootprint.trace import thaw
from tests.vectors.harness import Case, assert_same, load
from tests.vectors.shaped import budget_of

LOOP = load("agent-loop")
EVENTS = load("events")
PRICES = StaticPricing({"mock-model": {"input": 0.001, "output": 0.01}})


@pytest.mark.parametrize("case", LOOP.cases("cost-budget"))
def test_a_cost_budget(case: Case) -> None:
    given = case.input

    def build() -> dict[str, Any]:
        limits = Limits(cost=budget_of(given["budget"]), pricing=PRICES)
        made = LLMCall("mock", limits=limits) if given["runner"] == "LLMCall" else Agent("mock", limits=limits)
        assert made.plan.purse is not None
        budget = made.plan.purse.budget
        assert budget is not None
        return {"usd": budget.usd, "onExceed": budget.on_exceed}

    if "error" in case.expected:
        with pytest.raises(ConfigError, match=r"limits\.cost|budget|halted"):
            build()
    else:
        assert_same(build(), case.expected)


@pytest.mark.parametrize("case", LOOP.cases("clamp-iterations"))
def test_an_iteration_limit_is_taken_or_refused(case: Case) -> None:
    """02 s.2: what the reference makes 1 is refused at construction."""
    if isinstance(case.expected, dict):
        with pytest.raises(ConfigError, match=r"limits\.iterations"):
            Limits(iterations=case.input)
    else:
        assert Agent("mock", limits=Limits(iterations=case.input)).plan.limits.iterations == case.expected


@pytest.mark.parametrize("case", LOOP.cases("corrective-turn"))
def test_the_messages_of_a_retry(case: Case) -> None:
    given, expected = case.input, case.expected

    assistant, user = corrective_turn(
        given["answer"], given["failure"]["error"], attempt=given["attempt"], total=given["totalAttempts"]
    )

    assert (assistant.role, assistant.content) == (
        expected["assistant"]["role"],
        expected["assistant"]["content"],
    )
    assert user.role == expected["userRole"]
    assert user.content.startswith(expected["userPrefix"])
    assert expected["userPrefix"] == SCHEMA_CHECK_FRAME_PREFIX
    frame, _, rest = user.content.partition("\n\n")
    assert all(word in frame for word in expected["mentions"])
    assert rest == expected["afterFirstBlankLine"]
    assert is_schema_check_message(user) is expected["isSchemaCheck"]


def _mounted(given: dict[str, Any]) -> Mounted:
    graph, artifacts = given.get("skillGraph"), given.get("artifacts")
    return Mounted(
        memories=tuple(
            ConfiguredMemory(**{"embedder_id" if key == "embedderId" else key: value for key, value in memory.items()})
            for memory in given["memories"]
        ),
        window=given.get("windowStrategyName"),
        skill_graph=None
        if graph is None
        else ConfiguredSkillGraph(
            routing=graph.get("routing"), continuity=graph.get("continuity"), scorer=graph.get("scorerName")
        ),
        evidence_gate=given.get("evidenceGatePosture"),
        artifacts=None
        if artifacts is None
        else ConfiguredArtifacts(placement=artifacts["placement"] or None, recordings=artifacts["recordings"] or None),
        recipes=tuple(ConfiguredRecipe(**recipe) for recipe in given.get("recipes", ())),
    )


@pytest.mark.parametrize("case", LOOP.cases("run-manifest"))
def test_a_manifest(case: Case) -> None:
    given = case.input

    payload = run_manifest(
        given["agentId"],
        provider=given["providerName"],
        model=given["model"],
        mode=given["reactMode"],
        is_configured=given["hasRunConfig"],
        has_skill_brains=given["hasSkillBrains"],
        mounted=_mounted(given),
    )

    assert_same(thaw(payload), case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("cost-accounting"))
def test_the_cost_events_of_a_run(case: Case) -> None:
    given = case.input
    replies = [Usage(**{_snake(key): n for key, n in call.items()}) for call in given["calls"]]
    model = _Metered(replies, given["model"])
    pricing = StaticPricing({given["model"]: given["prices"]})
    agent = Agent(model, tools=[again], limits=Limits(cost=budget_of(given["budget"]), pricing=pricing))
    heard: list[Event[Any]] = []
    agent.on("agentfootprint.cost.*", heard.append)

    result = agent.run_sync("go")

    told = [event for event in heard if event.type in (CostTick.type, CostLimitHit.type)]
    assert_same([[event.type, thaw(event.payload)] for event in told], case.expected)
    assert (
        result.cost_usd
        == case.expected[-1 if case.expected[-1][0] == CostTick.type else -2][1]["cumulative"]["estimatedUsd"]
    )


def _snake(key: str) -> str:
    return {"cacheRead": "cache_read", "cacheWrite": "cache_write"}.get(key, key)


@tool
async def again() -> str:
    """Do it again. Use it until told otherwise."""
    return "done"


class _Metered:
    """A provider whose replies take what a vector says; every one but the last asks for a tool."""

    name = "mock"

    def __init__(self, usages: list[Usage], model: str) -> None:
        self.default_model = model
        self._left = list(usages)

    async def complete(self, request: object, hooks: object = None) -> Any:
        usage = self._left.pop(0)
        reply = Mock.call("again") if self._left else (await Mock("end").complete(request))  # type: ignore[arg-type]
        return msgspec.structs.replace(reply, usage=usage)
