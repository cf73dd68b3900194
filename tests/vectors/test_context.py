"""Tests of `vectors/context`: declarations, triggers, templates, projection, slot sums, delivery."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import pytest

from agentfootprint import Agent, Fact, Instruction, Limits, Mock, Steering, Tool
from agentfootprint.agent import ContextBudget
from agentfootprint.context import (
    Always,
    Content,
    ContextDefinitionError,
    ContextPlan,
    Injection,
    OnReadSkill,
    OnToolReturn,
    Skill,
    SkillInjection,
    SkillOptions,
    SkillStep,
    SystemPrompt,
    TemplateInjection,
    Trigger,
    TurnContext,
    When,
    compose,
    delivery_key,
    missing_facts,
    piece_text,
    piece_tools,
    placeholders,
    placement,
    project,
    render,
    slot_totals,
    tool_results_of,
)
from agentfootprint.events import ContextInjected
from agentfootprint.llm import LLMMessage, message_from_wire
from agentfootprint.trace import thaw, truncate_utf16
from tests.vectors.harness import Case, assert_same, load

CONTEXT = load("context")
COVERED = (
    "define-context",
    "delivery-key",
    "delivery-placement",
    "evaluate-injections",
    "project-active-injection",
    "prompt-template",
    "slot-composition",
)
Given = Mapping[str, Any]


class Unknown(Trigger):
    """A kind of trigger that the library has no rule for."""

    kind = "weekly"


def tool_named(name: str) -> Tool[..., Any]:
    def act() -> str:
        return "r"

    return Tool(act, name=name, description=f"{name} tool", input_schema={"type": "object"})


def _raise(_: TurnContext) -> bool:
    raise LookupError("no")


def rule(given: Given) -> When:
    """The small language of predicates."""
    pred, arg = given["pred"], given.get("arg")

    def holds(turn: TurnContext) -> bool:
        last = turn.last_tool_result
        return {
            "true": True,
            "false": False,
            "iterationGt": arg is not None and pred == "iterationGt" and turn.iteration > arg,
            "userMessageIncludes": isinstance(arg, str) and arg in turn.user_message,
            "lastToolIs": last is not None and last.tool_name == arg,
            "historyNonEmpty": len(turn.history) > 0,
        }[pred]

    return When(_raise if pred == "throws" else holds)


def trigger(given: Given) -> Trigger:
    kind = given["kind"]
    if kind == "on-tool-return":
        name: Any = given["toolName"]
        return OnToolReturn(name if isinstance(name, str) else re.compile(name["regex"]))
    return rule(given) if kind == "rule" else {"always": Always, "llm-activated": OnReadSkill}.get(kind, Unknown)()


def injection(given: Given) -> Injection:
    """A piece as a vector writes it."""
    metadata = given.get("metadata", {})
    options: dict[str, Any] = {
        "trigger": trigger(given["trigger"]),
        "inject": Content(
            system_prompt=given.get("systemPrompt"),
            messages=[LLMMessage(each["role"], each["content"]) for each in given.get("messages", ())],
            tools=[tool_named(name) for name in given.get("tools", ())],
        ),
        "flavor": given.get("flavor", "instructions"),
        "description": given.get("description"),
        "cache": metadata.get("cache"),
    }
    if "surfaceMode" not in metadata:
        kind = TemplateInjection if given.get("templated") else Injection
        return kind(given["id"], **options)
    skill = {"surface_mode": metadata["surfaceMode"], "auto_activate": metadata.get("autoActivate")}
    return SkillInjection(given["id"], **options, **skill)


def turn(given: Given) -> TurnContext:
    return TurnContext(
        iteration=given["iteration"],
        max_iterations=given.get("maxIterations"),
        user_message=given["userMessage"],
        history=given["history"],
        tool_results=tool_results_of(given),
        activated_ids=given["activatedInjectionIds"],
        lease_active_ids=given.get("leaseActiveIds", ()),
        parked_ids=given.get("parkedIds", ()),
    )


@pytest.mark.parametrize("case", CONTEXT.cases("evaluate-injections"))
def test_evaluate_injections(case: Case) -> None:
    plan = ContextPlan(SystemPrompt(""), [injection(each) for each in case.input["injections"]], caching=True)

    now = plan.evaluate(turn(case.input["ctx"]))

    assert all(each.error for each in now.skipped)
    assert_same(
        {
            "active": [*now.active_ids],
            "skipped": [{"id": each.id, "reason": each.reason} for each in now.skipped],
        },
        case.expected,
    )


@pytest.mark.parametrize("case", CONTEXT.cases("prompt-template"))
def test_prompt_template(case: Case) -> None:
    template, given = case.input["template"], case.input["ctx"]
    facts = {"iteration": given["iteration"], "max_iterations": given.get("maxIterations")}
    found = placeholders(template)

    try:
        declared: Injection | None = Instruction("i", template=template).to_injection()
    except ContextDefinitionError:
        declared = None

    assert declared is None or declared.templated == bool(found)
    assert_same(
        {
            "placeholders": [*found],
            "isTemplate": bool(found),
            "refusedAtDefine": declared is None,
            "missing": [*missing_facts(template, **facts)],
            "rendered": render(template, **facts),
        },
        case.expected,
    )


@pytest.mark.parametrize("case", CONTEXT.cases("slot-composition"))
def test_slot_composition(case: Case) -> None:
    given = case.input
    if "text" in given:
        assert truncate_utf16(given["text"], given["n"]) == case.expected
        return
    rows = [
        ContextInjected(
            content_summary=row["contentSummary"],
            content_hash="0",
            slot="system-prompt",
            source=row["source"],
            reason="why",
            raw_content=row.get("rawContent"),
        )
        for row in given["records"]
    ]

    composed = compose("system-prompt", given["iteration"], given["cap"], slot_totals(rows))

    assert_same(thaw(composed), case.expected["composition"])


def _pressure(used: int, cap: int) -> Any:
    """What a listener hears of a system prompt of so many characters."""
    heard: list[Any] = []
    agent = Agent(
        Mock("x"), system="x" * used, limits=Limits(context_budget=ContextBudget(system_prompt=cap, messages=0))
    )
    agent.on("agentfootprint.context.budget_pressure", lambda event: heard.append(thaw(event.payload)))
    agent.run_sync("Go.")
    return heard[0] if heard else None


@pytest.mark.parametrize("case", CONTEXT.cases("slot-composition"))
def test_slot_pressure(case: Case) -> None:
    if "text" in case.input:
        assert len(case.expected) == case.input["n"]  # the composition of this case is a truncation
        return
    used = case.expected["composition"]["budget"]["used"]

    assert_same(_pressure(used, case.input["cap"]), case.expected["pressure"])


@pytest.mark.parametrize("case", CONTEXT.cases("delivery-key"))
def test_delivery_key(case: Case) -> None:
    given = case.input

    assert delivery_key(given["injectionId"], given["role"], given["content"]) == case.expected


@pytest.mark.parametrize("case", CONTEXT.cases("delivery-placement"))
def test_delivery_placement(case: Case) -> None:
    history = [message_from_wire(each) for each in case.input["history"]]

    assert placement(history, case.input["role"]) == case.expected


NAMES = {
    "data": "text",
    "prompt": "text",
    "promptTemplate": "template",
    "autoActivate": "scope_tools",
    "onSkip": "on_skip",
}


def defined(kind: str, given: Given) -> Injection:
    """A declaration in Python's words; `description` is an option of skills only."""
    options = {NAMES.get(key, key): value for key, value in given.items()}
    name = options.pop("id")
    if kind != "skill":
        options.pop("description", None)
        text = options.pop("text", None)
        pieces: dict[str, Any] = {"fact": Fact, "steering": Steering, "instruction": Instruction}
        return pieces[kind](name, text, **options).to_injection()
    rare = {key: options.pop(key) for key in ("on_skip", "produces", "consumes") if key in options}
    if "tools" in options:
        options["tools"] = [tool_named(each) for each in options["tools"]]
    if "steps" in options:
        options["steps"] = [SkillStep(each["tool"], each["note"]) for each in options["steps"]]
    if "scope_tools" in options:
        options["scope_tools"] = options["scope_tools"] == "currentSkill"
    return Skill(name, **options, options=SkillOptions(**rare) if rare else None).to_injection()


