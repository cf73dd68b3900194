"""Tests of agentfootprint.agent.pausing.deciding."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import RunResult, approve
from tests.agent.pausing.together.till import RAN, calls, paused, till

CHECK_IN = calls(("a", "pay", 20))
ASK = calls(("a", "mail", "eve@out"))
BOTH = calls(("a", "pay", 20), ("b", "mail", "eve@out"))


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()


def changes(result: RunResult[Any]) -> list[tuple[str, bool, str | None, int | None]]:
    """What the events say of changed arguments: by whom, why, and of which call of the batch."""
    found = [event for event in result.recording.events if event.type.endswith("middleware.decision")]
    return [
        (event.payload.middleware, event.payload.changed, event.payload.why, event.meta.tool_ordinal) for event in found
    ]


@pytest.mark.parametrize(
    ("reply", "args", "said"),
    [
        pytest.param(CHECK_IN, {"amount": 15}, ("check-in", True, "corrected by dana", 0), id="check-in"),
        pytest.param(ASK, {"to": "bob@here"}, ("outside", True, "approved by dana", 0), id="ask"),
    ],
)
async def test_arguments_that_a_person_corrects_are_an_event_without_the_values(
    reply: Any, args: dict[str, Any], said: Any
) -> None:
    agent = till(reply)
    question = paused(await agent.run("Go on."))

    result = await agent.resume(question, approve(by="dana", args=args))

    assert changes(result) == [said]
    assert result.recording.value_at("middlewareDecisions")[-1]["after"] == args
    assert (await agent.replay(result.recording, paused=question)).same


async def test_of_several_each_correction_says_which_call_it_is_about() -> None:
    agent = till(BOTH)
    question = paused(await agent.run("Go on."))

    result = await agent.resume(
        question, [approve(by="dana", args={"amount": 15}), approve(by="eve", args={"to": "bob@here"})]
    )

    assert changes(result) == [
        ("check-in", True, "corrected by dana", 0),
        ("outside", True, "approved by eve", 1),
    ]
    assert RAN == ["pay 15", "mail bob@here"]


@pytest.mark.parametrize("reply", [CHECK_IN, ASK])
async def test_a_declined_call_keeps_its_arguments_whatever_stands_beside_the_decision(reply: Any) -> None:
    agent = till(reply)
    question = paused(await agent.run("Go on."))

    result = await agent.resume(question, {"approved": False, "by": "dana", "args": {"amount": 1, "to": "bob@here"}})

    assert not any(changed for _, changed, _, _ in changes(result))
    assert dict(result.tool_calls[0].args) == dict(question.questions[0].args)
    assert RAN == []
