"""Tests of agentfootprint.observe.audit.exporter."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, Mock, tool
from agentfootprint.errors import ConfigError
from agentfootprint.events import encode_event, event_from_wire
from agentfootprint.observe import AuditExporter, AuditFileError, verify_audit, verify_audit_files
from agentfootprint.recording import FileProblemError, Recording
from tests.observe.audit.chains import event, events, filled


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number."""
    return f"Order {order_id}: shipped."


def asked() -> Recording:
    agent = Agent(Mock([Mock.call("lookup", order_id="4411"), "It is shipped."]), tools=[lookup], id="desk")
    return agent.run_sync("Where is order 4411?").recording


def test_a_recording_is_audited_after_the_fact(tmp_path: Path) -> None:
    recording = Recording.load(asked().save(tmp_path / "run.json"))
    audit = AuditExporter(agent="desk", versions={"app": "1.2"})

    for each in recording.events:
        audit.export(each)

    bundle = audit.bundle()
    assert verify_audit(bundle).valid
    assert verify_audit(bundle).run_count == 1
    assert len(bundle["records"]) == len(recording.events) + 1 - sum(
        each.type.endswith((".token", ".thinking_delta")) for each in recording.events
    )
    assert "shipped" not in json.dumps(bundle["records"])
    genesis = bundle["records"][0]
    assert genesis["payload"] == {
        "runId": genesis["meta"]["runId"],
        "agent": "desk",
        "library": bundle["header"]["library"],
        "versions": {"app": "1.2"},
        "payloadMode": "bounded",
    }


def test_the_events_of_a_run_and_of_its_recording_give_one_chain() -> None:
    recording = asked()
    native, stored = AuditExporter(include_token_events=True), AuditExporter(include_token_events=True)

    for each in recording.events:
        native.export(each)
        stored.export(event_from_wire(json.loads(encode_event(each))))

    assert native.final_hash == stored.final_hash


def test_runs_that_interleave_are_each_opened_once() -> None:
    audit = AuditExporter()

    for one, other in zip(events(3, run="run-1-1"), events(3, run="run-1-2"), strict=True):
        audit.export(one)
        audit.export(other)

    records = audit.bundle()["records"]
    assert [each["eventType"] for each in records].count("audit.genesis") == 2
    assert [each["meta"]["runId"] for each in records] == [
        *("run-1-1", "run-1-1", "run-1-2", "run-1-2"),
        *("run-1-1", "run-1-2", "run-1-1", "run-1-2"),
    ]
    assert verify_audit(audit.bundle()).run_count == 2


@pytest.mark.parametrize("run", [None, "", "consumer-scope"])
def test_an_event_of_no_run_is_recorded_all_the_same(run: str | None) -> None:
    audit = AuditExporter()

    audit.export(event(run=run))

    genesis, record = audit.bundle()["records"]
    assert genesis["payload"]["runId"] == record["meta"]["runId"] == "unattributed"


def test_a_clock_that_goes_backwards_changes_nothing_about_the_order() -> None:
    audit = AuditExporter()

    for at in (9_000, 3_000, -5, 7_000):
        audit.export(event(at=at))

    bundle = audit.bundle()
    assert [record["timestamp"] for record in bundle["records"]] == [9_000, 9_000, 3_000, -5, 7_000]
    assert verify_audit(bundle).valid


def test_a_meta_with_long_texts_is_cut() -> None:
    audit = AuditExporter()

    audit.export(event(sessionId="s" * 300, compositionPath=["Agent:" + "a" * 300], run="r" * 300))

    genesis, record = audit.bundle()["records"]
    assert [len(record["meta"][key]) for key in ("sessionId", "runId")] == [256, 256]
    assert len(record["meta"]["compositionPath"][0]) == 256
    assert genesis["payload"]["runId"] == record["meta"]["runId"]
    assert verify_audit(audit.bundle()).valid


def test_draining_gives_segments_that_continue_each_other() -> None:
    anchored: list[str] = []
    audit = AuditExporter(anchor=anchored.append)

    segments: list[dict[str, Any]] = []
    for run in ("run-1-1", "run-1-2", None):
        for each in events(3, run=run) if run else []:
            audit.export(each)
        segments.append(audit.drain())

    assert [segment["header"]["firstSeq"] for segment in segments] == [0, 4, 8]
    assert [segment["finalHash"] for segment in segments] == anchored
    assert segments[2]["records"] == []
    assert verify_audit(segments).records_checked == 8
    assert verify_audit(segments).final_hash == audit.final_hash


