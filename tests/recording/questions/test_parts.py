"""Tests of agentfootprint.recording.questions.parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfootprint import Agent, Conditional, Fact, LLMCall, Loop, Mock, Parallel, Recording, Sequence, runner, tool
from agentfootprint.compose import Case, Composed, MergeLLM, Step
from agentfootprint.recording.questions.parts import Layout
from agentfootprint.trace import Execution, Journal


@runner
async def up(message: str) -> str:
    return message.upper()


@tool
async def look(city: str) -> str:
    """Look."""
    return f"sunny in {city}"


def agent(id: str, text: str) -> Agent[object, str]:
    script = [Mock.call("look", city=id), text]
    return Agent(Mock(script, cursor="history"), tools=[look], context=[Fact(f"f-{id}", f"Of {id}.")], id=id)


def desk() -> Composed[str]:
    panel = Parallel({"x": agent("x", "X"), "y": agent("y", "Y")}, merge=lambda said: "+".join(said.values()))
    line = Sequence([Step("p", panel), Step("u", up), Step("z", Loop(agent("z", "Z DONE")))])
    return Conditional([Case("way", lambda _: True, line)], otherwise=("rest", up))


def layout_of(recording: Recording) -> Layout:
    layout = recording.layout
    assert layout is not None
    return layout


@pytest.fixture(params=["here", "file"])
async def recording(request: pytest.FixtureRequest, tmp_path: Path) -> Recording:
    made = (await desk().run("go")).recording
    return made if request.param == "here" else Recording.load(made.save(tmp_path / "run.json"))


async def test_the_agents_are_found_in_the_order_they_began(recording: Recording) -> None:
    parts = layout_of(recording).parts

    assert [part.step.info.id for part in parts[:2]] == ["way/step-p/x", "way/step-p/y"]
    assert [part.agent["id"] for part in parts[2:]] == ["z"] * 10
    assert len({part.id for part in parts}) == 12


async def test_calls_uses_and_passes_are_those_of_the_agents(recording: Recording) -> None:
    calls = recording.calls

    assert len(calls) == 24
    assert sorted(str(call.system_text) for call in calls[:4]) == ["Of x.", "Of x.", "Of y.", "Of y."]
    assert [call.index for call in calls] == list(range(24))
    asked = [call.messages[0].content for call in calls if "step-z" in call.step]
    assert asked == ["X+Y"] * 2 + ["Z DONE"] * 18
    assert [use.result for use in recording.tool_uses][:2] == ["sunny in x", "sunny in y"]
    assert len(recording.evaluations) == 24
    assert calls[-1].pieces[0].id == "f-z"


async def test_whose_answers_an_agent_was_given_is_read_off_the_state_around_it(recording: Recording) -> None:
    layout = layout_of(recording)
    x, y, first, second = layout.parts[:4]

    assert layout.asked_by(x) == ()
    assert layout.asked_by(first) == (x, y)
    assert layout.asked_by(second) == (first,)
    assert layout.answering() == (layout.parts[-1],)
    assert layout.part_at(first.step.index + 3) is first
    assert layout.part_at(0) is None


async def test_a_part_is_a_recording_of_its_own(recording: Recording) -> None:
    layout = layout_of(recording)
    part = recording.part(layout.parts[1])

    assert part.header["agent"]["id"] == "y"
    assert part.ended == "done"
    assert [call.content for call in part.calls] == ["", "Y"]
    assert part.layout is None
    assert part.answer is not None
    assert part.answer[0] == "Y"
    assert part.user_message == "go"
    assert recording.around(part.calls[0].step) is part
    assert recording.around("route#1") is recording
    assert recording.part(layout.parts[1]) is part


async def test_the_answer_is_that_of_the_whole_and_so_is_the_question(recording: Recording) -> None:
    assert recording.answer is not None
    assert recording.answer[0] == "Z DONE"
    assert recording.user_message == "go"


async def test_a_run_of_one_agent_has_no_layout() -> None:
    result = await agent("a", "A").run("go")

    assert result.recording.layout is None
    assert result.recording.around("call-llm#3") is result.recording


async def test_a_call_of_a_merge_belongs_to_no_agent() -> None:
    both = Parallel({"x": LLMCall(Mock("X")), "y": LLMCall(Mock("Y"))}, merge=MergeLLM(Mock("both"), prompt="One."))

    recording = (await both.run("go")).recording

    assert [call.content for call in recording.calls][-1] == "both"
    assert recording.around(recording.calls[-1].step) is recording
    assert [part.step.info.id for part in layout_of(recording).answering()] == ["x", "y"]


async def test_a_long_loop_is_walked_through_to_what_came_before_it() -> None:
    twice = Sequence([Step("a", up), Step("b", up)])
    line = Sequence([agent("x", "X"), Step("l", Loop(twice, max_iterations=500)), agent("z", "Z")])

    layout = layout_of((await line.run("go")).recording)

    assert [part.step.info.id for part in layout.asked_by(layout.parts[-1])] == ["step-x"]


async def test_each_part_is_looked_for_only_where_it_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = (await Sequence([Loop(agent("z", "Z"), max_iterations=60)]).run("go")).recording
    looked = 0
    execution = Journal.execution

    def count(journal: Journal, index: int) -> Execution | None:
        nonlocal looked
        looked += 1
        return execution(journal, index)

    monkeypatch.setattr(Journal, "execution", count)
    calls = recording.calls

    assert len(calls) == 120
    assert looked < 40 * len(calls)
