"""How does a file come to be where it is wanted, all of it or nothing?

What is written stands beside the target until it is whole, and is renamed then: a crash leaves the old file, or none,
and never half of one under the final name. A symlink is followed, a file that is there keeps its mode and its owner,
and nothing that is no regular file is ever replaced.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import socket
import stat
from pathlib import Path
from typing import Final

from agentfootprint.recording.errors import FileProblemError, file_problem

__all__ = ["write_file"]

_KINDS: Final = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISSOCK, "socket"),
)
_HOST: Final = hashlib.blake2b(socket.gethostname().encode(), digest_size=2).hexdigest()
"""Stands in the names of unfinished files: what a process of another machine left behind can't be judged here."""
_CAN_ASK: Final = os.name == "posix"
"""Whether a process can be asked after without harm; elsewhere signal 0 is no question."""


def write_file(path: Path | str, data: bytes) -> Path:
    """Put a file in place at once: written beside it, flushed to disk, renamed.

    What a process that was killed in the middle left beside the same target is removed on the way.

    Args:
        path: The file. A symlink is followed; a file that is there keeps its mode, and its owner where that is allowed.
        data: All of it.

    Returns:
        The path as given.

    Raises:
        FileProblemError: It can't be written, or is no regular file; an `OSError` of the same kind as the system's.
            Nothing is left behind, and what was there before still is.
    """
    given = Path(path)
    name = str(path)
    try:
        there = _there(given)
        if there is not None and not stat.S_ISREG(there.st_mode):
            raise _not_a_file(name, there.st_mode)
        _put(Path(os.path.realpath(given)), data, there)
    except FileProblemError:
        raise
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        raise file_problem(error, name, "written") from error
    return given


def _there(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _not_a_file(name: str, mode: int) -> FileProblemError:
    kind = next((word for is_kind, word in _KINDS if is_kind(mode)), "special file")
    number = errno.EISDIR if kind == "folder" else errno.EINVAL
    return file_problem(OSError(number, f"it is a {kind}, not a regular file"), name, "written")


def _put(target: Path, data: bytes, there: os.stat_result | None) -> None:
    _sweep(target)
    beside = target.with_name(f"{_prefix(target)}{os.getpid()}-{secrets.token_hex(3)}.tmp")
    mode = 0o666 if there is None else stat.S_IMODE(there.st_mode) & 0o777
    try:
        with os.fdopen(
            os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode), "wb"
        ) as file:
            if there is not None:
                _keep_rights(file.fileno(), there)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _keep_rights(handle: int, there: os.stat_result) -> None:
    """Give the new file the owner and the mode of the one it takes the place of."""
    if not hasattr(os, "fchown"):  # Windows: rights come from the folder
        return
    if (os.geteuid(), os.getegid()) != (there.st_uid, there.st_gid):
        with contextlib.suppress(OSError):  # only root may give a file away
            os.fchown(handle, there.st_uid, there.st_gid)
    os.fchmod(handle, stat.S_IMODE(there.st_mode))


def _prefix(target: Path) -> str:
    """How the names of unfinished files of a target begin: short, however long the target's is."""
    mark = hashlib.blake2b(os.fsencode(target.name), digest_size=6).hexdigest()
    return f".{mark}-{_HOST}-"


def _sweep(target: Path) -> None:
    """Remove what processes of this machine that are gone left beside a target."""
    if not _CAN_ASK:
        return
    prefix = _prefix(target)
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir(target.parent) if name.startswith(prefix) and name.endswith(".tmp")]  # noqa: PTH208  names are all that is needed
        for name in names:
            process = name.removeprefix(prefix).partition("-")[0]
            if process.isascii() and process.isdigit() and _is_gone(int(process)):
                target.with_name(name).unlink(missing_ok=True)


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _flush_folder(folder: Path) -> None:
    """Make the rename last through a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
