"""The vectors of the area `tools` about permissions and rules: what one checker or chain of rules answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from msgspec import UNSET

from agentfootprint.agent import (
    Act,
    MessageRule,
    MessageView,
    RuleOutcome,
    ToolCallView,
    ToolResultView,
    ToolRule,
    allow,
    ask,
    deny,
)
from agentfootprint.agent.gating.chains import (
    judge_call,
    judge_message,
    judge_result,
    message_links,
    tool_links,
)
from agentfootprint.errors import ConfigError
from agentfootprint.security import (
    PermissionPolicy,
    PermissionRequest,
    PermissionRules,
    skill_id_of,
    skill_target,
)
from agentfootprint.trace import FrozenDict, freeze, thaw
from tests.vectors.harness import Case, assert_same, load

TOOLS = load("tools")


def matched(actual: Any, expected: Any) -> Any:
    """The expected value, with every matcher that the actual one passes replaced by it."""
    if isinstance(expected, dict):
        wanted = cast("dict[str, Any]", expected)
        if "$contains" in wanted or "$excludes" in wanted:
            holds = all(part in actual for part in wanted.get("$contains", ()))
            return actual if holds and not any(part in actual for part in wanted.get("$excludes", ())) else wanted
        given = cast("dict[str, Any]", actual) if isinstance(actual, dict) else {}
        return {key: matched(given.get(key), value) for key, value in wanted.items()}
    if isinstance(expected, list) and isinstance(actual, list):
        rows, found = cast("list[Any]", expected), cast("list[Any]", actual)
        return [matched(*pair) for pair in zip(found, rows, strict=True)] if len(found) == len(rows) else rows
    return cast("Any", expected)


@pytest.mark.parametrize("case", TOOLS.cases("permission_policy"))
def test_permission_policy(case: Case) -> None:
    given, rules = case.input, case.input["rules"]
    told = None if rules is None else PermissionRules(capabilities=rules["capabilities"], skills=rules["skills"])

    if case.expected.get("error"):
        with pytest.raises(ConfigError) as caught:
            PermissionPolicy.from_roles(given["roles"], given["activeRole"], rules=told)
        assert all(name in str(caught.value) for name in case.expected["names"])
        return
    policy = PermissionPolicy.from_roles(given["roles"], given["activeRole"], rules=told)
    asked = given["request"]
    request = PermissionRequest(
        capability=asked["capability"], target=asked["target"], context={}, history=(), iteration=1
    )
    decision = policy.check(request)

    wire = {"result": decision.result, "policyRuleId": decision.policy_rule_id, "rationale": decision.rationale}
    actual = {
        "governs": sorted(policy.governs) or None,
        "decision": {key: value for key, value in wire.items() if value is not None},
        "allowedToolIds": list(policy.allowed_tool_ids()),
        "roles": list(policy.roles),
    }
    governs = case.expected["governs"]
    expected = {**case.expected, "governs": governs and sorted(governs)}
    assert request.actor == asked["actor"]
    assert_same(actual, matched(actual, expected))


@pytest.mark.parametrize("case", TOOLS.cases("skill_target"))
def test_skill_target(case: Case) -> None:
    given = case.input["id"]

    assert_same({"target": skill_target(given), "idOf": skill_id_of(given)}, case.expected)


def outcome_of(behaviour: Mapping[str, Any], seen: Any) -> RuleOutcome:
    """What a link of a case answers to what it is shown."""
    if "throws" in behaviour:
        raise RuntimeError(behaviour["throws"])
    if "setArg" in behaviour:
        return allow({**seen, **behaviour["setArg"]}, behaviour["why"])
    if "append" in behaviour:
        return allow(seen + behaviour["append"], behaviour["why"])
    if "value" in behaviour:
        return allow(behaviour["value"], behaviour["why"])
    outcome = behaviour["outcome"]
    if outcome["kind"] == "ask":
        return ask(outcome["payload"]["question"])
    return allow() if outcome["kind"] == "allow" else deny(outcome["reason"])


class OnCall(ToolRule):
    def __init__(self, link: Mapping[str, Any]) -> None:
        self.name, self._link = link["name"], link

    def on_tool_call(self, call: ToolCallView) -> RuleOutcome:
        return outcome_of(self._link["onToolCall"], call.args)


class OnResult(ToolRule):
    def __init__(self, link: Mapping[str, Any]) -> None:
        self.name, self._link = link["name"], link

    def on_tool_result(self, call: ToolResultView) -> RuleOutcome:
        return outcome_of(self._link["onToolResult"], call.result)


class OnMessage(MessageRule):
    def __init__(self, link: Mapping[str, Any]) -> None:
        self.name, self._link = link["name"], link

    def on_message(self, message: MessageView) -> RuleOutcome:
        return outcome_of(self._link["onMessage"], message.content)


def chain(links: Sequence[Mapping[str, Any]]) -> Any:
    """The links of a case in their order, whatever they judge."""
    found = [
        tool_links(Act(before_tool=[OnCall(link)]) if "onToolCall" in link else Act(after_tool=[OnResult(link)]))
        for link in links
    ]
    return tuple(each for links in found for each in links)


@pytest.mark.parametrize("case", TOOLS.cases("middleware_before_tool"))
async def test_middleware_before_tool(case: Case) -> None:
    given, rows = case.input, list[FrozenDict]()
    view = ToolCallView(
        tool_name=given["toolName"],
        tool_call_id=given["toolCallId"],
        iteration=given["iteration"],
        args=freeze(given["args"]),
        history=(),
    )
    options = {"start": given.get("startIndex", 0), "may_ask": given.get("askPolicy") != "refuse"}

    verdict = await judge_call(chain(given["links"]), view, rows.append, **options)

    actual: dict[str, Any] = {"kind": verdict.kind, "args": thaw(verdict.args), "decisions": thaw(freeze(rows))}
    if verdict.kind != "allow":
        actual["middleware"] = verdict.middleware
    if verdict.kind == "deny":
        actual["reason"] = verdict.reason
    if verdict.asked is not None:
        actual |= {"payload": {"question": verdict.reason}, "index": verdict.place}
    assert_same(actual, matched(actual, case.expected))


@pytest.mark.parametrize("case", TOOLS.cases("middleware_after_tool"))
async def test_middleware_after_tool(case: Case) -> None:
    given, rows = case.input, list[FrozenDict]()
    view = ToolResultView(
        tool_name="t", tool_call_id="c1", iteration=1, args=freeze({}), history=(), result=freeze(given["result"])
    )

    verdict = await judge_result(chain(given["links"]), view, rows.append)

    actual: dict[str, Any] = {"kind": verdict.kind, "result": verdict.result, "decisions": thaw(freeze(rows))}
    if verdict.kind == "deny":
        actual |= {"reason": verdict.reason, "middleware": verdict.middleware}
    assert_same(actual, matched(actual, case.expected))


@pytest.mark.parametrize("case", TOOLS.cases("middleware_message"))
async def test_middleware_message(case: Case) -> None:
    given, rows = case.input, list[FrozenDict]()
    rules = [OnMessage(link) for link in given["links"]]
    links = message_links(Act(input=rules, output=rules))
    view = MessageView(phase=given["phase"], content=given["content"])

    verdict = await judge_message(links, view, rows.append, iteration=given["iteration"])

    actual: dict[str, Any] = {"kind": verdict.kind, "content": verdict.content, "decisions": thaw(freeze(rows))}
    if verdict.kind == "deny":
        actual |= {"reason": verdict.reason, "middleware": verdict.middleware}
    assert_same(actual, matched(actual, case.expected))
    assert all(row.get("after", UNSET) is not None for row in rows)
