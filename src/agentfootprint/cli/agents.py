"""Which agent does `--agent MODULE:ATTRIBUTE` mean? Imported from the current directory, as `python -m` would."""

from __future__ import annotations

import difflib
import importlib
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
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


def import_agent(named: str) -> Rerunnable:
    """Import the agent that a user named.

    Args:
        named: `MODULE:ATTRIBUTE`, such as `refunds:agent`; the attribute may have dots.

    Raises:
        UsageError: The name has another form.
        AgentNotFoundError: The module can't be imported, has no such attribute, or it is no agent.
    """
    module_name, colon, attribute = named.partition(":")
    if not colon or not module_name or not attribute:
        raise UsageError(f"--agent {named!r} is no MODULE:ATTRIBUTE.", fix="Write it as in --agent refunds:agent.")
    if module_name.endswith(".py"):
        dotted = module_name.removesuffix(".py").replace("/", ".").replace("\\", ".").strip(".")
        raise UsageError(f"--agent {named!r} names a file.", fix=f"Name the module: --agent {dotted}:{attribute}.")
    found = _attribute(_module(module_name), module_name, attribute)
    if not _is_agent(found):
        raise AgentNotFoundError(
            f"{named} is of type {type(found).__name__}, not an agent.",
            fix="Name the Agent(...) that made the run; in a function, give it a name at the top of the module.",
        )
    return cast("Rerunnable", found)


def _is_agent(found: object) -> bool:
    """Whether something can be re-run; a class can't."""
    needed = (getattr(found, name, None) for name in ("without", "run"))
    return not isinstance(found, type) and all(map(callable, needed))


def _module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        with redirect_stdout(sys.stderr):  # stdout is for the result, whatever the module prints
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
    except Exception as error:  # user's module: it may raise anything
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise AgentNotFoundError(
            f"Importing {name!r} raised {type(error).__name__} in {Path(last.filename).name}:{last.lineno}.",
            fix=f'Mend it until this works: python -c "import {name}".',
        ) from error


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
def running_their_code() -> Generator[None]:
    """Keep stdout free of what the user's code prints, and tell its exceptions from a bug of ours.

    Raises:
        AgentFailedError: Something outside this package raised.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except AgentFootprintError:
        raise
    except Exception as error:  # the user's agent may raise anything
        theirs = their_code(error)
        if theirs is None:
            raise
        raise AgentFailedError(*theirs) from error
