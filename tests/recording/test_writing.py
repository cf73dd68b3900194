"""Tests of agentfootprint.recording.writing."""

from __future__ import annotations

import errno
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.recording import FileProblemError, Recording, write_file
from tests.recording.runs import agent_recording

posix = pytest.mark.skipif(os.name != "posix", reason="files of this kind are of POSIX")


@posix
def test_a_pipe_is_refused_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(FileProblemError, match="pipe' can't be written: it is a pipe, not a regular file"):
        agent_recording(1).save(pipe)

    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


@posix
def test_a_link_to_a_pipe_is_refused_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    link = tmp_path / "link"
    link.symlink_to("pipe")

    with pytest.raises(FileProblemError, match="link' can't be written: it is a pipe"):
        write_file(link, b"new")

    assert link.is_symlink()


def test_a_symlink_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "real").write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(folder / "real")

    given = write_file(link, b"new")

    assert given == link
    assert link.is_symlink()
    assert (folder / "real").read_bytes() == b"new"
    assert [each.name for each in folder.iterdir()] == ["real"]


def test_a_symlink_to_what_is_not_there_yet_makes_it(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("real")

    write_file(link, b"new")

    assert link.is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_that_is_there_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(b"old")
    path.chmod(mode)

    write_file(path, b"new")

    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "any").write_bytes(b"")

    write_file(tmp_path / "new", b"new")

    assert (tmp_path / "new").stat().st_mode == (tmp_path / "any").stat().st_mode


@posix
@pytest.mark.parametrize("length", [200, 250, 255])
def test_a_name_as_long_as_the_system_allows_works(length: int, tmp_path: Path) -> None:
    path = agent_recording(1).save(tmp_path / ("n" * length))

    assert Recording.load(path).answer is not None


@posix
def test_a_name_that_is_too_long_is_refused_as_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 300)

    with pytest.raises(FileProblemError) as caught:
        write_file(path, b"new")

    assert caught.value.problem == f"{str(path)!r} can't be written: file name too long."
    assert (caught.value.errno, caught.value.filename) == (errno.ENAMETOOLONG, str(path))


def test_a_full_disk_is_told_by_the_name_of_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", ".hidden.tmp")

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "run.json"

    with pytest.raises(FileProblemError) as caught:
        write_file(path, b"new")

    assert str(caught.value) == (
        f"{str(path)!r} can't be written: no space left on device. "
        "Make room, or name a file on another disk. [ERR_FILE]"
    )
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("path", "kind", "said"),
    [
        ("no/run.json", FileNotFoundError, "'no/run.json' can't be written: its folder does not exist."),
        ("folder", IsADirectoryError, "'folder' can't be written: it is a folder."),
        ("a\0b", OSError, "can't be written: it is no path."),
    ],
)
def test_what_the_system_refuses_is_of_the_systems_kind_and_ours(
    path: str, kind: type[OSError], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)

    with pytest.raises(kind) as caught:
        agent_recording(1).save(path)

    assert isinstance(caught.value, AgentFootprintError)
    assert said in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    ("path", "kind", "said"),
    [
        ("nowhere.json", FileNotFoundError, "'nowhere.json' can't be read: there is no such file."),
        ("folder", IsADirectoryError, "'folder' can't be read: it is a folder."),
        ("", IsADirectoryError, "'' can't be read: it is a folder."),
        ("a\0b", OSError, "can't be read: it is no path."),
    ],
)
def test_what_can_not_be_read_is_of_the_systems_kind_and_ours(
    path: str, kind: type[OSError], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)

    with pytest.raises(kind) as caught:
        Recording.load(path)

    assert isinstance(caught.value, FileProblemError)
    assert said in str(caught.value)
    assert caught.value.fix


def test_a_file_problem_survives_pickle(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        Recording.load(tmp_path / "nowhere.json")

    raised: Any = caught.value
    copied: Any = pickle.loads(pickle.dumps(raised))

    assert type(copied) is type(raised)
    assert (str(copied), copied.errno, copied.where) == (str(raised), errno.ENOENT, raised.filename)


KILLED = """
import os, sys
from agentfootprint.recording import write_file

os.fsync = lambda handle: os._exit(9)
write_file(sys.argv[1], b"half")
"""


@posix
def test_what_a_killed_process_left_is_removed_at_the_next_save_of_that_target_only(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.json", tmp_path / "other.json"
    for path in (mine, other):
        done = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 9, done.stderr
    left = {each.name for each in tmp_path.iterdir()}
    assert len(left) == 2

    write_file(mine, b"new")

    now = {each.name for each in tmp_path.iterdir()}
    assert len(now & left) == 1
    assert now - left == {"mine.json"}


@posix
def test_what_a_living_process_is_writing_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    seen: list[int] = []
    flush = os.fsync

    def meanwhile(handle: int) -> None:
        if not seen:
            seen.append(1)
            write_file(path, b"second")
        flush(handle)

    monkeypatch.setattr(os, "fsync", meanwhile)

    write_file(path, b"first")

    assert path.read_bytes() == b"first"
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]
