"""How the checker and the rules that a case of `vectors/agent-loop` describes become ones of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentfootprint import Act, allow, ask, before_tool, deny, on_message
from agentfootprint.agent import MessageRule, MessageView, RuleOutcome, ToolCallView, ToolRule
from agentfootprint.security import PermissionDecision, PermissionRequest

__all__ = ["act_of", "checker_of"]


class Checker:
    """Answers by tool, as the case lists it; allows the rest."""

    def __init__(self, declared: Mapping[str, Any]) -> None:
        self.name = declared.get("name", "checker")
        self._rules: Mapping[str, Any] = declared.get("rules", {})
        self._throws: Sequence[str] = declared.get("throws", ())

    async def check(self, request: PermissionRequest) -> PermissionDecision:
        if request.target in self._throws:
            raise RuntimeError("checker down")
        rule = self._rules.get(request.target, {"result": "allow"})
        return PermissionDecision(
            rule["result"],
            policy_rule_id=rule.get("policyRuleId"),
            rationale=rule.get("rationale"),
            reason=rule.get("reason"),
            tell_llm=rule.get("tellLLM"),
        )


def checker_of(options: Mapping[str, Any]) -> Checker | None:
    """The permission checker of a case."""
    declared = options.get("permission")
    return None if declared is None else Checker(declared)


def act_of(options: Mapping[str, Any]) -> Act | None:
    """The rules of a case; none when it describes none."""
    asking = options.get("askMiddleware")
    rules: list[Mapping[str, Any]] = options.get("messageRules", [])
    if asking is None and not rules:
        return None
    return Act(
        before_tool=[] if asking is None else [_guard(asking)],
        input=[_rule(rule) for rule in rules if rule["phase"] == "input"],
        output=[_rule(rule) for rule in rules if rule["phase"] == "output"],
    )


def _guard(declared: Mapping[str, Any]) -> ToolRule:
    @before_tool(name=declared["name"])
    def guard(call: ToolCallView) -> RuleOutcome:
        return ask(declared["question"]) if call.tool_name == declared["tool"] else allow()

    return guard


def _rule(declared: Mapping[str, Any]) -> MessageRule:
    @on_message(name=declared["name"])
    def rule(message: MessageView) -> RuleOutcome:
        if "replaceWith" in declared:
            return allow(declared["replaceWith"], declared["why"])
        return deny(declared["deny"]) if declared["whenContains"] in message.content else allow()

    return rule
