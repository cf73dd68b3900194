"""Tests of agentfootprint.agent.gating.permitting."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Gates, Identity, Mock, ask_human
from agentfootprint.security import PermissionDecision, PermissionPolicy, PermissionRequest
from tests.agent.gating.office import RAN, Checker, batch, denying, named, office, told


async def test_a_denied_call_does_not_run_and_the_model_reads_why() -> None:
    agent = office(
        batch(("c1", "send", {"text": "hi"}), ("c2", "look", {"order": "A"})),
        "Done.",
        permission=denying("send", rationale="no mail"),
    )

    result = await agent.run("Go.")

    assert RAN == ["look A"]
    assert told(result.messages) == [("c1", "[permission denied: no mail]"), ("c2", "A: shipped")]
    assert [(call.name, call.denied, call.dispatched) for call in result.tool_calls] == [
        ("send", True, False),
        ("look", False, True),
    ]
    ends = [event.payload for event in result.recording.events if event.type.endswith("tool_end")]
    assert [end.error for end in ends] == [None, None]


async def test_a_denial_without_words_says_policy() -> None:
    agent = office(batch(("c1", "send", {"text": "hi"})), "Done.", permission=denying("send"))

    assert told((await agent.run("Go.")).messages) == [("c1", "[permission denied: policy]")]


async def test_the_checker_sees_the_turn_the_results_before_and_what_was_dispatched() -> None:
    checker = denying("send")
    agent = office(
        batch(("c1", "look", {"order": "A"}), ("c2", "send", {"text": "hi"}), ("c3", "look", {"order": "B"})),
        "Done.",
        permission=checker,
    )

    await agent.run("Go.", identity=Identity(conversation_id="t", principal="dana"))

    last = [request for request in checker.asked if request.capability == "tool_call"][-1]
    assert [message.role for message in last.history] == ["user", "assistant", "tool", "tool"]
    assert [entry.name for entry in last.sequence] == ["look"]
    assert (last.target, dict(last.context), last.iteration) == ("look", {"order": "B"}, 1)
    assert last.identity is not None


async def test_nobodys_identity_is_none() -> None:
    checker = denying()

    await office(batch(("c1", "look", {"order": "A"})), "Done.", permission=checker).run("Go.")

    assert checker.asked[0].identity is None


async def test_a_declared_capability_is_asked_about_when_the_checker_governs_it() -> None:
    checker = Checker(
        lambda request: PermissionDecision("deny" if request.capability == "external_net" else "allow"),
        governs=frozenset({"user_data", "external_net"}),
    )
    agent = office(batch(("c1", "look", {"order": "A"})), "Done.", permission=checker)

    result = await agent.run("Go.")

    assert RAN == []
    assert [request.capability for request in checker.asked] == ["tool_call", "external_net"]
    assert [request.sequence for request in checker.asked][1] == ()
    assert told(result.messages) == [("c1", "[permission denied: policy]")]


async def test_a_capability_that_nobody_governs_is_never_asked_about() -> None:
    checker = denying()

    await office(batch(("c1", "look", {"order": "A"})), "Done.", permission=checker).run("Go.")

    assert [request.capability for request in checker.asked] == ["tool_call"]
    assert RAN == ["look A"]


async def test_an_unknown_tool_is_asked_about_too() -> None:
    checker = denying("hack")

    result = await office(batch(("c1", "hack", {})), "Done.", permission=checker).run("Go.")

    assert told(result.messages) == [("c1", "[permission denied: policy]")]


def throwing(request: PermissionRequest) -> Any:
    raise RuntimeError(f"no route to policy.internal for {request.target}")


def asking(request: PermissionRequest) -> Any:
    ask_human(f"May {request.target} run?")


@pytest.mark.parametrize("answer", [throwing, asking, True, None, "allow"])
async def test_a_checker_that_gives_no_decision_has_denied(answer: Any) -> None:
    checker = Checker(answer if callable(answer) else lambda _: answer)
    agent = office(batch(("c1", "send", {"text": "hi"})), "Done.", permission=checker)

    result = await agent.run("Go.")

    assert RAN == []
    assert told(result.messages)[0][1].startswith("[permission denied: ")
    (check,) = [event.payload for event in result.recording.events if event.type.endswith("permission.check")]
    assert check.result == "deny"
    assert check.rationale.startswith("permission-checker threw: ")


async def test_a_checker_may_be_async() -> None:
    class Async:
        name = "async"

        async def check(self, request: PermissionRequest) -> PermissionDecision:
            return PermissionDecision("deny", rationale=f"not {request.target}")

    result = await office(batch(("c1", "send", {"text": "hi"})), "Done.", permission=Async()).run("Go.")

    assert told(result.messages) == [("c1", "[permission denied: not send]")]


async def test_arguments_that_could_not_be_read_are_judged_by_the_checker_first() -> None:
    agent = office(Mock.call("send", nothing="fits"), "Done.", permission=denying("send", rationale="no mail"))

    result = await agent.run("Go.")

    assert told(result.messages)[0][1] == "[permission denied: no mail]"
    assert named(result.recording.events, "validation") == []


async def test_a_run_may_have_another_checker_than_its_agent() -> None:
    agent = office(batch(("c1", "look", {"order": "A"})), "Done.", permission=denying("look"))

    policy = PermissionPolicy.from_roles({"clerk": ["look"]}, "clerk")
    result = await agent.run("Go.", gates=Gates(permission=policy))

    assert told(result.messages) == [("c1", "A: shipped")]


async def test_nothing_is_said_or_kept_without_gates() -> None:
    result = await office(batch(("c1", "look", {"order": "A"})), "Done.").run("Go.")

    assert named(result.recording.events, "permission", "middleware") == []
    assert "middlewareDecisions" not in result.recording.snapshot["sharedState"]
