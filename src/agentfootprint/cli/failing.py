"""How is a failure said, and with which exit code does the command end?

Two lines: what was wrong, and what to do, as something to paste; with JSON the same as one document on stdout. A
traceback is printed only with `-v`; that of a bug of ours is kept in a file (experience, sections 10 and 11).
"""

from __future__ import annotations

import os
import sysconfig
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.cli.errors import FileAccessError, UsageError
from agentfootprint.errors import AgentFootprintError
from agentfootprint.explain import display_width, escaped, folded

if TYPE_CHECKING:
    from agentfootprint.cli.streams import Streams

__all__ = [
    "BUG",
    "CANNOT",
    "DONE",
    "INTERRUPTED",
    "SAYS_NO",
    "error_document",
    "error_text",
    "report_failure",
    "their_code",
    "usage_error",
]

DONE: Final = 0
SAYS_NO: Final = 1
CANNOT: Final = 2
BUG: Final = 70
INTERRUPTED: Final = 130

_PACKAGE: Final = str(Path(__file__).resolve().parents[1])
_INSTALLED: Final = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class _BugError(AgentFootprintError):
    """A mistake of this library."""

    code = "ERR_INTERNAL"


def report_failure(streams: Streams, error: BaseException) -> int:
    """Say what went wrong and give the exit code.

    Args:
        streams: Where to say it.
        error: What was raised, by the library, by the parser, or by mistake.
    """
    if isinstance(error, KeyboardInterrupt):
        streams.warn("Interrupted.")
        return INTERRUPTED
    said, code = _said(error)
    if streams.choices.verbose:
        streams.complain("".join(traceback.format_exception(error)).rstrip("\n"))
    if streams.as_json:
        streams.json(error_document(said))
    else:
        streams.complain(error_text(said, width=streams.error_width))
    return code


def _said(error: BaseException) -> tuple[AgentFootprintError, int]:
    """The error in our words, and its exit code."""
    if isinstance(error, AgentFootprintError):
        return error, CANNOT
    usage = usage_error(error)
    if usage is not None:
        return usage, CANNOT
    if isinstance(error, OSError) and error.filename is not None:
        name = str(error.filename)
        reason = (error.strerror or type(error).__name__).lower()
        said = FileAccessError(
            f"{name!r} can't be used: {reason}.",
            fix="Check the path and its permissions, or name another file.",
            where=name,
        )
        return said, CANNOT
    return _bug(error), BUG


def usage_error(error: BaseException) -> UsageError | None:
    """What the parser refused, in our form; `None` for anything else.

    The parser's errors are known by what they offer, because Typer has them from Click or brings them itself.
    """
    message = getattr(error, "format_message", None)
    if not callable(message) or not hasattr(error, "exit_code"):
        return None
    context: Any = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "agentfootprint")
    problem = " ".join(str(message()).split())
    return UsageError(problem if problem.endswith((".", "?")) else f"{problem}.", fix=f"See {command} --help.")


def _bug(error: BaseException) -> AgentFootprintError:
    kept = _keep_traceback(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {_short(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return _BugError(
        f"agentfootprint failed with {type(error).__name__}{place}.",
        fix=f"Report this line; the traceback was written to {kept}." if kept else "Report this line; -v shows more.",
    )


def _keep_traceback(error: BaseException) -> str | None:
    try:
        number, name = tempfile.mkstemp(prefix="agentfootprint-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("".join(traceback.format_exception(error)))
    except OSError:
        return None
    return name


def _short(filename: str) -> str:
    """A file of ours from the package's name on, another one by its name."""
    if filename.startswith(_PACKAGE):
        return f"agentfootprint{filename[len(_PACKAGE) :]}"
    return Path(filename).name


def their_code(error: BaseException) -> tuple[str, str] | None:
    """Whether an exception comes from code of the user's: its type, and `file:line`; `None` for a bug of ours.

    The innermost frame that belongs to either side decides; the standard library and installed packages are neither.

    Args:
        error: What was raised while code of the user's could run.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(_PACKAGE):
            return None
        if not frame.filename.startswith(_INSTALLED) and Path(frame.filename).exists():
            return type(error).__name__, f"{_short(frame.filename)}:{frame.lineno}"
    return None


def error_text(error: AgentFootprintError, *, width: int = 80) -> str:
    """The two lines: the problem with its code at the right, and the fix."""
    code = f"[{error.code}]"
    lines = folded(escaped(error.problem), width, start="error: ", rest=" " * 7)
    room = width - 1 - display_width(lines[-1])
    if room >= len(code) + 2:
        lines[-1] += code.rjust(room)
    else:
        lines.append(code.rjust(width - 1))
    return "\n".join([*lines, *folded(escaped(error.fix), width, start="  fix: ", rest=" " * 7)])


def error_document(error: AgentFootprintError) -> dict[str, Any]:
    """The same as JSON: `{"error": {code, problem, fix, where}}`."""
    document = error.to_wire()
    where = getattr(error, "where", None)
    return {"error": {**document["error"], **({"where": where} if where else {})}}
