"""Tests of agentfootprint.explain.reading.across."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfootprint import Agent, ConfigError, Fact, Loop, Mock, Parallel, Recording, Sequence, runner, tool
from agentfootprint.compose import Step
from agentfootprint.explain import why


@tool
async def policy() -> str:
    """Look the policy up."""
    return "Refunds within 90 days."


@runner
async def tidy(message: str) -> str:
    return message.strip()


def clerk() -> Agent[object, str]:
    script = [Mock.call("policy"), "Refunds within 90 days, Dana."]
    return Agent(Mock(script, cursor="history"), tools=[policy], context=[Fact("customer", "Dana Reyes.")], id="clerk")


def editor(text: str = "Dana, 90 days.") -> Agent[object, str]:
    return Agent(Mock(text), context=[Fact("tone", "Be kind.")], id="editor")


async def test_sources_of_an_earlier_agent_reach_the_answer_by_the_way_it_was_handed_on() -> None:
    line = Sequence([Step("look", clerk()), Step("tidy", tidy), Step("edit", editor())])

    found = (await line.run("When?")).why(of="policy")

    assert {suspect.id for suspect in found.sources} == {"policy", "customer", "tone"}
    suspect = next(each for each in found.sources if each.id == "policy")
    way = [hop.to_step.partition("#")[0] for hop in suspect.edge_path]
    assert way == ["step-look/call-llm", "step-look/tool-calls"]
    assert suspect.edge_path[0].from_step.startswith("step-edit/call-llm#")
    hops = found.custody()
    assert [hop.step for hop in hops] == ["answer", "through", "read", "landed", "allowed", "born"]
    assert "another agent" in hops[1].detail
    assert hops[1].content == "Refunds within 90 days, Dana."
    assert hops[2].content == "Refunds within 90 days."
    assert (hops[-1].at or "").startswith("step-look/tool-calls#")


async def test_each_source_is_told_of_by_the_agent_that_had_it() -> None:
    line = Sequence([Step("look", clerk()), Step("edit", editor())])
    recording = (await line.run("When?")).recording

    own = why(recording, of="tone").custody()
    earlier = why(recording, of="customer").custody()

    assert [hop.step for hop in own] == ["answer", "read", "landed", "allowed", "born"]
    assert "always" in earlier[-2].detail
    assert (earlier[-2].at or "").startswith("step-look/sf-injection-engine/evaluate#")


async def test_an_answer_that_was_merged_is_explained_by_every_branch_and_a_call_by_its_own() -> None:
    both = Parallel({"a": clerk(), "b": editor()}, merge=lambda said: " ".join(said.values()))
    recording = (await both.run("When?")).recording

    whole = why(recording)
    one = why(recording, at=next(call.step for call in recording.calls if call.step.startswith("b/")))

    assert {suspect.id for suspect in whole.sources} == {"policy", "customer", "tone"}
    assert {suspect.id for suspect in one.sources} == {"tone"}


async def test_a_pass_of_a_loop_is_explained_by_those_before_it() -> None:
    loop = Loop(Sequence([Step("look", clerk()), Step("edit", editor())]), max_iterations=2)

    found = (await loop.run("When?")).why()

    assert sorted(suspect.id for suspect in found.sources) == ["customer"] * 2 + ["policy"] * 2 + ["tone"] * 2


async def test_it_is_read_from_a_native_file_alike_and_refused_from_the_wire_form(tmp_path: Path) -> None:
    recording = (await Sequence([Step("look", clerk()), Step("edit", editor())]).run("When?")).recording

    read = Recording.load(recording.save(tmp_path / "native.json"))
    assert str(why(read)) == str(why(recording))

    wire = Recording.load(recording.save(tmp_path / "wire.json", form="wire"))
    with pytest.raises(ConfigError, match=r"can't be explained from the wire form"):
        why(wire)


async def test_the_page_of_an_explanation_is_made_for_several_agents_too(tmp_path: Path) -> None:
    found = (await Sequence([Step("look", clerk()), Step("edit", editor())]).run("When?")).why()

    page = found.to_html(tmp_path / "why.html")

    assert "Refunds within 90 days" in page.read_text(encoding="utf-8")
