"""Tests of agentfootprint.explain.reading.ending."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Act, Agent, Fact, Gates, Limits, Mock, Output, Recording, deny, on_message, tool
from agentfootprint.agent import MessageView, RuleOutcome
from agentfootprint.explain import ExplainError, NoTriggerError, recorded_ending, why
from agentfootprint.security import PermissionDecision, PermissionRequest


@tool(check_in="always")
def refund(order: str) -> str:
    """Refund one order. Use it when the policy allows it."""
    return order


@tool
def look_up(order: str) -> str:
    """Look an order up. Use it when the user names one."""
    return f"{order}: shipped"


class Guard:
    name = "guard"

    def check(self, request: PermissionRequest) -> PermissionDecision:
        return PermissionDecision("halt", reason="too-much")


@on_message(name="polite")
def polite(_: MessageView) -> RuleOutcome:
    return deny("no swearing")


def model() -> Mock:
    return Mock(lambda _: Mock.call("look_up", order="A"))


ENDINGS: dict[str, tuple[Callable[[], Agent[Any, Any]], str | None]] = {
    "paused": (lambda: Agent(Mock([Mock.call("refund", order="A")]), tools=[refund]), "about a call of refund"),
    "halted": (
        lambda: Agent(model(), tools=[look_up], gates=Gates(permission=Guard())),
        "'guard' stopped the run at a call of look_up: too-much",
    ),
    "denied": (
        lambda: Agent(Mock("Hi."), gates=Gates(act=Act(output=[polite]))),
        "'polite' withheld the answer from the caller: no swearing",
    ),
    "stopped-early": (
        lambda: Agent(model(), tools=[look_up], limits=Limits(iterations=1, wrap_up=False)),
        "the limit of iterations was reached",
    ),
    "output-unmet": (lambda: Agent(Mock("no number"), output=Output(int)), "does not fit the output type"),
    "": (lambda: Agent(Mock("Hi.")), None),
}


@pytest.mark.parametrize(("flag", "made"), ENDINGS.items(), ids=lambda each: each or "an answer")
@pytest.mark.parametrize("form", ["native", "wire"])
async def test_what_kept_a_run_from_an_answer_is_said_in_words_in_every_form(
    flag: str, made: tuple[Callable[[], Agent[Any, Any]], str | None], form: Any, tmp_path: Path
) -> None:
    agent, said = made[0](), made[1]
    handle = agent.start("Hello.")
    with contextlib.suppress(Exception):  # some of the endings raise; the record is what is asked
        await handle.result()
    recording = Recording.load(handle.recording.save(tmp_path / "run.json", form=form))

    ending = recorded_ending(recording)

    if said is None:
        assert ending is None
        return
    assert ending is not None
    assert (ending.flag, said in ending.note) == (flag, True), ending
    assert flag in {each.flag for each in why(recording).honesty_flags}


async def test_a_run_without_a_model_call_has_nothing_to_explain_and_the_error_says_why() -> None:
    handle = Agent(Mock("Hi."), gates=Gates(act=Act(input=[polite]))).start("Hello.")
    with contextlib.suppress(Exception):
        await handle.result()

    with pytest.raises(
        NoTriggerError, match=r"made no model call: the rule 'polite' denied the message: no swearing\."
    ):
        why(handle.recording)


def test_a_run_that_waits_for_a_person_has_an_explanation_and_nothing_to_test() -> None:
    fact = Fact("vip", "Dana is a VIP.")
    result = Agent(Mock([Mock.call("refund", order="A")]), tools=[refund], context=[fact]).run_sync("Refund A.")

    with pytest.raises(ExplainError, match=r"no answer that could be compared: the run waits for a person"):
        result.prove_sync()

    assert "only a run's answer can be" in str(result.why())
