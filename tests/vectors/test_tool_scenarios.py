"""Tests of `vectors/tools/scenarios.json`: whole runs between tools and gates, as both implementations give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from agentfootprint import Act, Agent, Gates, Mock, Tool, ToolContext, allow, ask, deny
from agentfootprint.agent import MessageRule, MessageView, RuleOutcome, ToolCallView, ToolResultView, ToolRule
from agentfootprint.errors import AgentFootprintError
from agentfootprint.events import Event, event_to_wire
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.security import PermissionDecision, PermissionPolicy, PermissionRequest
from agentfootprint.trace import thaw
from tests.vectors.harness import Case, assert_same, load

TOOLS = load("tools")
BUILT = {"message", "replies", "tools", "policy", "checker", "beforeTool", "afterTool", "input", "output", "resume"}
BUILT_TOOL = {"name", "returns", "returnsNothing", "raises", "progress", "capabilities"}
BUILT_OUTCOMES = {"output", "error", "events", "toolMessages", "ledger"}
NOT_YET = {
    "effects refused: no graph, unknown instruction",
    "semantic result: event carries the whole envelope, the model the projection",
}
KINDS: Mapping[str, type | tuple[type, ...]] = {"string": str, "number": (int, float), "array": list}


def unbuilt(case: Case) -> str | None:
    """What a case needs that is not built yet, or `None`."""
    needs = {*case.input} - BUILT
    needs |= {key for tool in case.input.get("tools", ()) for key in tool} - BUILT_TOOL
    needs |= {*case.expected} - BUILT_OUTCOMES
    needs |= {case.name} & NOT_YET
    return ", ".join(sorted(needs)) or None


class Checker:
    """Halts, denies or raises as the case says; allows the rest."""

    def __init__(self, declared: Mapping[str, Any]) -> None:
        self.name: str = declared["name"]
        self.governs = frozenset(declared.get("governs", ()))
        self._declared = declared

    async def check(self, request: PermissionRequest) -> PermissionDecision:
        said = self._declared
        if "raises" in said:
            raise RuntimeError(said["raises"])
        facts = {"policy_rule_id": said.get("policyRuleId"), "rationale": said.get("rationale")}
        if request.target == said.get("haltOn"):
            return PermissionDecision("halt", reason=said.get("reason"), **facts)
        if request.capability == said.get("denyCapability"):
            return PermissionDecision("deny", **facts)
        return PermissionDecision("allow")


def answer(said: Mapping[str, Any], seen: Any, phase: str = "") -> RuleOutcome:
    if "deny" in said:
        return deny(said["deny"])
    if "ask" in said:
        return ask(said["ask"])
    if "set" in said:
        return allow({**seen, **said["set"]}, said["why"])
    return allow(f"[{phase}] {seen}", said["why"]) if "transform" in said else allow()


class OnCall(ToolRule):
    def __init__(self, said: Mapping[str, Any]) -> None:
        self.name, self._said = said["name"], said

    def on_tool_call(self, call: ToolCallView) -> RuleOutcome:
        return answer(self._said, call.args)


class OnResult(ToolRule):
    def __init__(self, said: Mapping[str, Any]) -> None:
        self.name, self._said = said["name"], said

    def on_tool_result(self, call: ToolResultView) -> RuleOutcome:
        return answer(self._said, call.result)


class OnMessage(MessageRule):
    """A rule that a case lists at one end or at both under one name."""

    def __init__(self, name: str, ends: Sequence[Mapping[str, Any]]) -> None:
        self.name = name
        self._said = max(ends, key=len)

    def on_message(self, message: MessageView) -> RuleOutcome:
        return answer(self._said, message.content, message.phase)


def act_of(given: Mapping[str, Any]) -> Act | None:
    ends = {end: given.get(end, []) for end in ("input", "output")}
    names = {said["name"] for each in ends.values() for said in each}
    rules = {
        name: OnMessage(name, [said for each in ends.values() for said in each if said["name"] == name])
        for name in names
    }
    act = Act(
        before_tool=[OnCall(said) for said in given.get("beforeTool", ())],
        after_tool=[OnResult(said) for said in given.get("afterTool", ())],
        **{end: [rules[said["name"]] for said in each] for end, each in ends.items()},
    )
    return act if act.tool_rules or act.message_rules else None


def tool_of(declared: Mapping[str, Any]) -> Tool[..., Any]:
    async def act(ctx: ToolContext, q: str = "") -> object:
        for payload in declared.get("progress", ()):
            ctx.progress(payload)
        if "raises" in declared:
            raise RuntimeError(declared["raises"])
        value = None if declared.get("returnsNothing") else declared.get("returns")
        return value.replace("<q>", q) if isinstance(value, str) else value

    schema: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}}
    name = declared["name"]
    if "<q>" in str(declared.get("returns")):  # the others are called without arguments
        schema["required"] = ["q"]
    return Tool(act, name=name, description=name, input_schema=schema, capabilities=declared.get("capabilities"))


def reply_of(reply: Any) -> str | LLMResponse:
    if isinstance(reply, str):
        return reply
    calls = [ToolCall(call["id"], call["name"], call["args"]) for call in reply["toolCalls"]]
    return LLMResponse(reply["content"], tool_calls=calls)


def matched(actual: Any, expected: Any) -> Any:
    """The expected value, with every matcher that the actual one passes replaced by it."""
    if isinstance(expected, dict):
        wanted = cast("dict[str, Any]", expected)
        if "$any" in wanted:
            return actual if isinstance(actual, KINDS[wanted["$any"]]) else wanted
        if any(key.startswith("$") for key in wanted):
            text = str(actual)
            holds = text.startswith(wanted.get("$startswith", "")) and all(
                p in text for p in wanted.get("$contains", ())
            )
            return actual if holds and not any(p in text for p in wanted.get("$excludes", ())) else wanted
        given = cast("dict[str, Any]", actual) if isinstance(actual, dict) else {}
        return {key: matched(given.get(key), value) for key, value in wanted.items()}
    if isinstance(expected, list) and isinstance(actual, list):
        rows, found = cast("list[Any]", expected), cast("list[Any]", actual)
        return [matched(*pair) for pair in zip(found, rows, strict=True)] if len(found) == len(rows) else rows
    return cast("Any", expected)


@pytest.mark.parametrize("case", TOOLS.cases("scenarios"))
async def test_a_run_between_tools_and_gates(case: Case) -> None:
    needs = unbuilt(case)
    if needs is not None:
        pytest.skip(f"needs {needs}")
    given, expected = case.input, case.expected
    policy = given.get("policy")
    checker = Checker(given["checker"]) if "checker" in given else None
    agent = Agent(
        Mock([reply_of(reply) for reply in given["replies"]]),
        tools=[tool_of(declared) for declared in given.get("tools", ())],
        gates=Gates(
            permission=checker
            if policy is None
            else PermissionPolicy.from_roles(policy["roles"], policy["activeRole"]),
            act=act_of(given),
        ),
    )
    events: list[Event[Any]] = []
    agent.on("*", events.append, form="wire")
    handle = agent.start(given["message"])

    error: AgentFootprintError | None = None
    output = state = None
    try:
        result = await handle.result()
        state = handle.snapshot["sharedState"]
        if result.paused is not None:
            result = await agent.resume(result.paused, given["resume"])
            state = result.recording.snapshot["sharedState"]
        output = result.text
    except AgentFootprintError as raised:
        error, state = raised, handle.snapshot["sharedState"]

    assert output == expected["output"]
    assert (error is None) == (expected["error"] is None)
    if error is not None:
        facts = {
            **{key: thaw(value) for key, value in vars(error).items()},
            "name": type(error).__name__,
            "code": error.code,
        }
        told = {key: facts[key] for key in expected["error"]}
        if "proposed" in told:
            told["proposed"] = {key: told["proposed"][key] for key in expected["error"]["proposed"]}
        assert_same(told, matched(told, expected["error"]))
    assert_same(*_events(events, expected["events"]))
    messages = [
        {key: thaw(message)[key] for key in ("toolName", "toolCallId", "content")}
        for message in state["history"]
        if message.role == "tool" and message.not_dispatched is None
    ]
    assert_same(messages, matched(messages, expected["toolMessages"]))
    if "ledger" in expected:
        assert_same(thaw(state["middlewareDecisions"]), expected["ledger"])


FAMILIES = {
    event["type"]
    for case in TOOLS.document("scenarios")["cases"]
    for event in case["expected"]["events"]
    if "type" in event
}


def _events(heard: list[Event[Any]], wanted: list[dict[str, Any]]) -> tuple[Any, Any]:
    """The events of this chapter that were heard and are expected; what is settled stands in the newer chapter only."""
    told = [event_to_wire(event) for event in heard if event.type in FAMILIES and event.type != INTEGRITY]
    actual = [
        {"type": event["type"], "payload": event["payload"]}
        for event in told
        if "notDispatched" not in event["payload"]
    ]
    listed = [event for event in wanted if event.get("type", INTEGRITY) != INTEGRITY]
    return actual, matched(actual, listed)


INTEGRITY = "agentfootprint.integrity.disposition"
"""Counts the checks that are built (DEC-66), which the vectors of this chapter have more of."""