def test_an_anchor_that_fails_loses_nothing() -> None:
    def down(_: str) -> None:
        raise ConnectionError("no notary")

    audit = filled(3, anchor=down)

    with pytest.raises(ConnectionError):
        audit.drain()

    assert len(audit.bundle()["records"]) == 4


def test_an_anchor_may_send_events_itself() -> None:
    def tell(_: str) -> None:
        audit.export(event(run="run-9-9"))

    audit = filled(3, anchor=tell)

    first = audit.drain()

    assert len(first["records"]) == 4
    assert verify_audit([first, audit.bundle()]).records_checked == 6


def test_what_is_handed_out_changes_nothing_inside() -> None:
    audit = filled(3)

    audit.bundle()["records"][2]["payload"]["items"] = 999

    assert verify_audit(audit.bundle()).valid


def test_after_stop_nothing_is_taken_and_nothing_is_lost() -> None:
    audit = filled(3)

    asyncio.run(audit.stop())
    audit.export(event())
    asyncio.run(audit.flush())

    assert len(audit.drain()["records"]) == 4


def test_threads_that_send_at_once_make_one_whole_chain() -> None:
    audit = AuditExporter()
    segments: list[dict[str, Any]] = []

    def send(run: str) -> None:
        for number, each in enumerate(events(200, run=run)):
            audit.export(each)
            if number % 50 == 0 and run == "run-1-0":
                segments.append(audit.drain())

    threads = [threading.Thread(target=send, args=(f"run-1-{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    verdict = verify_audit([*segments, audit.drain()])
    assert (verdict.valid, verdict.records_checked, verdict.run_count) == (True, 804, 4)


def test_saving_appends_segments_to_a_file(tmp_path: Path) -> None:
    anchored: list[str] = []
    audit, path = AuditExporter(anchor=anchored.append), tmp_path / "run.audit.jsonl"

    for run in ("run-1-1", "run-1-2"):
        for each in events(5, run=run):
            audit.export(each)
        assert audit.save(path) == path
    audit.save(path)

    verdict = verify_audit_files([path], anchors=anchored)
    assert (verdict.valid, verdict.records_checked, verdict.segment_count, verdict.anchored_to) == (True, 12, 2, 11)
    assert audit.bundle()["records"] == []
    assert path.read_bytes().isascii()


def test_a_file_takes_one_chain_only(tmp_path: Path) -> None:
    path = tmp_path / "run.audit.jsonl"
    filled(3).save(path)
    before, other = path.read_bytes(), filled(5)

    with pytest.raises(AuditFileError, match="holds another chain"):
        other.save(path)

    assert path.read_bytes() == before
    assert len(other.bundle()["records"]) == 6


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_nothing_is_written_behind_a_torn_segment(tmp_path: Path, cut: int) -> None:
    audit, path = filled(3), tmp_path / "run.audit.jsonl"
    audit.save(path)
    path.write_bytes(path.read_bytes()[:-cut])
    audit.export(event())

    with pytest.raises(AuditFileError, match="does not end with a whole segment"):
        audit.save(path)

    assert len(audit.bundle()["records"]) == 1


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Buy milk.\n", encoding="utf-8")

    with pytest.raises(AuditFileError, match=r"notes\.txt"):
        filled(3).save(tmp_path / "notes.txt")

    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "Buy milk.\n"


def test_a_file_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    audit = filled(3)

    for path in (tmp_path, tmp_path / "not" / "there.jsonl", "a\0b"):
        with pytest.raises(FileProblemError, match="can't be written"):
            audit.save(path)

    assert len(audit.bundle()["records"]) == 4


def test_a_disk_that_is_full_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit, path = filled(3), tmp_path / "run.audit.jsonl"
    audit.save(path)
    before = path.read_bytes()
    audit.export(event())

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileProblemError, match="no space left"):
        audit.save(path)
    monkeypatch.undo()

    assert path.read_bytes() == before
    audit.save(path)
    assert verify_audit_files([path]).records_checked == 5


async def _never(_: str) -> None:
    """An anchor that nobody would await."""


@pytest.mark.parametrize(
    ("options", "option"),
    [({"payload_mode": "loud"}, "payload_mode"), ({"anchor": 3}, "anchor"), ({"anchor": _never}, "anchor")],
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], option: str) -> None:
    with pytest.raises(ConfigError) as caught:
        AuditExporter(**options)

    assert caught.value.option == option


def test_a_run_that_went_unseen_for_long_is_opened_again() -> None:
    audit = AuditExporter()
    audit.export(event(run="run-0-0"))

    for number in range(10_000):
        audit.export(event(run=f"run-1-{number}", payload={}))
    audit.export(event(run="run-0-0"))

    assert verify_audit(audit.bundle()).run_count == 10_002
