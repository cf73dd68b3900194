"""Which files did the user mean, to read and to write? Every refusal names the file as it was typed."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agentfootprint.cli.errors import FileAccessError

if TYPE_CHECKING:
    from agentfootprint.explain import UnknownStepError
    from agentfootprint.recording import Recording

__all__ = ["check_file", "check_target", "kilobytes", "open_recording", "pasteable", "unknown_step", "writing"]


def check_file(path: Path) -> None:
    """Refuse a path that is no readable file, before anybody tries to understand it.

    Raises:
        FileAccessError: It is not there, it is a folder, or it may not be read.
    """
    name = str(path)
    try:
        with path.open("rb"):
            return
    except FileNotFoundError as error:
        problem, fix = f"There is no file {name!r}.", "Check the path, or make one: agentfootprint demo."
        raise FileAccessError(problem, fix=fix, where=name) from error
    except OSError as error:
        reason = {errno.EISDIR: "it is a folder", errno.EACCES: "it may not be read"}.get(
            error.errno or 0, (error.strerror or "it can't be opened").lower()
        )
        raise FileAccessError(
            f"{name!r} can't be read: {reason}.", fix="Name the file of a recording, such as run.json.", where=name
        ) from error


def open_recording(path: Path) -> Recording:
    """Read a recording, in either form.

    Raises:
        FileAccessError: The file can't be read.
        UnsupportedRecordingFormatError: It is no recording, is cut off, or comes from a newer version.
    """
    from agentfootprint.recording import NotARecordingError, Recording, UnsupportedRecordingFormatError

    check_file(path)
    try:
        return Recording.load(path)
    except UnsupportedRecordingFormatError as error:
        if error.where is None:
            raise
        typed, fix = str(path), error.fix
        if isinstance(error, NotARecordingError) and "agentfootprint import" in fix:
            to = "imported.json" if path.name == "run.json" else "run.json"  # never onto the file itself
            fix = (
                "Write one with result.recording.save(...), or convert a trace with "
                f"agentfootprint import {pasteable(path)} --to {to}."
            )
        problem = error.problem
        if problem.startswith(f"{error.where} "):
            problem = typed + problem[len(error.where) :]
        kind = NotARecordingError if isinstance(error, NotARecordingError) else UnsupportedRecordingFormatError
        raise kind(problem, fix=fix, where=typed) from error


def pasteable(path: Path) -> str:
    """The path as a shell reads it back, for a command in the output."""
    return shlex.quote(str(path))


def unknown_step(step: str, known: Iterable[str], *, where: str) -> UnknownStepError:
    """The refusal of a step that is not there, with the file in its command as a shell reads it back."""
    from agentfootprint.explain import UnknownStepError

    error = UnknownStepError(step, known, where=where)
    error.fix = error.fix.replace(f"show {where} ", f"show {shlex.quote(where)} ")
    return error


def check_target(path: Path) -> None:
    """Refuse an output file that can't be written, before anything is spent on what goes into it.

    Raises:
        FileAccessError: Its folder is not there or may not be written, or the path is a folder.
    """
    name, folder = str(path), path.parent
    if path.is_dir():
        raise FileAccessError(f"{name!r} is a folder.", fix="Name a file in it.", where=name)
    if not folder.is_dir():
        raise FileAccessError(
            f"{name!r} is in a folder that does not exist.", fix=f"Create the folder {str(folder)!r}.", where=name
        )
    if not os.access(folder, os.W_OK):
        raise FileAccessError(
            f"{name!r} is in a folder that may not be written.", fix="Name a file in a folder of your own.", where=name
        )


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Name the file as the user typed it when it can't be written.

    Raises:
        FileAccessError: It can't.
    """
    try:
        yield
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise FileAccessError(
            f"{str(path)!r} can't be written: {reason}.", fix="Name another file, or make room.", where=str(path)
        ) from error


def kilobytes(size_bytes: int) -> str:
    """The size of a file: `48 KB`, a thousand bytes each, at least 1."""
    return f"{max(1, round(size_bytes / 1000)):,} KB"
