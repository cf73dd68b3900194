"""Which file does a run's record go to, and is it there from the first moment?

A file gets its name together with its first line, so that whatever kills the process leaves a recording. A file that is
there already is never written to: a second run with the same name is refused before it begins.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path
from typing import Final

from agentfootprint.errors import ConfigError
from agentfootprint.recording.sinks import recording_file_name

__all__ = ["OPTION", "open_file", "place_for", "reopened", "write_all"]

OPTION: Final = "record.spill"
_NO_LINKS: Final = frozenset((errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV))
_AGAIN: Final = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NEW: Final = _AGAIN | os.O_CREAT | os.O_EXCL
_MODE: Final = 0o666
"""Less what the process's own mask takes away, as every file."""


def place_for(path: str | os.PathLike[str], run_id: str) -> Path:
    """The file of a run: in a folder one of its own, `<run id>.jsonl`; else the file that is named.

    Args:
        path: A folder, made when it is not there; or a file, which is what has a suffix and is no folder.
        run_id: The run's.

    Raises:
        UnsafeRecordingIdError: The id of a run in a folder is no file name.
        ConfigError: The folder can't be made, or a file stands in its place.
    """
    place = Path(path)
    try:
        is_folder = place.is_dir()
        if not is_folder and place.suffix and not os.fspath(path).endswith(("/", os.sep)):
            return place
        name = f"{recording_file_name(run_id)}l"
        if not is_folder:
            place.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as there:
        raise ConfigError(
            OPTION,
            f"{OPTION} names {str(place)!r} as a folder, and a file stands there.",
            fix="Name a folder, or a file with a suffix that is not there yet, such as 'run.jsonl'.",
        ) from there
    except OSError as error:
        raise _unwritable(place, error) from error
    return place / name


def open_file(place: Path, first: bytes) -> int:
    """Make a file that begins with its first line; gives its descriptor, for appending.

    Args:
        place: Where; nothing may be there.
        first: The line, with its end.

    Raises:
        ConfigError: Something is there already, or it can't be written.
    """
    beside = place.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        file = os.open(beside, _NEW, _MODE)
        try:
            write_all(file, first)
            try:
                os.link(beside, place)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                os.close(file)
                file = -1
                file = _plain(place, first)
        except BaseException:
            if file >= 0:
                os.close(file)
            raise
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()
    except FileExistsError as there:
        raise ConfigError(
            OPTION,
            f"{OPTION} names {str(place)!r}, which is there already, from an earlier run or one that goes on.",
            fix="Name a folder: each run then gets a file of its own. Or remove the file, or name another one.",
        ) from there
    except OSError as error:
        raise _unwritable(place, error) from error
    return file


def _plain(place: Path, first: bytes) -> int:
    """The same where a file can't have two names for a moment."""
    file = os.open(place, _NEW, _MODE)
    try:
        write_all(file, first)
    except BaseException:
        os.close(file)
        with contextlib.suppress(OSError):
            place.unlink()
        raise
    return file


def reopened(place: Path) -> int:
    """A descriptor of a file that is there, for appending."""
    return os.open(place, _AGAIN)


def write_all(file: int, data: bytes) -> None:
    """Write to a descriptor, however often the system takes a part only."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _unwritable(place: Path, error: OSError) -> ConfigError:
    said = error.strerror or type(error).__name__
    if isinstance(error, FileNotFoundError):
        said = "its folder does not exist"
    return ConfigError(
        OPTION,
        f"{OPTION} names {str(place)!r}, which can't be written: {said[:1].lower()}{said[1:]}.",
        fix="Name a folder or file that this process may write to.",
    )