def shown(piece: Injection) -> dict[str, Any]:
    """A declaration in the vectors' words; what is not there has no key."""
    inject = {
        "systemPrompt": piece.inject.system_prompt,
        "messages": [thaw(each) for each in piece.inject.messages],
        "tools": [each.name for each in cast("tuple[Tool[..., Any], ...]", piece.inject.tools)],
    }
    metadata: dict[str, Any] = {"cache": piece.cache}
    if isinstance(piece, SkillInjection):
        metadata |= {
            "surfaceMode": piece.surface_mode,
            "autoActivate": piece.auto_activate,
            "steps": [{"tool": step.tool_name, "note": step.note} for step in piece.steps],
            "onSkip": piece.on_skip,
            "produces": [*piece.produces],
        }
    return {
        "id": piece.id,
        "flavor": piece.flavor,
        "triggerKind": piece.trigger.kind,
        "inject": {key: value for key, value in inject.items() if value},
        "templated": piece.templated,
        "metadata": {key: value for key, value in metadata.items() if value},
    }


@pytest.mark.parametrize("case", CONTEXT.cases("define-context"))
def test_define_context(case: Case) -> None:
    kind, options = case.input["kind"], case.input["options"]
    if case.expected.get("refused"):
        with pytest.raises(ContextDefinitionError):
            defined(kind, options)
        return

    assert_same(shown(defined(kind, options)), case.expected)


@pytest.mark.parametrize("case", CONTEXT.cases("project-active-injection"))
def test_project_active_injection(case: Case) -> None:
    piece, given = injection(case.input["injection"]), case.input["ctx"]
    text = piece_text(piece, iteration=given.get("iteration", 1), max_iterations=given.get("maxIterations"))

    assert_same(thaw(project(piece, text, piece_tools(piece))), case.expected)


@pytest.mark.parametrize("file", CONTEXT.not_built(*COVERED))
def test_the_topic_is_built(file: str) -> None:
    pytest.fail(f"{file} is neither covered nor skipped")
