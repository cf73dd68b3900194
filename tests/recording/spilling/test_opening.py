"""Tests of agentfootprint.recording.spilling.opening."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.recording import UnsafeRecordingIdError
from agentfootprint.recording.spilling.opening import open_file, place_for


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_gets_a_file_for_each_run(tmp_path: Path) -> None:
    assert place_for(tmp_path, "run-1-2") == tmp_path / "run-1-2.jsonl"
    assert place_for(str(tmp_path), "run-1-3") == tmp_path / "run-1-3.jsonl"


@pytest.mark.parametrize("name", ["runs", "deep/er/runs", "runs.d/"])
def test_a_folder_that_is_not_there_is_made(tmp_path: Path, name: str) -> None:
    place = place_for(f"{tmp_path}/{name}", "run-1")

    assert place == tmp_path / name / "run-1.jsonl"
    assert place.parent.is_dir()


def test_a_folder_with_a_suffix_is_one_when_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "runs.d").mkdir()

    assert place_for(tmp_path / "runs.d", "run-1") == tmp_path / "runs.d" / "run-1.jsonl"


def test_what_has_a_suffix_is_a_file(tmp_path: Path) -> None:
    assert place_for(tmp_path / "run.jsonl", "any RUN") == tmp_path / "run.jsonl"


@pytest.mark.parametrize("run_id", ["../x", "A", "a/b", "con", "", "x" * 201, "a\n"])
def test_a_run_id_that_is_no_file_name_gets_no_file_in_a_folder(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(UnsafeRecordingIdError):
        place_for(tmp_path, run_id)


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")

    for path in (tmp_path / "runs", tmp_path / "runs" / "inner"):
        with pytest.raises(ConfigError, match=r"record\.spill names '.*runs.*as a folder") as refused:
            place_for(path, "run-1")
        assert refused.value.option == "record.spill"


def test_a_file_is_there_with_its_first_line_and_nothing_beside_it(tmp_path: Path) -> None:
    file = open_file(tmp_path / "run.jsonl", b'{"a":1}\n')
    os.write(file, b"more\n")
    os.close(file)

    assert (tmp_path / "run.jsonl").read_bytes() == b'{"a":1}\nmore\n'
    assert left_in(tmp_path) == ["run.jsonl"]


def test_a_file_that_is_there_is_refused_by_name_and_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_bytes(b"mine")

    with pytest.raises(ConfigError, match=r"record\.spill names '.*run\.jsonl', which is there already") as refused:
        open_file(tmp_path / "run.jsonl", b"{}\n")

    assert refused.value.option == "record.spill"
    assert "folder" in refused.value.fix
    assert (tmp_path / "run.jsonl").read_bytes() == b"mine"
    assert left_in(tmp_path) == ["run.jsonl"]


def test_a_file_whose_folder_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"can't be written: its folder does not exist"):
        open_file(tmp_path / "no" / "run.jsonl", b"{}\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(ConfigError, match=r"can't be written: permission denied"):
            open_file(tmp_path / "run.jsonl", b"{}\n")
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_a_full_disk_is_refused_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_file: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("agentfootprint.recording.spilling.opening.os.write", full)
        with pytest.raises(ConfigError, match=r"can't be written: no space left on device"):
            open_file(tmp_path / "run.jsonl", b"{}\n")

    assert left_in(tmp_path) == []


def test_a_file_system_without_second_names_still_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    with monkeypatch.context() as patched:
        patched.setattr("agentfootprint.recording.spilling.opening.os.link", no_link)
        os.close(open_file(tmp_path / "run.jsonl", b"{}\n"))
        with pytest.raises(ConfigError, match=r"is there already"):
            open_file(tmp_path / "run.jsonl", b"{}\n")

    assert left_in(tmp_path) == ["run.jsonl"]
    assert (tmp_path / "run.jsonl").read_bytes() == b"{}\n"
