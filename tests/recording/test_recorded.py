"""Tests of agentfootprint.recording.recorded."""

from __future__ import annotations

import gc
import pickle
import time
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Limits, Mock
from agentfootprint.agent import ContextBudget
from agentfootprint.flow import Handle, Stage
from agentfootprint.recording import Recording
from agentfootprint.trace import ABSENT, LogIndex, causal_chain, format_causal_chain, project_commit_log, value_at
from tests.recording.runs import ANSWER, FACTS, agent_recording, chart_recording, journal_of, lines_of, planted


@pytest.fixture(scope="module")
def recording() -> Recording:
    return agent_recording(4)


@pytest.fixture
def loaded(recording: Recording, tmp_path: Path) -> Recording:
    return Recording.load(recording.save(tmp_path / "run.json"))


@pytest.fixture
def wired(recording: Recording, tmp_path: Path) -> Recording:
    return Recording.load(recording.save(tmp_path / "run.wire.json", form="wire"))


def test_a_run_knows_its_answer_its_question_and_who_gave_it(recording: Recording) -> None:
    last = recording.calls[-1]

    assert recording.answer == (ANSWER, last.step)
    assert recording.user_message == "Should order A-1001 be refunded?"
    assert recording.header["agent"]["provider"] == "mock"
    assert (recording.native, recording.ended, recording.flags) == (True, "done", ())


def test_a_file_of_either_form_answers_like_the_run_itself(
    recording: Recording, loaded: Recording, wired: Recording
) -> None:
    def told(of: Recording) -> dict[str, Any]:
        return {
            "run": (of.run_id, of.answer, of.user_message, of.header, of.ended, of.flags),
            "calls": [
                (call.step, call.iteration, call.index, call.system_text, call.pieces, list(call.messages), call.model)
                for call in of.calls
            ],
            "replies": [
                (call.content, call.tool_calls, call.usage, call.stop_reason, call.finished) for call in of.calls
            ],
            "offers": [[(each.name, each.description) for each in call.tools] for call in of.calls],
            "uses": [
                (
                    use.step,
                    use.iteration,
                    use.ordinal,
                    use.tool_name,
                    dict(use.args),
                    use.result,
                    use.message_index,
                    use.ok,
                )
                for use in of.tool_uses
            ],
            "evaluations": [
                (each.step, each.iteration, each.active, each.skipped, dict(each.trigger_counts))
                for each in of.evaluations
            ],
            "reads": [of.reads_of(call.step) for call in of.calls],
            "log": [bundle.to_wire() for bundle in of.bundles],
            "landed": [of.writer_of("systemPromptInjections", call.position) for call in of.calls],
        }

    expected = told(recording)

    assert told(loaded) == expected
    assert told(wired) == expected


def test_the_wire_form_is_the_same_before_and_after_a_native_file(recording: Recording, loaded: Recording) -> None:
    assert loaded.to_wire() == recording.to_wire()
    assert loaded.native_rows() == recording.native_rows()


def test_the_wire_form_has_the_parts_of_the_reference(recording: Recording) -> None:
    wire = recording.to_wire()

    assert [*wire] == ["snapshot", "events", "structure", "header"]
    assert wire["structure"] == recording.structure
    assert wire["structure"]["id"] == wire["snapshot"]["executionTree"]["id"]
    assert {*wire["snapshot"]} == {*planted()["snapshot"]}


def test_a_part_of_the_snapshot_is_built_when_it_is_read(recording: Recording, loaded: Recording) -> None:
    whole = recording.to_wire()["snapshot"]

    assert [*loaded.snapshot] == [*recording.snapshot]
    assert {key: loaded.snapshot[key] for key in loaded.snapshot} == whole
    assert recording.snapshot["sharedState"]["llmLatestContent"] == ANSWER


