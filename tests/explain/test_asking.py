"""Tests of agentfootprint.explain.asking."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentfootprint import Agent, ConfigError, Fact, Instruction, Mock, Recording
from agentfootprint.context import TurnContext
from agentfootprint.explain import NoTriggerError, UnknownSourceError, UnknownStepError, Why, why
from tests.explain.desks import APPROVED, STYLE, VIP, desk, failed_recording, in_every_form, long_desk


@pytest.fixture(scope="module")
def long() -> Recording:
    return long_desk().run_sync("Refund gamma?").recording


def test_the_last_call_is_asked_about_and_the_best_score_comes_first() -> None:
    recording = desk().run_sync("Refund?").recording

    asked = why(recording)

    assert (asked.answer, asked.step, asked.mode) == (APPROVED, recording.calls[-1].step, "correlational")
    assert [source.id for source in asked.sources] == ["vip", "style"]
    assert asked.confidence.clear_winner
    assert asked.sources[0].score > asked.sources[1].score
    assert all(suspect.verdict is None for suspect in asked.suspects)
    assert "verdict" not in repr(asked.to_wire())


def test_steps_on_the_way_follow_the_sources_and_are_none(long: Recording) -> None:
    asked = why(long)

    kinds = [suspect.kind for suspect in asked.suspects]
    assert kinds[: len(asked.sources)] == [source.kind for source in asked.sources]
    assert set(kinds[len(asked.sources) :]) <= {"stage", "arg"}
    assert len(kinds) > len(asked.sources)


def test_tool_results_and_pieces_of_five_iterations_are_sources(long: Recording) -> None:
    asked = why(long)

    assert sorted({source.id for source in asked.sources}) == ["after", "early", "late", "look_up", "short"]
    results = [source.text for source in asked.sources if source.kind == "tool"]
    assert results[0] == "gamma: 47 days old, gamma is APPROVED"
    assert len(results) == 4


def test_an_empty_text_shares_no_word_and_does_not_lead(long: Recording) -> None:
    asked = why(long)

    empty = next(source for source in asked.sources if source.text == "")
    assert empty.score < asked.sources[0].score < 1
    assert asked.sources[0].text != ""


def test_a_step_on_the_way_can_be_asked_about(long: Recording) -> None:
    first = long.calls[0].step

    asked = why(long, at=first)

    assert (asked.step, asked.answer) == (first, "")
    assert sorted(source.id for source in asked.sources) == ["early", "short"]
    assert {unit.id: unit.reason for unit in asked.dropped} == {
        "late": "trigger-false",
        "after": "trigger-false",
        "never": "trigger-false",
    }


@pytest.mark.parametrize("step", ["call-llm#999", "", "seed#0"])
def test_a_step_that_is_no_model_call_is_refused_by_name(step: str, long: Recording) -> None:
    with pytest.raises(UnknownStepError, match=re.escape(repr(step))) as caught:
        why(long, at=step)

    assert caught.value.known == tuple(call.step for call in long.calls)
    assert "call-llm#" in caught.value.fix


@pytest.mark.parametrize("source", ["shrt", "never", "", "You decide."])
def test_a_source_that_did_not_reach_the_answer_is_refused_by_name(source: str, long: Recording) -> None:
    with pytest.raises(UnknownSourceError, match=re.escape(repr(source))) as caught:
        why(long, of=source)

    assert set(caught.value.removable) == {"after", "early", "late", "look_up", "short"}


def test_a_run_without_sources_says_so() -> None:
    asked = Agent(Mock("Hi."), system="Be kind.").run_sync("hello").why()

    assert (asked.sources, asked.custody(), asked.leading) == ((), (), None)
    assert "SOURCES that reached it: 0" in str(asked)
    assert "To test it" not in str(asked)


def test_a_run_without_a_model_call_has_nothing_to_ask_about() -> None:
    wire = desk().run_sync("Refund?").recording.to_wire()
    empty = Recording.from_wire({**wire, "events": [], "snapshot": {**wire["snapshot"], "commitLog": []}})

    with pytest.raises(NoTriggerError):
        why(empty)


def test_a_run_that_was_not_recorded_is_not_explained() -> None:
    with pytest.raises(ConfigError, match="was not recorded"):
        desk(record=False).run_sync("Refund?").why()


def test_what_two_answers_share_does_not_tell_them_apart() -> None:
    good = Agent(Mock("Refund of the order: Dana Reyes."), context=[STYLE]).run_sync("Refund?").recording
    bad = desk().run_sync("Refund?").recording

    asked = why(bad, reference=good)

    assert asked.ranked_by == "lexical-contrast"
    assert asked.sources[0].score < why(bad).sources[0].score
    assert why(bad, reference=bad).sources[0].score == 0


def test_a_rule_that_raised_is_a_reason_of_its_own() -> None:
    def broken(turn: TurnContext) -> object:
        raise ValueError(turn.user_message)

    asked = desk("Hi.", Instruction("broken", "Be odd.", when=broken), STYLE).run_sync("hello").why()

    assert [(unit.id, unit.reason) for unit in asked.dropped] == [("broken", "predicate-threw")]


def said(asked: Why) -> tuple[object, ...]:
    whole = [asked.to_text(whole=True), *(asked.custody_text(source.id) for source in asked.sources)]
    return asked.to_wire(), whole, [asked.custody(source.id) for source in asked.sources]


def test_an_answer_is_the_same_from_the_run_and_from_files_of_either_form(tmp_path: Path, long: Recording) -> None:
    found = {form: why(each) for form, each in in_every_form(long, tmp_path).items()}

    for form, asked in found.items():
        assert said(asked) == said(found["live"]), form
        assert asked.honesty_flags == found["live"].honesty_flags, form
        assert asked.dropped == found["live"].dropped, form


def test_a_recording_without_its_agent_does_not_guess_what_was_dropped() -> None:
    wire = desk().run_sync("Refund?").recording.to_wire()
    del wire["header"]

    asked = why(Recording.from_wire(wire))

    assert asked.report.dropped is None
    assert "MISSING  unknown: the recording does not say what was declared." in str(asked)


def test_a_failed_run_is_explained_up_to_where_it_failed(tmp_path: Path) -> None:
    for form, recording in in_every_form(failed_recording(), tmp_path).items():
        asked = why(recording)

        assert asked.answer == "", form
        assert sorted(source.id for source in asked.sources) == ["look_up", "style"]
        assert asked.custody()[0].unknown == "the model did not answer this call"
        assert "WHY    (no text: the model did not answer)\n       asked at call-llm#" in str(asked)


def test_two_pieces_with_one_text_are_two_sources_that_can_not_be_told_apart() -> None:
    asked = desk("Tea is green.", Fact("one", "Tea is green."), Fact("two", "Tea is green."), VIP).run_sync("?").why()

    assert not asked.confidence.clear_winner
    assert asked.confidence.shortlist == ("one", "two")
    assert [source.score for source in asked.sources[:2]] == [asked.sources[0].score] * 2
