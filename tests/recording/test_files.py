"""Tests of agentfootprint.recording.files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.recording import Recording, RunFacts, UnsupportedRecordingFormatError, build_recording_envelope
from tests.recording.runs import DATA, agent_recording, planted

WIRE: dict[str, Any] = {"snapshot": {"commitLog": [], "sharedState": {}}, "events": []}


def saved(path: Path, content: Any) -> Path:
    data = content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode()
    path.write_bytes(data)
    return path


def test_a_recording_is_recognised_by_its_content(tmp_path: Path) -> None:
    recording = agent_recording(2)
    facts = RunFacts(complete=True)
    files = {
        "native": recording.save(tmp_path / "native.txt"),
        "wire": recording.save(tmp_path / "wire", form="wire"),
        "envelope": saved(tmp_path / "envelope.json", build_recording_envelope(recording, run=facts)),
        "native envelope": saved(
            tmp_path / "native.envelope", build_recording_envelope(recording, run=facts, form="native")
        ),
        "indented": saved(tmp_path / "indented", json.dumps(recording.to_wire(), indent=2).encode()),
    }

    found = {name: Recording.load(path) for name, path in files.items()}

    assert {name: each.native for name, each in found.items()} == {
        "native": True,
        "wire": False,
        "envelope": False,
        "native envelope": True,
        "indented": False,
    }
    for each in found.values():
        assert each.to_wire() == recording.to_wire()
        assert each.answer == recording.answer


NO_RECORDINGS: list[tuple[Any, str]] = [
    (b"", r"it is empty"),
    (b"  \n", r"it is empty"),
    (b"not json", r"it is not JSON"),
    (b"\xff\xfe\x00", r"it is not JSON"),
    (b"[]", r"it is JSON, but not one object"),
    ({}, r'it has no "snapshot"'),
    ({"snapshot": None}, r'it has no "snapshot"'),
    ({"snapshot": {}}, r'it has no "snapshot\.commitLog"'),
    ({"snapshot": {"commitLog": 3}}, r'its "snapshot\.commitLog" is not'),
    ({"snapshot": {"commitLog": [3]}}, r'its "snapshot\.commitLog\[0\]" is not'),
    ({"snapshot": {"commitLog": [], "sharedState": []}}, r'its "snapshot\.sharedState" is not'),
    ({**WIRE, "events": {}}, r'its "events" is not'),
    ({**WIRE, "events": [{"type": "a.b", "payload": {}}, {"type": 3}]}, r'its "events\[1\]" is not'),
    ({**WIRE, "structure": []}, r'its "structure" is not'),
    ({"description": "a sample", "recording": WIRE}, r'it has no "snapshot"'),
    ({"format": "agentfootprint.recording.v1"}, r'it has no "recording"'),
    ({"format": "agentfootprint.recording.v1", "recording": []}, r'its "recording" is not what the format'),
    ({"format": "agentfootprint.recording.native/1", "recording": WIRE}, r'its "recording" is not what the format'),
    ({"format": "somebody.else/1", "recording": WIRE}, r'it has no "snapshot"'),
]


@pytest.mark.parametrize(("content", "problem"), NO_RECORDINGS)
def test_what_is_no_recording_is_refused_naming_what_is_missing(content: Any, problem: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "run.json", content)

    with pytest.raises(UnsupportedRecordingFormatError, match=problem) as caught:
        Recording.load(path)

    assert caught.value.code == "ERR_NOT_RECORDING"
    assert str(caught.value).startswith("run.json ")
    assert "result.recording.save(...)" in caught.value.fix


def test_the_words_are_those_of_the_experience_page(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.json", {"events": []})

    with pytest.raises(UnsupportedRecordingFormatError) as caught:
        Recording.load(path)

    assert caught.value.problem == 'run.json is not a recording: it has no "snapshot".'
    assert caught.value.fix == (
        "Write one with result.recording.save(...), or convert a trace with agentfootprint import run.json."
    )


@pytest.mark.parametrize("cut", [10, 1000, -1])
def test_a_wire_file_that_is_cut_off_is_refused(cut: int, tmp_path: Path) -> None:
    path = saved(tmp_path / "run.json", json.dumps(planted()).encode()[:cut])

    with pytest.raises(UnsupportedRecordingFormatError, match=r"run\.json is cut off: its JSON ends after") as caught:
        Recording.load(path)

    assert caught.value.code == "ERR_NOT_RECORDING"


@pytest.mark.parametrize("name", ["agentfootprint.recording.v2", "agentfootprint.recording.packed.v1"])
def test_a_newer_format_is_refused_naming_both(name: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "run.json", {"format": name, "recording": WIRE})

    with pytest.raises(UnsupportedRecordingFormatError, match=rf"{name}'; this version reads .*v1'") as caught:
        Recording.load(path)

    assert caught.value.code == "ERR_UNSUPPORTED_RECORDING_FORMAT"


def test_a_recording_of_the_reference_without_events_opens() -> None:
    loan = json.loads((DATA / "explain" / "loan.recording.json").read_text(encoding="utf-8"))["recording"]

    recording = Recording.from_wire(loan)

    assert (recording.answer, [*recording.calls], recording.flags, recording.ended) == (None, [], (), None)
    assert recording.value_at("dti") == 0.035
    assert recording.reads_of("adjudicate#2") == ("creditScore", "dti")
    assert recording.to_wire() == loan


def test_a_missing_file_is_an_ordinary_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Recording.load(tmp_path / "nowhere.json")
    with pytest.raises(FileNotFoundError):
        agent_recording(1).save(tmp_path / "no" / "folder" / "run.json")


@pytest.mark.parametrize("form", ["native", "wire"])
def test_saving_gives_the_path_and_leaves_nothing_beside_the_file(form: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("what was there before", encoding="utf-8")

    given = agent_recording(1).save(str(path), form=form)

    assert given == path
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]
    assert Recording.load(path).answer is not None


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    path.write_text("what was there before", encoding="utf-8")
    recording = agent_recording(1)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    if where == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "replace", full)

    with pytest.raises(OSError, match="no space left"):
        recording.save(path)

    assert [(each.name, each.read_text(encoding="utf-8")) for each in tmp_path.iterdir()] == [
        ("run.json", "what was there before")
    ]


KILLED = """
import os, sys
from pathlib import Path
from agentfootprint import Agent, Mock

