"""Tests of agentfootprint.explain.rerunning.agreement."""

from __future__ import annotations

import pytest

from agentfootprint import Agent, Fact, Mock, Recording, tool
from agentfootprint.explain import Ablation, AgentChangedError
from agentfootprint.explain.rerunning.agreement import check_agent, not_there

VIP = Fact("vip", "Dana is VIP.")
STYLE = Fact("style", "Be short.")


@tool
def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it first."""
    return order_id


def desk(system: str = "You decide.", *, tools: bool = True, context: tuple[Fact, ...] = (VIP, STYLE)) -> Agent:
    return Agent(Mock("Yes."), system=system, tools=[lookup] if tools else [], context=context)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return desk().run_sync("Refund?").recording


def test_the_same_agent_made_anew_is_the_same(recording: Recording) -> None:
    assert check_agent(recording, desk(), allow_changed=False) == ()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (desk(tools=False), "its tool lookup is gone"),
        (desk(context=(VIP,)), "its piece of context style is gone"),
        (desk(context=(VIP, STYLE, Fact("new", "More."))), "its piece of context new is new"),
        (desk("You approve."), "a text of its context, its system prompt or a tool's schema differs"),
        (desk(context=(Fact("vip", "Dana isn't VIP."), STYLE)), "a text of its context"),
    ],
)
def test_a_changed_agent_is_refused_or_flagged(changed: Agent, said: str, recording: Recording) -> None:
    with pytest.raises(AgentChangedError, match=said) as caught:
        check_agent(recording, changed, allow_changed=False)

    (flag,) = check_agent(recording, changed, allow_changed=True)
    assert caught.value.difference in flag.note
    assert flag.flag == "agent-changed"
    assert "isn't VIP" not in str(caught.value)


def test_what_does_not_say_what_it_is_made_of_can_not_be_compared(recording: Recording) -> None:
    assert check_agent(recording, object(), allow_changed=False) == ()


@pytest.mark.parametrize(
    "kept", [{}, {"tools": []}, {"tools": ["lookup"], "context": [{"id": "vip"}, {"id": "style"}]}]
)
def test_only_what_the_recording_says_is_compared_and_the_rest_is_flagged(
    kept: dict[str, object], recording: Recording
) -> None:
    wire = recording.to_wire()
    agent = {key: value for key, value in wire["header"]["agent"].items() if key in ("id", "provider", "model")}
    partly = Recording.from_wire({**wire, "header": {"agent": {**agent, **kept}}})
    other = desk("Another text.", tools="tools" not in kept or bool(kept["tools"]))

    (flag,) = check_agent(partly, other, allow_changed=False)

    assert flag.flag == "agent-not-compared"


def test_another_model_is_another_agent(recording: Recording) -> None:
    other = Agent("big", provider=Mock("Yes."), system="You decide.", tools=[lookup], context=[VIP, STYLE])

    with pytest.raises(AgentChangedError, match="its model was mock-model"):
        check_agent(recording, other, allow_changed=False)


def test_what_an_agent_does_not_have_can_not_be_left_out_of_it() -> None:
    tool, vip, other = Ablation.tool("lookup"), Ablation.injection("vip"), Ablation.injection("other")
    memory = Ablation.memory("m-1")

    assert not_there(desk(), [tool, vip, other, memory]) == (other,)
    assert not_there(desk(tools=False, context=()), [tool, vip, memory]) == (tool, vip)
    assert not_there(object(), [tool, vip, other]) == ()
