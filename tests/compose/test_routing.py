"""Tests of agentfootprint.compose.routing."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Conditional, ConfigError, Mock, RecordOptions
from agentfootprint.agent import InvalidRunInputError
from agentfootprint.compose import Case, RunInput
from agentfootprint.flow import RedactionPolicy
from agentfootprint.trace import DecidedRow, thaw
from tests.compose.parts import boom, brackets, ex, heard_by, up


async def test_cases_are_looked_at_in_order_each_once_until_one_holds() -> None:
    asked: list[str] = []

    def says(name: str, answer: bool) -> Case:
        def when(given: RunInput) -> bool:
            asked.append(f"{name}:{given.message}")
            return answer

        return Case(name, when, up)

    desk = Conditional([says("a", False), says("b", True), says("c", True)], otherwise=ex)
    heard = heard_by(desk)

    assert (await desk.run("hi")).output == "HI"

    assert asked == ["a:hi", "b:hi"]
    decided = next(event.payload for event in heard if event.type.endswith("route_decided"))
    assert (decided.chosen, "b" in decided.rationale) == ("b", True)


async def test_a_case_may_be_awaited_and_the_rest_goes_the_other_way() -> None:
    async def never(given: RunInput) -> bool:
        return False

    assert (await Conditional([Case("a", never, up)], otherwise=("rest", ex)).run("hi")).output == "hi!"


async def test_a_filter_puts_on_record_what_it_compared() -> None:
    desk = Conditional([Case("help", {"message": {"eq": "help"}}, up)], otherwise=ex)
    heard = heard_by(desk)

    assert (await desk.run("help")).output == "HELP"

    decided = next(event.payload for event in heard if event.type.endswith("route_decided"))
    evidence: Any = thaw(decided.evidence)
    assert evidence["chosen"] == "help"
    assert evidence["rules"][0]["conditions"][0]["threshold"] == "help"
    assert (await desk.run("hi")).output == "hi!"


async def test_a_case_that_raises_is_not_taken_for_one_that_does_not_hold() -> None:
    def broken(given: RunInput) -> bool:
        raise LookupError("nobody knows")

    desk = Conditional([Case("a", broken, up)], otherwise=ex, id="desk")
    heard = heard_by(desk)

    with pytest.raises(LookupError, match=r"nobody knows"):
        await desk.run("hi")

    assert brackets(heard) == [("enter", "desk", "seed#0"), ("exit", "desk", "err")]
    assert [e.meta.runtime_stage_id for e in heard if e.type.endswith("composition.exit")] == ["route#1"]


async def test_a_branch_that_raises_closes_the_bracket() -> None:
    desk = Conditional([Case("a", lambda _: True, boom)], otherwise=ex, id="desk")
    heard = heard_by(desk)

    with pytest.raises(TypeError, match=r"kaput"):
        await desk.run("hi")

    assert brackets(heard)[-1] == ("exit", "desk", "err")


async def test_nobody_is_asked_about_what_is_no_message() -> None:
    asked: list[object] = []

    with pytest.raises(InvalidRunInputError, match=r"^Conditional\.run needs a message, but got a text of blanks only"):
        await Conditional([Case("a", lambda given: bool(asked.append(given)), up)], otherwise=ex).run("  ")

    assert asked == []


@pytest.mark.parametrize(
    ("cases", "otherwise", "words"),
    [
        ([], up, "without cases"),
        ([up], ex, "is a FunctionRunner"),
        ([Case("a", lambda _: True, up)], ("a", ex), "two branches with the id 'a'"),
        ([Case("sf-a", lambda _: True, up)], ex, "begins with 'sf-'"),
        ([Case("route", lambda _: True, up)], ex, "one of its own steps"),
        ([Case("a", {"mesage": {"eq": 1}}, up)], ex, "looks at 'mesage'"),
        ([Case("a", {}, up)], ex, "is empty"),
        ([Case("a", {"message": {"equals": "x"}}, up)], ex, "compares by 'equals'"),
        ([Case("a", {"message": "x"}, up)], ex, "compares nothing"),  # type: ignore[dict-item]
        (None, ex, "cases of Conditional is a NoneType"),
        ([Case("a", None, up)], ex, "has no condition"),  # type: ignore[arg-type]
        ([Case("a", lambda _: True, "mock")], ex, "The case 'a' of Conditional is a str"),  # type: ignore[arg-type]
        ([Case("a", lambda _: True, up)], ("b", ex, 3), "otherwise is no pair"),
        ([Case("a", lambda _: True, up)], None, "is a NoneType"),
    ],
)
def test_what_can_not_run_is_refused_when_it_is_made(cases: Any, otherwise: Any, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Conditional(cases, otherwise=otherwise)

    assert words in str(caught.value)


def test_without_a_name_of_its_own_the_rest_is_called_as_its_runner() -> None:
    desk = Conditional([Case("a", lambda _: False, up)], otherwise=Agent(Mock("x"), id="clerk"))
    heard = heard_by(desk)

    desk.run_sync("hi")

    assert next(event.payload.chosen for event in heard if event.type.endswith("route_decided")) == "clerk"


@pytest.mark.parametrize("name", ["message", "userMessage"])
async def test_what_a_filter_compared_is_not_on_record_where_the_message_is_kept_out(name: str) -> None:
    record = RecordOptions(redaction=RedactionPolicy(keys=[name]))
    case = Case("a", {"message": {"ne": "mark-threshold"}}, Agent(Mock("x"), record=record))
    desk = Conditional([case], otherwise=("b", up))
    heard = heard_by(desk)

    result = await desk.run("mark-message")

    told = next(event.payload.evidence for event in heard if event.type.endswith("route_decided"))
    compared = told["rules"][0].conditions[0]
    assert (compared.key, compared.op, compared.result, compared.redacted) == ("message", "ne", True, True)
    assert "mark-" not in str(thaw(told))
    journal = result.recording.journal
    assert journal is not None
    decided = [row for row in journal.shown().rows if isinstance(row, DecidedRow)]
    assert "mark-" not in str([thaw(row.evidence) for row in decided])
