"""Tests of agentfootprint.explain.reading.custody."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import Act, Agent, Fact, Gates, Mock, Recording, allow, approve, before_tool, tool
from agentfootprint.agent import RuleOutcome, ToolCallView
from agentfootprint.explain import CustodyHop, why
from agentfootprint.security import PermissionPolicy
from tests.explain.desks import APPROVED, STYLE, VIP, desk, failed_recording, in_every_form, long_desk

LINKS = ["answer", "read", "landed", "allowed", "born"]


@pytest.fixture(scope="module")
def long() -> Recording:
    return long_desk().run_sync("Refund gamma?").recording


def links(recording: Recording, of: str) -> dict[str, CustodyHop]:
    return {hop.step: hop for hop in why(recording, of=of).custody()}


def test_the_five_links_stand_newest_first_each_at_its_step() -> None:
    recording = desk(system="You decide.").run_sync("Refund?").recording

    hops = why(recording).custody("vip")

    assert [hop.step for hop in hops] == LINKS
    answer, read, landed, allowed, born = hops
    assert (answer.at, answer.content, answer.variable) == (recording.calls[-1].step, APPROVED, "llmLatestContent")
    assert (read.at, read.variable) == (recording.calls[-1].step, "systemPromptInjections")
    assert read.content == recording.calls[-1].system_text
    assert read.highlight == VIP.text
    assert (landed.at, landed.detail) == (
        recording.calls[-1].pieces[1].landed_step,
        "appended 3 records in iteration 1",
    )
    assert allowed.detail == "fact, trigger always: no rule decided"
    assert allowed.at == recording.evaluations[0].step
    assert born.detail == 'context=[Fact("vip")]; file and line: not recorded'
    assert born.unknown == "file and line: not recorded"


@given(st.text(min_size=1).filter(str.strip), st.text(max_size=30), st.booleans())
def test_read_gives_the_exact_range_of_the_piece_in_the_prompt(text: str, system: str, doubled: bool) -> None:
    before = [Fact("before", text)] if doubled else []
    recording = desk("Hi.", *before, Fact("piece", text), STYLE, system=system).run_sync("hello").recording

    read = links(recording, "piece")["read"]

    assert read.content is not None
    assert read.highlight == text
    first, _, last = read.detail.partition("characters ")[2].partition(" of ")[0].partition("-")
    assert read.content[int(first) : int(last) + 1] == text
    assert read.detail.endswith(f" of {len(read.content)}")
    if doubled:
        assert int(first) > read.content.index(text)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("early", "instructions, its rule held in iteration 1; what it read: not recorded"),
        ("late", "instructions, its rule held in iteration 3; what it read: not recorded"),
        ("after", "instructions, its tool had returned before iteration 2"),
        ("short", "fact, trigger always: no rule decided"),
        ("look_up", "the model asked for the call; no gate decided"),
    ],
)
def test_allowed_says_what_let_it_in_and_what_is_not_known(of: str, said: str, long: Recording) -> None:
    allowed = links(long, of)["allowed"]

    assert allowed.detail == said
    assert (allowed.unknown is not None) == ("not recorded" in said)
    assert allowed.at is not None


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("short", "appended 2 records in iteration 1; unchanged since"),
        ("late", "appended 1 record in iteration 3; unchanged since"),
        ("look_up", "appended to the history in iteration 4"),
    ],
)
def test_landed_says_when_it_came_and_that_it_stayed(of: str, said: str, long: Recording) -> None:
    assert links(long, of)["landed"].detail == said


def test_what_an_earlier_call_read_came_through_what_it_said(long: Recording) -> None:
    hops = why(long, of="early").custody()

    assert [hop.step for hop in hops] == ["answer", "through", "read", "landed", "allowed", "born"]
    assert (hops[1].at, hops[2].at) == (long.calls[0].step, long.calls[0].step)


def test_a_tool_result_was_read_asked_for_and_born_with_its_arguments(long: Recording) -> None:
    hops = why(long).custody("look_up")

    assert [hop.step for hop in hops] == LINKS
    result = "gamma: 47 days old, gamma is APPROVED"
    assert (hops[1].detail, hops[1].content, hops[1].highlight) == ("message 9 of 9, a tool result", result, result)
    assert hops[3].at == long.calls[3].step
    assert hops[4].detail == 'tool look_up({"what":"gamma"})'
    assert all(hop.unknown is None for hop in hops)


def test_the_custody_is_of_the_result_that_is_ranked_first() -> None:
    recording = long_desk().run_sync("Refund gamma?").recording

    asked = why(recording)

    leading, source = asked.leading, asked.source()
    assert leading is not None
    assert source is not None
    assert (source.text, source.tool_call_id) == (leading.text, leading.tool_call_id)


def test_an_answer_that_is_a_tool_call_is_shown_as_one(long: Recording) -> None:
    answer = why(long, at=long.calls[0].step).custody()[0]

    assert (answer.variable, answer.content) == ("llmLatestToolCalls", 'look_up({"what":"alpha"})')


def test_an_empty_answer_is_an_empty_text_and_no_tool_call() -> None:
    answer = desk("", STYLE).run_sync("Refund?").why().custody()[0]

    assert (answer.variable, answer.detail, answer.content) == ("llmLatestContent", "an empty text", "")


@pytest.mark.parametrize("form", ["live", "native", "wire", "object"])
def test_a_call_that_was_not_answered_has_no_answer_and_says_so(form: str, tmp_path: Path) -> None:
    hops = why(in_every_form(failed_recording(), tmp_path)[form]).custody("style")

    assert [hop.step for hop in hops] == LINKS
    assert (hops[0].detail, hops[0].content) == (
        "unknown: the model did not answer this call",
        None,
    )


def without_evaluations(recording: Recording) -> Recording:
    wire = recording.to_wire()
    events = [event for event in wire["events"] if event["type"] != "agentfootprint.context.evaluated"]
    return Recording.from_wire({**wire, "events": events})


def test_a_link_that_was_not_recorded_is_there_and_says_so() -> None:
    recording = without_evaluations(desk().run_sync("Refund?").recording)

    hops = why(recording).custody("vip")

    assert [hop.step for hop in hops] == LINKS
    assert (hops[3].at, hops[3].detail, hops[3].unknown) == (
        None,
        "unknown: no evaluation was recorded",
        "no evaluation was recorded",
    )


def test_which_of_several_triggers_it_was_is_not_guessed(long: Recording) -> None:
    wire = long.to_wire()
    del wire["header"]

    allowed = links(Recording.from_wire(wire), "late")["allowed"]

    assert allowed.unknown == "which trigger let it in was not recorded"


def test_a_piece_whose_words_are_not_in_the_prompt_is_not_marked() -> None:
    wire = desk("Hi.", STYLE).run_sync("hello").recording.to_wire()
    for event in wire["events"]:
        if event["type"] == "agentfootprint.stream.llm_start":
            event["payload"]["systemPromptText"] = "Something else."

    read = links(Recording.from_wire(wire), "style")["read"]

    assert (read.content, read.highlight) == ("Something else.", None)
    assert read.detail == "systemPromptInjections; its text is not in the prompt as recorded"


def test_allowed_names_the_gates_that_decided() -> None:
    @tool
    def look_up(order: str) -> str:
        """Look an order up."""
        return f"{order}: shipped"

    @before_tool(name="mask")
    def mask(_: ToolCallView) -> RuleOutcome:
        return allow({"order": "masked"}, "a number")

    policy = PermissionPolicy.from_roles({"clerk": ["look_up"]}, "clerk")
    script = [Mock.call("look_up", order="A"), "It is shipped."]

    def allowed(role: PermissionPolicy) -> str:
        gates = Gates(permission=role, act=Act(before_tool=[mask]))
        run = Agent(Mock(list(script)), tools=[look_up], gates=gates).run_sync("Where is A?")
        return links(run.recording, "look_up")["allowed"].detail

    assert allowed(policy) == (
        "the model asked for the call; the permission check allowed it by clerk.allowlist, "
        "the rule 'mask' changed its arguments"
    )
    assert allowed(PermissionPolicy.from_roles({"none": []}, "none")) == (
        "the model asked for the call; the permission check denied it by none.allowlist.miss"
    )


def test_allowed_names_the_person_who_decided_though_the_call_was_asked_for_in_an_earlier_run() -> None:
    @tool(check_in="always")
    def refund(order: str) -> str:
        """Refund one order. Use it when the policy allows it."""
        return f"refunded {order}"

    agent = Agent(Mock([Mock.call("refund", order="A-1"), "Refunded."]), tools=[refund])
    paused = agent.run_sync("Refund A-1.").paused
    assert paused is not None

    recording = agent.resume_sync(paused, approve(by="dana")).recording

    allowed = links(recording, "refund")["allowed"]
    assert allowed.detail == f"unknown: {allowed.unknown}; a person (dana) approved it"
