"""Tests of agentfootprint.agent.gating.gates."""

from __future__ import annotations

from agentfootprint import Act, Gates, LLMMessage, Mock
from agentfootprint.agent.gating.gates import RunGates
from agentfootprint.security import PermissionDecision, PermissionRequest, extract_sequence
from agentfootprint.trace import FrozenList
from tests.agent.gating.office import Checker, denying, office


def window(*texts: str) -> FrozenList:
    messages = [LLMMessage("user", text) for text in texts]
    return FrozenList(messages, len(messages))


def test_the_conversation_grows_in_the_buffer_of_the_history() -> None:
    gates, history = RunGates(Gates(permission=denying())), window("a", "b")
    landed = [LLMMessage("assistant", "c")]

    first = gates.window(history, landed)
    landed.append(LLMMessage("tool", "d", tool_call_id="1"))
    second = gates.window(history, landed)

    assert [message.content for message in second] == ["a", "b", "c", "d"]
    assert second.buf is first.buf is history.buf
    assert len(first) == 3


def test_a_history_that_goes_elsewhere_is_taken_as_it_is() -> None:
    gates = RunGates(Gates(permission=denying()))
    gates.window(window("a"), [LLMMessage("assistant", "b")])

    assert [message.content for message in gates.window(window("x"), ())] == ["x"]


def test_who_is_asked_is_worked_out_once() -> None:
    gates = RunGates(Gates(act=Act()))

    assert (gates.checker, gates.links, gates.messages) == (None, (), ())
    assert not gates.judges_calls
    assert not gates.judges_results


async def test_the_sequence_is_that_of_the_history_at_every_check() -> None:
    seen: list[bool] = []

    def check(request: PermissionRequest) -> PermissionDecision:
        seen.append(list(request.sequence) == extract_sequence(request.history, request.iteration))
        return PermissionDecision("deny" if request.target == "send" else "allow")

    script = [Mock.call("look", order=f"{n}") if n % 3 else Mock.call("send", text=f"{n}") for n in range(9)]

    await office(*script, "Done.", permission=Checker(check)).run("Go.")

    assert seen == [True] * 9
