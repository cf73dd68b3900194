"""Tests of agentfootprint.agent.composing.budgets."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Limits, Mock, Recording, tool
from agentfootprint.agent import ContextBudget
from agentfootprint.trace import thaw

PRESSURE = "agentfootprint.context.budget_pressure"


@tool
async def t() -> str:
    """Do t. Use it first."""
    return "r"


def agent(budget: ContextBudget | None = None, system: str = "Base.") -> Agent[object, str]:
    return Agent(
        Mock([Mock.call("t"), "done"], cursor="run"),
        system=system,
        tools=[t],
        limits=Limits(context_budget=budget),
    )


def pressures(given: Agent[Any, Any], form: Any = "native") -> list[Any]:
    heard: list[Any] = []
    given.on(PRESSURE, lambda event: heard.append(thaw(event.payload)), form=form)
    given.run_sync("q")
    return heard


@pytest.mark.parametrize("form", ["native", "wire"])
def test_a_slot_over_its_budget_says_so_in_every_pass(form: str) -> None:
    heard = pressures(agent(ContextBudget(system_prompt=3)), form)

    assert (
        heard
        == [
            {
                "slot": "system-prompt",
                "overflowBy": 2,
                "planAction": "none",
                "unit": "chars",
                "cap": 3,
                "projected": 5,
            }
        ]
        * 2
    )


@pytest.mark.parametrize("cap", [5, 6, 0, -1])
def test_a_slot_that_fits_exactly_or_has_no_budget_says_nothing(cap: int) -> None:
    given = agent(ContextBudget(system_prompt=cap))

    assert pressures(given) == []


def test_each_slot_has_a_budget_of_its_own_and_characters_are_those_of_the_wire() -> None:
    given = agent(ContextBudget(system_prompt=1, messages=0, tools=1), system="😀")

    assert [(row["slot"], row["projected"]) for row in pressures(given)][:2] == [("system-prompt", 2), ("tools", 22)]


def test_nothing_is_cut() -> None:
    call = agent(ContextBudget(system_prompt=1, messages=1, tools=1)).run_sync("question").recording.calls[0]

    assert (call.system_text, [m.content for m in call.messages], [each.name for each in call.tools]) == (
        "Base.",
        ["question"],
        ["t"],
    )


def test_it_follows_the_composed_slot_and_is_in_the_record_in_every_form(tmp_path: Path) -> None:
    given = agent(ContextBudget(system_prompt=3))
    live: list[Any] = []
    given.on("agentfootprint.context.*", lambda event: live.append((event.type, thaw(event.payload))), form="wire")

    recording = given.run_sync("q").recording

    kinds = [kind.rpartition(".")[2] for kind, _ in live]
    assert kinds[1:4] == ["injected", "slot_composed", "budget_pressure"]
    for form in (recording, Recording.load(recording.save(tmp_path / "run.json"))):
        told = [(event["type"], event["payload"]) for event in form.to_wire()["events"]]
        assert [each for each in told if each[0].startswith("agentfootprint.context.")] == live


def test_a_run_may_have_budgets_of_its_own() -> None:
    given, heard = agent(), list[Any]()
    given.on(PRESSURE, heard.append)

    given.run_sync("q")
    given.run_sync("q", limits=Limits(context_budget=ContextBudget(tools=1)))

    assert [event.payload.slot for event in heard] == ["tools", "tools"]


def test_the_log_has_one_line_a_slot_however_many_runs(caplog: pytest.LogCaptureFixture) -> None:
    given = agent(ContextBudget(system_prompt=1, tools=1))

    with caplog.at_level(logging.WARNING, logger="agentfootprint"):
        given.run_sync("q")
        given.run_sync("q")

    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 2
    assert "system-prompt" in lines[0]
    assert "Base." not in " ".join(lines)


@pytest.mark.parametrize("given", [1.5, "4000", None, True])
def test_a_budget_is_a_whole_number(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"limits\.context_budget\.tools") as caught:
        ContextBudget(tools=given)

    assert caught.value.option == "limits.context_budget.tools"


def test_something_else_in_its_place_is_refused() -> None:
    given: Any = {"tools": 1}

    with pytest.raises(ConfigError, match=r"of the type dict"):
        Limits(context_budget=given)