recording = Agent(Mock("A long answer. " * 2000)).run_sync("hello").recording
os.fsync = lambda handle: os._exit(9)
recording.save(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("before", [None, "what was there before"])
def test_a_process_that_dies_in_the_middle_of_a_save_leaves_no_half_file(before: str | None, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    if before is not None:
        path.write_text(before, encoding="utf-8")

    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True, check=False)

    assert done.returncode == 9, done.stderr
    assert (path.read_text(encoding="utf-8") if path.exists() else None) == before


def native_lines(tmp_path: Path) -> list[bytes]:
    return agent_recording(1).save(tmp_path / "whole.json").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\n\r\n", b"\xef\xbb\xbf\n  "])
@pytest.mark.parametrize("form", ["native", "wire"])
def test_a_byte_order_mark_and_empty_lines_before_a_recording_are_passed_over(
    before: bytes, form: Any, tmp_path: Path
) -> None:
    recording = agent_recording(1)
    data = recording.save(tmp_path / "whole.json", form=form).read_bytes()

    found = Recording.load(saved(tmp_path / "run.json", before + data))

    assert found.answer == recording.answer


@pytest.mark.parametrize("name", ["agentfootprint.recording/99", "somebody.else/1", "agentfootprint.runlog/99"])
def test_lines_of_an_unknown_format_are_refused_naming_it(name: str, tmp_path: Path) -> None:
    first, *lines = native_lines(tmp_path)
    header = {**json.loads(first), "format": name}
    path = saved(tmp_path / "run.json", b"".join([json.dumps(header).encode() + b"\n", *lines]))

    with pytest.raises(UnsupportedRecordingFormatError, match=f"has the format '{name}'; this version reads") as caught:
        Recording.load(path)

    assert caught.value.code == "ERR_UNSUPPORTED_RECORDING_FORMAT"


def test_a_native_file_says_how_its_lines_are_miscounted(tmp_path: Path) -> None:
    lines = native_lines(tmp_path)
    count = len(lines)
    changed = {
        "longer": [*lines, lines[-1]],
        "with rubbish": [*lines, b"rubbish"],
        "twice": [*lines, *lines],
        "shorter": lines[:-1],
        "cut": [*lines[:-1], lines[-1][:-5]],
        "broken": [*lines[:2], b"rubbish\n", *lines[3:]],
    }

    said: dict[str, str] = {}
    for name, each in changed.items():
        with pytest.raises(UnsupportedRecordingFormatError) as caught:
            Recording.load(saved(tmp_path / "run.json", b"".join(each)))
        said[name] = caught.value.problem

    assert said == {
        "longer": f"run.json is damaged: its header says {count} lines, and there are {count + 1}.",
        "with rubbish": f"run.json is damaged: its header says {count} lines, and there are {count + 1}.",
        "twice": f"run.json is damaged: its header says {count} lines, and there are {2 * count}.",
        "shorter": f"run.json is cut off: it has {count - 1} of {count} lines.",
        "cut": f"run.json is cut off in line {count} of {count}.",
        "broken": "run.json is damaged: line 3 is not JSON.",
    }


def test_one_byte_is_one_byte(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedRecordingFormatError, match=r"its JSON ends after 1 byte, in the middle"):
        Recording.load(saved(tmp_path / "run.json", b"{"))


@pytest.mark.parametrize("events", ["missing", None, []])
def test_a_wire_file_whose_log_has_model_calls_and_that_has_no_events_is_refused(events: Any, tmp_path: Path) -> None:
    wire = planted()
    if events == "missing":
        del wire["events"]
    else:
        wire["events"] = events

    with pytest.raises(UnsupportedRecordingFormatError, match=r'"events"') as caught:
        Recording.load(saved(tmp_path / "run.json", wire))

    assert caught.value.code == "ERR_NOT_RECORDING"


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ("missing", r'it has no "events\[\d+\]\.meta"'),
        (None, r'it has no "events\[\d+\]\.meta"'),
        ({}, r'it has no "events\[\d+\]\.meta\.runtimeStageId"'),
        (3, r'(it has no|its) "events\[\d+\]\.meta"'),
    ],
)
def test_events_that_do_not_say_where_they_happened_are_refused(meta: Any, said: str, tmp_path: Path) -> None:
    wire = planted()
    for event in wire["events"]:
        if meta == "missing":
            del event["meta"]
        else:
            event["meta"] = meta

    with pytest.raises(UnsupportedRecordingFormatError, match=said):
        Recording.load(saved(tmp_path / "run.json", wire))
