"""Which agent does `--agent MODULE:ATTRIBUTE` mean? Imported from the current directory, as `python -m` would."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, cast

from agentfootprint.cli.errors import AgentFailedError, AgentNotFoundError, UsageError
from agentfootprint.cli.failing import their_code
from agentfootprint.errors import AgentFootprintError

if TYPE_CHECKING:
    from agentfootprint.explain import Rerunnable

__all__ = ["import_agent", "running_their_code"]

_MISSING: Final = object()
_RERUN: Final = ("without", "run")
_OUT: Final = 1
_ERR: Final = 2


def import_agent(named: str, *, option: str = "--agent", needed: Sequence[str] = _RERUN) -> Rerunnable:
    """Import the agent that a user named.

    Args:
        named: `MODULE:ATTRIBUTE`, such as `refunds:agent`; the attribute may have dots.
        option: Which option named it.
        needed: The methods that make it one.

    Raises:
        UsageError: The name has another form.
        AgentNotFoundError: The module can't be imported, has no such attribute, or it is no agent.
    """
    module_name, colon, attribute = named.rpartition(":")
    if not colon or not module_name or not attribute:
        raise UsageError(f"{option} {named!r} is no MODULE:ATTRIBUTE.", fix=f"Write it as in {option} refunds:agent.")
    if module_name.endswith(".py") or not all(module_name.split(".")) or "/" in module_name or "\\" in module_name:
        raise UsageError(f"{option} {named!r} names a file.", fix=_named_as_module(module_name, attribute, option))
    found = _attribute(_module(module_name), module_name, attribute)
    if not _is_agent(found, needed):
        raise AgentNotFoundError(
            f"{named} is of type {type(found).__name__}, not an agent.",
            fix=f"Name the Agent(...) {'that made the run' if needed == _RERUN else 'itself'}; in a function, "
            "give it a name at the top of the module.",
        )
    return cast("Rerunnable", found)


def _named_as_module(path: str, attribute: str, option: str) -> str:
    """What to type instead of the path of a module."""
    folder, _, name = path.replace("\\", "/").removesuffix(".py").rpartition("/")
    inside = folder.split("/")
    if ".." in inside or folder.startswith("/") or path.startswith("/") or ":" in folder:
        return f"Go to {folder or '/'}, and name the module: {option} {name}:{attribute}."
    dotted = ".".join(part for part in [*inside, *name.split(".")] if part not in ("", "."))
    return f"Name the module: {option} {dotted or 'refunds'}:{attribute}."


def _is_agent(found: object, needed: Sequence[str] = _RERUN) -> bool:
    """Whether something can be asked for what is needed, by default to be re-run; a class can't."""
    methods = (getattr(found, name, None) for name in needed)
    return not isinstance(found, type) and all(map(callable, methods))


def _module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        with _stdout_kept_free():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise AgentNotFoundError(
                f"Importing {name!r} needs the package {error.name!r}.", fix="Install it into this environment."
            ) from error
        raise AgentNotFoundError(
            f"There is no module {name!r} here.", fix="Go to the folder it is in, or install the package it belongs to."
        ) from error
    except AgentFootprintError:
        raise  # says by itself what is wrong with the agent
    except (Exception, SystemExit) as error:  # user's module: it may raise anything, and may mean to end the program
        raise AgentNotFoundError(
            f"Importing {name!r} raised {type(error).__name__}{_place(error)}.",
            fix=f'Mend it until this works: python -c "import {name}".',
        ) from error


def _place(error: BaseException) -> str:
    """Where the user's module failed; for a mistake of syntax where it stands, which no frame says."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" in {Path(error.filename).name}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).exists()]
    theirs = [frame for frame in frames if Path(frame.filename) not in (Path(__file__), Path(importlib.__file__))]
    return f" in {Path(theirs[-1].filename).name}:{theirs[-1].lineno}" if theirs else ""


def _attribute(module: ModuleType, module_name: str, attribute: str) -> object:
    found: object = module
    for part in attribute.split("."):
        known = [name for name in vars(found) if not name.startswith("_")] if hasattr(found, "__dict__") else []
        found = getattr(found, part, _MISSING)
        if found is _MISSING:
            near = difflib.get_close_matches(part, known, n=3, cutoff=0.5)
            agents = [name for name in known if _is_agent(getattr(module, name, None))]
            offered = list(dict.fromkeys([*agents, *near]))[:3]
            raise AgentNotFoundError(
                f"{module_name!r} has no {part!r}.",
                fix=f"It has {', '.join(offered)}." if offered else "Give the agent a name at the top of the module.",
            )
    return found


@contextmanager
def _stdout_kept_free() -> Generator[None]:
    """Let everything the user's code prints go to stderr, what it starts as processes of its own too."""
    with redirect_stdout(sys.stderr), _descriptor_kept_free():
        yield


@contextmanager
def _descriptor_kept_free() -> Generator[None]:
    try:
        _flush()
        kept = os.dup(_OUT)
        os.dup2(_ERR, _OUT)
    except OSError:  # one of the two is closed: there is nothing to keep free, or nowhere to send it
        yield
        return
    try:
        yield
    finally:
        _flush()
        os.dup2(kept, _OUT)
        os.close(kept)


def _flush() -> None:
    """What was printed before a change of the descriptor goes to where it was printed."""
    with suppress(OSError, ValueError):
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()


@contextmanager
def running_their_code() -> Generator[None]:
    """Keep stdout free of what the user's code prints, and tell its exceptions from a bug of ours.

    Raises:
        AgentFailedError: Something outside this package raised.
    """
    try:
        with _stdout_kept_free():
            yield
    except AgentFootprintError:
        raise
    except (Exception, SystemExit) as error:  # the user's agent may raise anything
        theirs = their_code(error)
        if theirs is None:
            raise
        raise AgentFailedError(*theirs) from error