def test_native_events_announce_a_row_once_and_count_what_was_carried_over(
    recording: Recording, loaded: Recording
) -> None:
    injected = [event for event in recording.events if event.type == "agentfootprint.context.injected"]
    composed = [event for event in recording.events if event.type == "agentfootprint.context.slot_composed"]

    assert len({event.payload.content_hash for event in injected}) == len(injected) == 1 + 3 + 1 + (1 + 2 * 3)
    assert [event.meta.carried for event in composed[:3]] == [None, None, None]
    carried = composed[4].meta.carried
    assert carried is not None
    assert (carried.count, carried.from_) == (1, composed[1].meta.runtime_stage_id)
    assert list(loaded.events) == list(recording.events)


def test_bundles_are_the_commit_log_and_its_index(recording: Recording, loaded: Recording) -> None:
    expected = [bundle.to_wire() for bundle in project_commit_log(journal_of(recording))]
    plain = LogIndex(expected)

    for log in (recording.bundles, loaded.bundles):
        assert [bundle.to_wire() for bundle in log] == expected
        assert sorted(log.paths) == sorted(plain.paths)
        assert {path: list(log.writes(path)) for path in log.paths} == {
            path: list(plain.writes(path)) for path in plain.paths
        }
        for bundle in plain:
            assert log.last_position(bundle.runtime_stage_id) == plain.last_position(bundle.runtime_stage_id)
    assert recording.bundles.last_position("call-llm#1") is None


def test_a_slice_is_the_same_from_a_file(recording: Recording, loaded: Recording) -> None:
    step = recording.calls[-1].step

    there, here = (causal_chain(each.bundles, step, each.reads_of) for each in (loaded, recording))

    assert there is not None
    assert here is not None
    assert format_causal_chain(there) == format_causal_chain(here)


def test_a_value_at_a_commit_is_what_replaying_the_log_gives(recording: Recording, loaded: Recording) -> None:
    for position in range(0, len(recording.bundles) + 1, 5):
        for key in ("history", "iteration", "systemPromptInjections", "lastToolResult"):
            expected = value_at(recording.bundles, position - 1, key) if position else ABSENT

            assert recording.value_at(key, position) == expected
            assert loaded.value_at(key, position) == expected


def test_a_recording_can_be_read_while_its_run_goes_on() -> None:
    whole = agent_recording(3)
    journal = journal_of(whole)
    rows, journal.rows[:] = list(journal.rows), []
    recording = Recording.of_run(journal, facts=FACTS)
    seen: list[tuple[int, int, int]] = []

    for row in rows:
        journal.append(row)
        seen.append((len(recording.calls), len(recording.tool_uses), len(recording.bundles)))

    assert seen == sorted(seen)
    assert seen[-1] == (3, 2, len(whole.bundles))
    assert len(recording.events) == len(whole.events)
    assert recording.snapshot["sharedState"]["iteration"] == 3


def test_a_recording_pickles_and_keeps_no_agent_alive(recording: Recording, wired: Recording) -> None:
    agent = Agent(Mock("Hi."))
    kept = agent.run_sync("hello").recording
    ghost = weakref.ref(agent)
    del agent
    gc.collect()

    assert ghost() is None
    for each in (recording, wired, kept):
        assert pickle.loads(pickle.dumps(each)).to_wire() == each.to_wire()


def test_a_recording_read_in_the_wire_form_is_not_saved_natively(wired: Recording, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"wire form") as caught:
        wired.save(tmp_path / "again.json")

    assert 'form="wire"' in caught.value.fix
    assert not (tmp_path / "again.json").exists()
    assert Recording.load(wired.save(tmp_path / "again.json", form="wire")).to_wire() == wired.to_wire()


