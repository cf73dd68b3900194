"""Tests of agentfootprint.explain.reading.evidence."""

from __future__ import annotations

import itertools

import pytest

from agentfootprint import Agent, Fact, Limits, Mock, Recording, Steering, tool
from agentfootprint.explain.reading.evidence import MAX_DEPTH, call_at, evaluation_of, find_evidence, output_text
from agentfootprint.llm import LLMRequest, LLMResponse
from tests.explain.desks import STYLE, VIP, Counted, desk, failed_recording, long_desk


@pytest.fixture(scope="module")
def long() -> Recording:
    return long_desk().run_sync("Refund gamma?").recording


def test_base_prompt_and_user_message_are_no_sources() -> None:
    recording = desk("Hi.", STYLE, Steering("tone", "Be warm."), system="You greet.").run_sync("hello").recording

    found = find_evidence(recording, call_at(recording, None))

    assert [(source.id, source.flavor, source.kind) for source in found.sources] == [
        ("style", "fact", "injection"),
        ("tone", "steering", "injection"),
    ]


@pytest.mark.parametrize(
    "text", ["Plain words.", "日本語の事実。", "emoji 🧾 and e\u0301", "tab\tand\nline", "  blanks  "]
)
def test_the_span_of_a_piece_is_exactly_its_text_in_the_prompt(text: str) -> None:
    recording = desk("Hi.", VIP, Fact("piece", text), STYLE, system="Base 🧾.").run_sync("hello").recording
    call = call_at(recording, None)

    for source in find_evidence(recording, call).sources:
        assert source.span is not None
        start, end = source.span
        assert call.system_text[start:end] == source.text, source.id


def test_pieces_of_one_text_have_spans_of_their_own() -> None:
    pieces = [Fact(name, "Be short.") for name in ("one", "two", "three")]
    recording = desk("Hi.", *pieces, system="Be short. Be short.").run_sync("hello").recording
    call = call_at(recording, None)

    spans = [source.span for source in find_evidence(recording, call).sources]

    assert spans == [(21, 30), (32, 41), (43, 52)]


def test_a_source_landed_before_the_call_that_read_it(long: Recording) -> None:
    found = find_evidence(long, call_at(long, None))

    order = {bundle.runtime_stage_id: place for place, bundle in enumerate(long.bundles)}
    for source in found.sources:
        assert order[source.landed] < order[source.call.step]
        assert source.path[-1].to_step == source.landed
        assert all(one.to_step == two.from_step for one, two in itertools.pairwise(source.path))
        assert source.path[0].from_step == long.calls[-1].step


def test_a_piece_that_only_an_earlier_call_read_came_through_it(long: Recording) -> None:
    found = {source.id: source for source in find_evidence(long, call_at(long, None)).sources}

    assert found["early"].call.step == long.calls[0].step
    assert found["early"].ancestors
    assert found["late"].call.step == long.calls[-1].step
    assert (found["late"].first_iteration, found["after"].first_iteration, found["short"].first_iteration) == (3, 2, 1)


def test_each_result_of_a_tool_is_a_source_with_its_place(long: Recording) -> None:
    call = call_at(long, None)

    results = [source for source in find_evidence(long, call).sources if source.kind == "tool"]

    assert [source.message_index for source in results] == [2, 4, 6, 8]
    assert len({source.tool_call_id for source in results}) == 4
    for source in results:
        assert source.message_index is not None
        assert call.messages[source.message_index].content == source.text


def test_results_of_one_batch_are_told_apart() -> None:
    def both(request: LLMRequest) -> str | LLMResponse:
        if any(message.role == "tool" for message in request.messages):
            return "Both are old."
        calls = [Mock.call("look_up", what=what).tool_calls[0] for what in ("one", "two")]
        return LLMResponse("", tool_calls=tuple(calls), stop_reason="tool_use")

    recording = desk(both, STYLE, tools=[Counted().tool]).run_sync("Both?").recording

    found = [source for source in find_evidence(recording, recording.calls[-1]).sources if source.kind == "tool"]
    assert [(source.text or "")[:3] for source in found] == ["one", "two"]
    assert found[0].landed == found[1].landed


def test_a_call_read_only_what_came_before_it(long: Recording) -> None:
    for call in long.calls:
        results = [source for source in find_evidence(long, call).sources if source.kind == "tool"]

        assert len(results) == call.iteration - 1


def test_the_evaluation_of_an_iteration_is_found_and_of_another_run_s_not(long: Recording) -> None:
    assert [found.iteration for n in range(1, 6) if (found := evaluation_of(long, n))] == [1, 2, 3, 4, 5]
    assert evaluation_of(long, 0) is evaluation_of(long, 6) is None


def test_what_a_call_said_holds_the_calls_it_asked_for(long: Recording) -> None:
    assert output_text(long.calls[0]) == 'look_up {"what":"alpha"}'
    assert output_text(long.calls[-1]) == "Refund APPROVED: gamma is old."


def test_limits_of_the_evidence_are_data() -> None:
    recording = desk().run_sync("Refund?").recording

    found = find_evidence(recording, call_at(recording, None))

    flags = {flag.flag: flag.note for flag in found.flags}
    assert flags == {
        "untracked-sources": "1 step also read untracked run input",
        "no-control-deps": "no decision edges",
    }
    assert (found.stats.truncated_by_depth, found.stats.max_depth) == (False, MAX_DEPTH)


def test_a_slice_that_was_cut_says_so_and_keeps_what_the_answer_read_itself() -> None:
    def many(request: LLMRequest) -> str | LLMResponse:
        done = sum(message.role == "tool" for message in request.messages)
        return Mock.call("look_up", what=f"n{done}") if done < 45 else "Done."

    agent = desk(many, STYLE, tools=[Counted().tool], limits=Limits(iterations=50))
    recording = agent.run_sync("Many?").recording

    found = find_evidence(recording, recording.calls[-1])

    assert (found.stats.truncated_by_depth, found.stats.max_depth) == (True, MAX_DEPTH)
    cut = [flag.note for flag in found.flags if flag.flag == "slice-truncated"]
    assert cut == ["older steps exist beyond the limit of depth 12"]
    assert sum(source.kind == "tool" for source in found.sources) == 45


def test_a_call_that_was_not_answered_still_read_what_it_read() -> None:
    recording = failed_recording()

    found = find_evidence(recording, call_at(recording, None))

    assert found.answer == ""
    assert [source.id for source in found.sources] == ["style", "look_up"]


def test_a_run_that_waits_for_a_person_has_a_last_call_but_no_answer() -> None:
    @tool(check_in="always")
    def refund(order: str) -> str:
        """Refund one order. Use it when the policy allows it."""
        return order

    recording = Agent(Mock([Mock.call("refund", order="A")]), tools=[refund]).run_sync("Refund A.").recording

    flags = [flag.flag for flag in find_evidence(recording, call_at(recording, None)).flags]

    assert "paused" in flags


async def test_a_turn_that_goes_on_with_a_conversation_says_where_its_beginning_is_on_record() -> None:
    conversation = Agent(Mock(["Four.", "Five."])).conversation()
    first = await conversation.run("Two and two?")
    second = await conversation.run("And one more?")

    flags = {flag.flag: flag.note for flag in second.why().honesty_flags}

    assert (
        f"its first messages (2) came from is on record in the recording of the run {first.run_id}"
        in flags["continued"]
    )
    assert "continued" not in {flag.flag for flag in first.why().honesty_flags}
