"""Tests of agentfootprint.recording.questions.uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentfootprint import (
    Act,
    Agent,
    Decision,
    Fact,
    Gates,
    Instruction,
    Mock,
    ToolCall,
    after_tool,
    allow,
    approve,
    ask_human,
    decline,
    tool,
)
from agentfootprint.agent import RuleOutcome, ToolResultView
from agentfootprint.llm import LLMRequest, LLMResponse
from agentfootprint.recording import Recording
from agentfootprint.security import PermissionPolicy
from agentfootprint.trace import ABSENT
from tests.recording.runs import planted


@tool
def double(n: int) -> dict[str, int]:
    """Double a number. Use it when the user wants a number doubled."""
    return {"twice": 2 * n}


@tool
def fail(n: int) -> str:
    """Fail. Use it when something is to fail."""
    raise RuntimeError(f"no {n}")


def model(request: LLMRequest) -> str | LLMResponse:
    if request.messages[-1].role == "tool":
        return "Done."
    calls = [Mock.call(name, n=n).tool_calls[0] for n, name in enumerate(("double", "fail", "nobody", "double"))]
    return LLMResponse(content="", tool_calls=tuple(calls))


@after_tool(name="loud")
def loud(_: ToolResultView) -> RuleOutcome:
    return allow()


@pytest.fixture(scope="module")
def recording() -> Recording:
    return Agent(Mock(model), tools=[double, fail]).run_sync("Double them.").recording


@pytest.mark.parametrize("form", ["live", "native", "wire"])
def test_the_calls_of_a_batch_are_told_apart(recording: Recording, form: Any, tmp_path: Path) -> None:
    read = recording if form == "live" else Recording.load(recording.save(tmp_path / "run.json", form=form))

    uses = read.tool_uses

    assert [(use.ordinal, use.tool_name, use.ok, use.error, use.message_index) for use in uses] == [
        (0, "double", True, False, 2),
        (1, "fail", False, True, 3),
        (2, "nobody", False, True, 4),
        (3, "double", True, False, 5),
    ]
    assert uses[0].result == '{"twice":0}'
    assert uses[3].value == {"twice": 6}
    assert uses[0].args == {"n": 0}
    assert {use.step for use in uses} == {"tool-calls#22"}
    assert {use.iteration for use in uses} == {1}
    assert all(use.finished and use.duration_ms is not None for use in uses)
    assert [message.content for message in read.calls[-1].messages[2:]] == [use.result for use in uses]


def test_a_tool_call_of_the_reference_is_read_whole() -> None:
    (use,) = Recording.from_wire(planted()).tool_uses

    assert (use.step, use.iteration, use.ordinal, use.message_index) == ("tool-calls#22", 1, 0, 2)
    assert (use.tool_name, use.tool_call_id, dict(use.args)) == ("lookup_order", "t1", {"orderId": "A-1001"})
    assert use.result == "Order A-1001: purchased 47 days ago, price $480, category electronics."
    assert (use.ok, use.error, use.finished) == (True, False, True)


def test_a_tool_call_that_never_settled_is_open() -> None:
    wire = planted()
    wire["events"] = [event for event in wire["events"] if not event["type"].endswith("tool_end")]
    wire["snapshot"]["commitLog"] = [
        bundle for bundle in wire["snapshot"]["commitLog"] if bundle["stageId"] != "tool-calls"
    ]

    (use,) = Recording.from_wire(wire).tool_uses

    assert (use.finished, use.ok, use.error, use.result, use.message_index) == (False, False, False, None, None)
    assert use.value is ABSENT


def test_an_evaluation_says_what_was_let_in_and_what_could_not_be_judged() -> None:
    def broken(turn: Any) -> bool:
        raise ValueError("no such fact")

    agent = Agent(
        Mock("Hi."),
        context=[
            Fact("fact", "A fact."),
            Instruction("rule", "A rule.", when=lambda turn: True),
            Instruction("broken", "Never.", when=broken),
            Instruction("off", "Never.", when=lambda turn: False),
        ],
    )

    (found,) = agent.run_sync("hello").recording.evaluations

    assert [(piece.id, piece.flavor, piece.trigger) for piece in found.active] == [
        ("fact", "fact", None),
        ("rule", "instructions", None),
    ]
    assert [(piece.id, piece.reason, piece.error) for piece in found.skipped] == [
        ("broken", "predicate-threw", "no such fact")
    ]
    assert (found.iteration, found.evaluated_total, found.step) == (1, 4, "sf-injection-engine/evaluate#3")
    assert dict(found.trigger_counts) == {"always": 1, "rule": 1}


def test_where_all_triggers_are_of_one_kind_each_piece_has_it() -> None:
    first, second = Recording.from_wire(planted()).evaluations

    assert [(piece.id, piece.flavor, piece.trigger) for piece in second.active] == [
        ("vip-override-fact", "fact", "always"),
        ("style-fact", "fact", "always"),
    ]
    assert (first.iteration, second.iteration) == (1, 2)


def forms_of(recording: Recording, tmp_path: Path) -> dict[str, Recording]:
    return {
        "run": recording,
        "native": Recording.load(recording.save(tmp_path / "native.json")),
        "wire": Recording.load(recording.save(tmp_path / "wire.json", form="wire")),
    }


def test_a_call_that_waited_for_a_person_is_a_use_of_the_run_that_answered_it(tmp_path: Path) -> None:
    @tool(check_in="always")
    def close(user: str) -> str:
        """Close an account. Use it when its owner asks."""
        return f"{user} closed"

    agent = Agent(Mock([Mock.call("close", user="u7"), "Closed."], cursor="history"), tools=[close])
    paused = agent.run_sync("Close u7.").paused
    assert paused is not None

    recording = agent.resume_sync(paused, approve(by="dana")).recording

    for form, each in forms_of(recording, tmp_path).items():
        (use,) = each.tool_uses
        assert (use.tool_name, use.result, use.ok) == ("close", "u7 closed", True), form
        assert use.tool_call_id == "mock-call-1"
        assert use.args == ({} if form == "wire" else {"user": "u7"}), (
            "the wire form does not say what a run began with"
        )


@pytest.mark.parametrize("decision", [approve(by="dana"), decline(by="dana")], ids=["approved", "declined"])
def test_what_a_person_decided_about_a_call_is_read_from_every_form(decision: Decision, tmp_path: Path) -> None:
    @tool(check_in="always")
    def close(user: str) -> str:
        """Close an account. Use it when its owner asks."""
        return f"{user} closed"

    agent = Agent(Mock([Mock.call("close", user="u7"), "Done."]), tools=[close])
    paused = agent.run_sync("Close u7.").paused
    assert paused is not None
    recording = agent.resume_sync(paused, decision).recording

    for form, each in forms_of(recording, tmp_path).items():
        (use,) = each.tool_uses
        assert (use.denied, len(use.gates)) == (not decision.approved, 1), form


def test_a_call_that_waits_for_a_person_has_not_finished() -> None:
    @tool(check_in="always")
    def close(user: str) -> str:
        """Close an account. Use it when its owner asks."""
        return f"{user} closed"

    result = Agent(Mock([Mock.call("close", user="u7")]), tools=[close]).run_sync("Close u7.")

    (use,) = result.recording.tool_uses
    assert (use.finished, use.ok, use.result) == (False, False, None)


def test_a_call_that_was_settled_without_being_run_says_so_and_is_no_source_of_an_answer() -> None:
    @tool
    def asks() -> str:
        """Ask. Use it always."""
        ask_human("Really?")

    calls = (ToolCall("c1", "asks", {}), ToolCall("c2", "double", {"n": 2}))
    script = [LLMResponse(tool_calls=calls, stop_reason="tool_use"), "Done."]
    agent = Agent(Mock(script, cursor="history"), tools=[asks, double])
    paused = agent.run_sync("Go.").paused
    assert paused is not None

    result = agent.resume_sync(paused, "yes")

    assert [(use.tool_name, use.dispatched, use.ok) for use in result.recording.tool_uses] == [
        ("asks", True, True),
        ("double", False, False),
    ]
    assert [source.id for source in result.why().suspects if source.kind == "tool"] == ["asks"]


def test_a_call_says_what_the_gates_did_with_it() -> None:
    policy = PermissionPolicy.from_roles({"clerk": ["double"]}, "clerk")
    agent = Agent(Mock(model), tools=[double, fail], gates=Gates(permission=policy, act=Act(after_tool=[loud])))

    uses = agent.run_sync("Double them.").recording.tool_uses

    assert [use.denied for use in uses] == [False, True, True, False]
    assert [[gate.type.rpartition(".")[2] for gate in use.gates] for use in uses] == [
        ["check", "decision"], ["check"], ["check"], ["check", "decision"],
    ]  # fmt: skip


def test_what_the_gates_did_is_read_from_every_form(tmp_path: Path) -> None:
    agent = Agent(Mock(model), tools=[double], gates=Gates(permission=PermissionPolicy.from_roles({"x": []}, "x")))
    recording = agent.run_sync("Double them.").recording

    for form in ("native", "wire"):
        again = Recording.load(recording.save(tmp_path / f"{form}.json", form=form))

        assert [use.denied for use in again.tool_uses] == [True] * 4