def test_an_unknown_form_is_refused(recording: Recording, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'packed'"):
        recording.save(tmp_path / "run.json", form="packed")  # pyright: ignore[reportArgumentType]  what a caller may try


def test_flags_travel_in_both_forms(tmp_path: Path) -> None:
    def stage(h: Handle) -> None:
        h["n"] = 1

    made = chart_recording(Stage(stage, id="one", raw=True))
    imported = Recording.of_run(journal_of(made), facts=FACTS, header={"flags": ["imported"]})

    assert imported.flags == ("imported",)
    assert Recording.load(imported.save(tmp_path / "native")).flags == ("imported",)
    assert Recording.load(imported.save(tmp_path / "wire", form="wire")).flags == ("imported",)


def test_a_chart_without_a_model_has_no_answer() -> None:
    def stage(h: Handle) -> None:
        h["n"] = 1

    recording = chart_recording(Stage(stage, id="one", raw=True))

    assert (recording.answer, recording.user_message, [*recording.calls], [*recording.tool_uses]) == (
        None,
        None,
        [],
        [],
    )
    assert recording.value_at("n") == 1
    assert repr(recording) == "Recording('run-1700000000000-1', 0 model calls, 0 tool calls, done)"


def sizes(lines: list[Any], iteration: int) -> Counter[str]:
    """Bytes of one iteration by kind of row, state key and event type (01b LIN-3)."""
    shapes: list[dict[str, Any]] = [line[1] for line in lines[1:] if line[0] == "d"]
    found: Counter[str] = Counter()
    at = 0
    for line in lines[1:]:
        kind: str = line[0]
        place = {"x": 1, "e": 1, "c": 2, "s": 2}.get(kind, len(line))
        number: int = line[place] if place < len(line) else -1
        shape = shapes[number] if number >= 0 else dict[str, Any]()
        at += kind == "x" and shape["stage"] == 1  # the injection engine opens an iteration
        if at != iteration or kind == "d":
            continue
        found[f"kind {kind}"] += len(repr(line))
        if "event" in shape:
            found[shape["event"]] += len(repr(line))
        ops: list[tuple[str, str]] = shape.get("ops", [])
        for (key, _), value in zip(ops, line[len(line) - len(ops) :], strict=True):
            found[f"key {key}"] += len(repr(value))
    return found


def test_nothing_grows_with_the_run(tmp_path: Path) -> None:
    roomy = Limits(iterations=404, context_budget=ContextBudget(messages=10**9))  # no slot begins to complain midway
    lines = lines_of(agent_recording(402, limits=roomy), tmp_path / "run.json")

    early, late = sizes(lines, 40), sizes(lines, 400)

    assert early.keys() == late.keys()
    assert {what for what in early if late[what] > 1.1 * early[what] + 32} == set()


def test_a_recording_takes_at_most_three_kib_an_iteration(tmp_path: Path) -> None:
    per_iteration = {
        count: agent_recording(count).save(tmp_path / f"{count}.json").stat().st_size / count for count in (50, 200)
    }

    assert per_iteration[50] <= 3 * 1024
    assert per_iteration[200] <= 2 * 1024


def test_opening_a_long_recording_and_reading_its_last_call_grows_with_its_length_only(tmp_path: Path) -> None:
    """The law of cost (LIN-1): ten times the iterations take ten times as long, not a hundred times."""

    def seconds(iterations: int) -> float:
        path = agent_recording(iterations).save(tmp_path / f"{iterations}.json")
        best = float("inf")
        for _ in range(5):
            started = time.perf_counter()
            recording = Recording.load(path)
            call = recording.calls[-1]
            read = (call.pieces, [*call.messages], recording.answer, [use.result for use in recording.tool_uses])
            best = min(best, time.perf_counter() - started)
            assert len(read[1]) == 2 * iterations - 1
        return best

    assert seconds(1000) < 20 * seconds(100)


def test_what_a_step_wrote_is_known_in_every_form(recording: Recording, loaded: Recording, wired: Recording) -> None:
    forms = (recording, loaded, wired)
    step = recording.calls[-1].step

    wrote = [set(each.writes_of(step) or ()) for each in forms]

    assert wrote[0] == wrote[1] == wrote[2] >= {"llmLatestContent"}
    assert [each.writes_of("call-llm#999999") for each in forms] == [None, None, None]
