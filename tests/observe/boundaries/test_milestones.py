"""Tests of agentfootprint.observe.boundaries.milestones."""

from __future__ import annotations

from agentfootprint.observe import milestone_for, slot_of, stage_role


def test_the_mounts_that_a_stage_stands_in_do_not_matter_to_what_it_is() -> None:
    assert milestone_for("step-a/call-llm#9") == milestone_for("call-llm")
    assert stage_role("step-a/call-llm") == "hero-llm"


def test_the_innermost_segment_that_names_a_slot_decides() -> None:
    assert slot_of("sf-tools/step/sf-messages/compose#3") == "messages"
    assert slot_of("compose#3") is None
