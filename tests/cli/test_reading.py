"""Tests of agentfootprint.cli.reading."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentfootprint.cli.errors import FileAccessError
from agentfootprint.cli.reading import check_file, check_target, kilobytes, open_recording, writing


def test_a_recording_is_opened(desk: Path) -> None:
    assert open_recording(desk / "run.json").user_message == "Should order A-1001 be refunded?"


@pytest.mark.parametrize(
    ("name", "said"),
    [("nothing.json", r"There is no file '.*nothing\.json'\."), ("folder", r"can't be read: it is a folder\.")],
)
def test_a_path_that_is_no_file_is_named(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()

    with pytest.raises(FileAccessError, match=said) as caught:
        check_file(tmp_path / name)

    assert caught.value.where == str(tmp_path / name)


def test_an_output_is_checked_before_anything_is_spent(tmp_path: Path) -> None:
    check_target(tmp_path / "out.json")

    with pytest.raises(FileAccessError, match=r"is a folder\. Name a file in it\."):
        check_target(tmp_path)
    with pytest.raises(FileAccessError, match=r"Create the folder '.*nowhere'"):
        check_target(tmp_path / "nowhere" / "out.json")


def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bool:
        return False

    monkeypatch.setattr(os, "access", refuse)

    with pytest.raises(FileAccessError, match="may not be written"):
        check_target(tmp_path / "out.json")


def test_a_failure_to_write_names_the_file_of_the_user(tmp_path: Path) -> None:
    said = r"out\.json' can't be written: no space left on device\."

    with pytest.raises(FileAccessError, match=said), writing(tmp_path / "out.json"):
        raise OSError(28, "No space left on device", "out.json.tmp")


@pytest.mark.parametrize(("size", "said"), [(0, "1 KB"), (1_499, "1 KB"), (48_000, "48 KB"), (2_500_000, "2,500 KB")])
def test_sizes_are_in_kilobytes(size: int, said: str) -> None:
    assert kilobytes(size) == said
