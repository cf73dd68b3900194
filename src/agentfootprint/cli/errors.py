"""What the command refuses by itself, before or beside the library, and how to mend it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "AddressError",
    "AgentFailedError",
    "AgentNotFoundError",
    "CliError",
    "FileAccessError",
    "NotACallError",
    "SpendingRefusedError",
    "UnknownIterationError",
    "UsageError",
]


class CliError(AgentFootprintError):
    """Base of what the command itself refuses."""

    code = "ERR_CLI"


class UsageError(CliError):
    """The words of a command line can't be read, or don't go together."""

    code = "ERR_USAGE"


class FileAccessError(CliError):
    """A file can't be read or written; `where` is its name as the user typed it."""

    code = "ERR_FILE"

    def __init__(self, problem: str, *, fix: str, where: str) -> None:
        super().__init__(problem, fix=fix)
        self.where = where


class AddressError(CliError):
    """An address can't be listened at; `where` is it."""

    code = "ERR_ADDRESS"

    def __init__(self, problem: str, *, where: str) -> None:
        super().__init__(
            problem, fix="Take another --port, or 0 for a free one; --host names an address of this machine."
        )
        self.where = where


class AgentNotFoundError(CliError):
    """The agent named by `--agent` can't be imported, or is no agent."""

    code = "ERR_AGENT_NOT_FOUND"


class AgentFailedError(CliError):
    """Code of the user's raised in a re-run; its own words are not printed, they may hold anything."""

    code = "ERR_AGENT_FAILED"

    def __init__(self, kind: str, where: str) -> None:
        super().__init__(
            f"The agent raised {kind} in {where}, so the proof was not finished.",
            fix="Mend it, or run the command again with -v to see the traceback.",
        )


def _pasteable(step: str) -> str:
    """A step id as a shell reads it back; `#` begins a comment only where a word begins."""
    return step if re.fullmatch(r"[\w/.-][\w/.#-]*", step, re.ASCII) else shlex.quote(step)


class NotACallError(CliError, LookupError):
    """The step asked about is there, and it is no model call; `known` are those that are."""

    code = "ERR_UNKNOWN_STEP"

    def __init__(self, step: str, known: Iterable[str], *, where: str) -> None:
        self.step = step
        self.known = tuple(known)
        self.where = where
        super().__init__(
            f"The step {step!r} is no model call, so it gave no answer.",
            fix=f"Use one of {', '.join(self.known[-3:])}. "
            f"What it did: agentfootprint show {shlex.quote(where)} {_pasteable(step)}.",
        )


class SpendingRefusedError(CliError):
    """A plan that costs money, or whose cost is not known, and nobody there to ask."""

    code = "ERR_SPENDING_NOT_ALLOWED"


class UnknownIterationError(CliError, LookupError):
    """A range of iterations that the run doesn't have."""

    code = "ERR_UNKNOWN_ITERATION"

    def __init__(self, asked: str, known: Iterable[int]) -> None:
        there = sorted(set(known))
        span = f"{there[0]} to {there[-1]}" if there else "none"
        super().__init__(
            f"There is no iteration {asked} in this run.",
            fix=f"It has {span}: --iteration {there[0]}..{there[-1]}." if there else "It made no model call.",
        )
