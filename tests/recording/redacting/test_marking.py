"""Tests of agentfootprint.recording.redacting.marking."""

from __future__ import annotations

from pathlib import Path

from agentfootprint import Agent, Mock, RecordOptions
from agentfootprint.flow import RedactionPolicy
from agentfootprint.recording import Recording, kept_out_words

POLICY = RedactionPolicy(
    keys=["userMessage", "userPrompt"],
    fields={"runIdentity": ["conversationId"]},
    patterns=["^secret"],
    emit_patterns=["slot_composed$"],
    event_fields={"agentfootprint.context.injected": ["rawContent"]},
)


def run(policy: RedactionPolicy | None = POLICY) -> Recording:
    record = RecordOptions(redaction=policy)
    return Agent(Mock(["REDACTED"]), system="Be kind.", record=record).run_sync("Hi").recording


def test_the_mark_stands_in_every_form_and_says_names_only(tmp_path: Path) -> None:
    recording = run()

    native = Recording.load(recording.save(tmp_path / "native.json"))
    wire = Recording.load(recording.save(tmp_path / "wire.json", form="wire"))

    for each in (recording, native, wire):
        assert each.redaction is not None
        assert each.redaction["redactedKeys"] == ["userMessage", "userPrompt"]
        assert each.redaction["patterns"] == ["^secret"]
        (row,) = each.snapshot["recorders"]
        assert (row["id"], row["data"]["redactedKeys"]) == ("agentfootprint.redaction", ["userMessage", "userPrompt"])
        assert kept_out_words(each.redaction) == ("REDACTED", "[REDACTED]")


def test_without_a_policy_there_is_no_mark_and_no_text_is_a_placeholder(tmp_path: Path) -> None:
    recording = Recording.load(run(None).save(tmp_path / "run.json"))

    assert recording.redaction is None
    assert "recorders" not in recording.snapshot
    assert "redaction" not in recording.header
    assert kept_out_words(recording.redaction) == ()
    assert all(not bundle.redacted_paths for bundle in recording.bundles)  # the answer is that word, and is one


def test_commits_say_which_paths_are_kept_out_also_in_a_file(tmp_path: Path) -> None:
    recording = run()
    stored = Recording.load(recording.save(tmp_path / "run.json"))

    paths = [bundle.redacted_paths for bundle in recording.bundles]

    assert paths[0][:2] == ("userMessage", "runIdentity")
    assert [bundle.redacted_paths for bundle in stored.bundles] == paths
    assert stored.to_wire()["snapshot"]["commitLog"][0]["redactedPaths"] == list(paths[0])


def test_events_that_commits_imply_are_hidden_in_a_file_as_they_were_live(tmp_path: Path) -> None:
    recording = run()
    stored = Recording.load(recording.save(tmp_path / "run.json"))

    implied = [each for each in stored.events if each.type.startswith("agentfootprint.context.")]

    assert stored.events == tuple(recording.events)
    assert {each.payload for each in implied if each.type.endswith("slot_composed")} == {"[REDACTED]"}
    assert {each.payload.raw_content for each in implied if each.type.endswith("injected")} == {"[REDACTED]"}
