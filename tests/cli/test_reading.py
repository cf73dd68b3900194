"""Tests of agentfootprint.cli.reading."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import pytest

from agentfootprint.cli.errors import FileAccessError
from agentfootprint.cli.reading import check_file, check_target, kilobytes, open_recording, writing
from agentfootprint.recording import NotARecordingError, UnsupportedRecordingFormatError
from tests.cli.commands import afp


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


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("sub/other.json", "agentfootprint import sub/other.json --to run.json."),
        ("sub/my log.json", "agentfootprint import 'sub/my log.json' --to run.json."),
        ("sub/run.json", "agentfootprint import sub/run.json --to imported.json."),
    ],
)
def test_a_file_that_is_no_recording_is_named_as_it_was_typed(name: str, command: str, desk: Path) -> None:
    (desk / "sub").mkdir()
    (desk / name).write_bytes(importable(desk))

    with pytest.raises(NotARecordingError) as caught:
        open_recording(Path(name))

    assert caught.value.problem == f'{name} is not a recording: it has no "snapshot".'
    assert (caught.value.where, caught.value.fix.endswith(command)) == (name, True)
    _, *words = shlex.split(caught.value.fix[caught.value.fix.index("agentfootprint import") :].rstrip("."))
    assert afp(*words).code == 0


def importable(desk: Path) -> bytes:
    return (desk / "log.json").read_bytes()


def test_a_file_that_is_cut_off_or_newer_is_named_as_it_was_typed(desk: Path) -> None:
    whole = (desk / "run.json").read_bytes()
    (desk / "sub").mkdir()
    (desk / "sub" / "cut.json").write_bytes(whole[: len(whole) // 2])
    (desk / "sub" / "new.json").write_bytes(whole.replace(b"runlog/1", b"runlog/99", 1))

    for name in ("sub/cut.json", "sub/new.json"):
        with pytest.raises(UnsupportedRecordingFormatError) as caught:
            open_recording(Path(name))
        assert caught.value.problem.startswith(f"{name} ")
        assert (caught.value.where, "import" in caught.value.fix) == (name, False)


def test_commands_in_errors_can_be_pasted(desk: Path) -> None:
    shutil.copy("run.json", "my run.json")

    unknown, no_call = afp("show", "my run.json", "nope#1"), afp("why", "my run.json", "--at", "tool-calls#22")
    imported = afp("import", "my run.json", "--to", "x.json")
    written = afp("import", "log.json", "--to", "my other.json")

    assert desk.is_dir()
    assert "show 'my run.json' --tree." in " ".join(unknown.err.split())
    assert "agentfootprint show 'my run.json' tool-calls#22." in " ".join(no_call.err.split())
    assert "agentfootprint why 'my run.json'" in " ".join(imported.err.split())
    assert written.err == "NEXT    agentfootprint why 'my other.json'\n"
    assert "agentfootprint why 'my run.json' --prove --agent MODULE:ATTR" in afp("why", "my run.json").out
