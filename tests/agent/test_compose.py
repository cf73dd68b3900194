"""Tests of agentfootprint.agent.compose."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Fact, Instruction, Mock, Steering, ToolCall, tool
from agentfootprint.context import TurnContext
from agentfootprint.llm import LLMResponse
from agentfootprint.trace import thaw


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


@tool
async def policy(topic: str) -> str:
    """Read a policy. Use it before a decision."""
    return f"Policy on {topic}: 30 days."


CALL = Mock.call("lookup", order_id="A-1")


def prompts(agent: Agent[Any, Any], **options: Any) -> list[str]:
    return [call.system_text or "" for call in agent.run_sync("Where is A-1?", **options).recording.calls]


def test_each_call_is_given_the_pieces_that_are_in_then_in_declaration_order() -> None:
    agent = Agent(
        Mock([CALL, Mock.call("policy", topic="refunds"), "Done."]),
        system="You decide.",
        tools=[lookup, policy],
        context=[
            Instruction("late", "From the second call on.", when=lambda turn: turn.iteration > 1),
            Steering("tone", "Be kind."),
            [Instruction("after", "You saw an order.", on_tool_return=re.compile("^look")), Fact("who", "Ann 😀")],
            Fact("vip", "A VIP.", when=lambda turn: turn.deps["vip"]),
            Instruction("left", template="{{actionsRemaining}} left."),
        ],
    )

    assert prompts(agent, deps={"vip": True}) == [
        "You decide.\n\nBe kind.\n\nAnn 😀\n\nA VIP.\n\n9 left.",
        "You decide.\n\nFrom the second call on.\n\nBe kind.\n\nYou saw an order.\n\nAnn 😀\n\nA VIP.\n\n8 left.",
        "You decide.\n\nFrom the second call on.\n\nBe kind.\n\nAnn 😀\n\nA VIP.\n\n7 left.",
    ]


def test_a_rule_sees_where_the_turn_stands() -> None:
    seen: list[Any] = []

    def rule(turn: TurnContext) -> bool:
        last = turn.last_tool_result
        seen.append((turn.iteration, turn.iterations_remaining, turn.user_message, len(turn.history), turn.deps))
        seen.append([(r.tool_name, r.result) for r in turn.tool_results])
        seen.append(None if last is None else last.tool_name)
        return True

    both = LLMResponse(tool_calls=(*CALL.tool_calls, *Mock.call("policy", topic="x").tool_calls))
    agent = Agent(Mock([both, "Done."]), tools=[lookup, policy], context=[Fact("a", "A.", when=rule)])

    agent.run_sync("Go.", deps="mine")

    assert seen[:3] == [(1, 9, "Go.", 1, "mine"), [], None]
    assert seen[3] == (2, 8, "Go.", 4, "mine")
    assert seen[4:] == [[("lookup", "Order A-1: shipped."), ("policy", "Policy on x: 30 days.")], "policy"]


def test_what_a_rule_looks_at_is_marked_on_its_step() -> None:
    result = Agent(Mock("x"), context=[Fact("a", "A.", when=lambda turn: len(turn.history) > 0)]).run_sync("Go.")

    steps = thaw(result.recording.snapshot["subflowResults"])["sf-injection-engine"]["treeContext"]["history"]
    by_step = {step["runtimeStageId"]: step.get("untrackedSources") for step in steps}
    assert by_step["sf-injection-engine/evaluate#3"] == ["args"]


def _raise(turn: TurnContext) -> bool:
    raise LookupError("no such customer")


def _set(turn: Any) -> bool:
    turn.iteration = 99
    return True


def _append(turn: Any) -> bool:
    turn.history.append("mine")
    turn.history[0] = "mine"
    return True


def _edit(turn: Any) -> bool:
    turn.history[0].content = "mine"
    return True


def _result(turn: Any) -> bool:
    if turn.tool_results:
        turn.tool_results[0].result = "mine"
    return True


@pytest.mark.parametrize("rule", [_raise, _set, _append, _edit, _result], ids=lambda rule: rule.__name__)
def test_a_rule_that_raises_or_tries_to_change_the_turn_only_leaves_its_own_piece_out(rule: Any) -> None:
    heard: list[Any] = []
    agent = Agent(
        Mock([CALL, "Done."]),
        system="Base.",
        tools=[lookup],
        context=[Fact("bad", "Never.", when=rule), Fact("good", "Good.")],
    )
    agent.on("agentfootprint.context.evaluated", lambda event: heard.append(event.payload))

    result = agent.run_sync("Where is A-1?")

    last = heard[-1]
    assert [(each.id, each.reason) for each in last.skipped_details] == [("bad", "predicate-threw")]
    assert last.skipped_details[0].error
    assert (list(last.active_ids), last.skipped_count, last.evaluated_total) == (["good"], 1, 2)
    assert result.recording.calls[-1].system_text == "Base.\n\nGood."
    assert [m.content for m in result.messages] == ["Where is A-1?", "", "Order A-1: shipped.", "Done."]


@pytest.mark.parametrize(
    ("verdict", "is_in"),
    [(True, True), (1, True), ("yes", True), ([0], True), (False, False), (0, False), (None, False), ("", False)],
    ids=repr,
)
def test_a_verdict_counts_as_its_truth(verdict: object, is_in: bool) -> None:
    agent = Agent(Mock("x"), system="Base.", context=[Fact("a", "A.", when=lambda turn: verdict)])

    assert prompts(agent) == ["Base.\n\nA." if is_in else "Base."]


def test_an_awaitable_verdict_is_no_verdict() -> None:
    async def later() -> bool:
        return True

    heard: list[Any] = []
    agent = Agent(Mock("x"), system="Base.", context=[Fact("a", "A.", when=lambda turn: later())])
    agent.on("agentfootprint.context.evaluated", lambda event: heard.append(event.payload.skipped_details[0]))

    assert prompts(agent) == ["Base."]
    assert (heard[0].reason, heard[0].error) == ("predicate-threw", "the rule returned an awaitable")


def test_calls_that_were_never_run_wake_no_piece() -> None:
    cut = LLMResponse("I will l", tool_calls=(ToolCall("c", "lookup", {"order_id": "1"}),), stop_reason="max_tokens")
    agent = Agent(
        Mock([CALL, cut, "Done."]),
        tools=[lookup],
        context=[Instruction("after", "You saw an order.", on_tool_return="lookup")],
    )

    assert prompts(agent) == ["", "You saw an order.", ""]


def test_three_slots_are_composed_before_every_call_with_their_sums() -> None:
    heard: list[Any] = []
    agent = Agent(
        Mock([CALL, "Done."]), system="Base 😀", tools=[lookup], context=[Fact("a", "Four"), Steering("b", "B")]
    )
    agent.on("agentfootprint.context.slot_composed", lambda event: heard.append(event.payload))

    agent.run_sync("Where?")

    assert [(each.slot, each.iteration) for each in heard] == [
        (slot, iteration) for iteration in (1, 2) for slot in ("system-prompt", "messages", "tools")
    ]
    system, messages, _, _, later, tools = heard
    assert (system.budget.cap, system.budget.used, system.budget.headroom_chars) == (4000, 12, 3988)
    assert {name: (share.chars, share.count) for name, share in system.source_breakdown.items()} == {
        "base": (7, 1),
        "fact": (4, 1),
        "steering": (1, 1),
    }
    assert (messages.budget.used, messages.ordering_strategy) == (6, "history-order")
    assert [*later.source_breakdown] == ["user", "assistant", "tool-result"]
    assert ([*tools.source_breakdown], tools.ordering_strategy) == (["registry"], "registry+injections")


def test_tools_are_offered_in_the_order_they_were_given() -> None:
    call = Agent(Mock("x"), tools=[policy, lookup]).run_sync("Go.").recording.calls[0]

    assert [each.name for each in call.tools] == ["policy", "lookup"]


def test_a_pass_that_changes_nothing_writes_nothing() -> None:
    agent = Agent(Mock([CALL, CALL, "Done."]), system="Base.", tools=[lookup], context=[Fact("a", "A.")])

    recording = agent.run_sync("Go.").recording

    writers = {recording.writer_of(key) for key in ("systemPromptInjections", "toolsInjections", "activeInjections")}
    assert all(writer is not None and int(writer.partition("#")[2]) < 18 for writer in writers)


@pytest.mark.parametrize(("caching", "branch", "markers"), [(True, "apply-markers", 1), (False, "no-markers", 0)])
def test_markers_are_applied_unless_caching_is_off(caching: bool, branch: str, markers: int) -> None:
    result = Agent(Mock("x"), system="Base.", context=[Fact("a", "A.")], caching=caching).run_sync("Go.")

    snapshot = result.recording.snapshot
    history = thaw(snapshot["subflowResults"])["sf-cache"]["treeContext"]["history"]
    assert any(step["runtimeStageId"].startswith(f"sf-cache/{branch}#") for step in history)
    assert len(snapshot["sharedState"]["cacheMarkers"]) == markers
    assert snapshot["sharedState"]["cachingDisabled"] is not caching


def test_a_classic_run_composes_its_prompt_and_tools_once() -> None:
    composed: list[tuple[str, int]] = []
    offers: list[list[str]] = []

    def model(request: Any) -> Any:
        offers.append([each.name for each in request.tools or ()])
        return CALL if len(offers) < 3 else "Done."

    agent = Agent(
        Mock(model),
        system="S",
        tools=[lookup],
        context=[Fact("second", "The second.", when=lambda turn: turn.iteration == 2)],
        mode="classic",
    )
    agent.on(
        "agentfootprint.context.slot_composed",
        lambda event: composed.append((event.payload.slot, event.payload.iteration)),
        form="wire",
    )
    result = agent.run_sync("Go.")

    assert [place for place in composed if place[0] != "messages"] == [("system-prompt", 1), ("tools", 1)]
    assert [iteration for slot, iteration in composed if slot == "messages"] == [1, 2, 3]
    assert offers == [["lookup"]] * 3
    assert [call.system_text for call in result.recording.calls] == ["S"] * 3
    assert len(result.recording.snapshot["sharedState"]["cacheMarkers"]) == 1


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"mode is 'fast'"):
        Agent("mock", mode="fast")  # type: ignore[arg-type]
