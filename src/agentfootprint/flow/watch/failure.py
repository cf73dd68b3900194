"""What was raised, asked so that it can do no harm: an exception of the user's may do anything when it is looked at.

`isinstance` asks an object for its `__class__`, which may raise; so may the name of its class, and taking a note.
"""

from __future__ import annotations

import contextlib
from typing import Final, TypeGuard, TypeVar

__all__ = ["UNREADABLE", "is_a", "issues_of", "message_of", "name_of", "noted"]

E = TypeVar("E", bound=BaseException)

UNREADABLE: Final = "[unserializable error]"
"""What is told of an exception that raises when it is looked at (FLOW-EXE-13)."""


def is_a(error: BaseException, kind: type[E]) -> TypeGuard[E]:
    """Whether an exception is of a kind, by its type alone."""
    return issubclass(type(error), kind)


def name_of(error: BaseException) -> str:
    """The name of an exception's class."""
    try:
        return str(type(error).__name__)
    except Exception:  # noqa: BLE001  a metaclass of the user's
        return "Exception"


def message_of(error: BaseException) -> str:
    """The message of an exception, without what our own add to it; one that can't be shown has none (FLOW-EXE-13)."""
    try:
        return str(error.args[0]) if error.args else str(error)
    except Exception:  # noqa: BLE001  an exception of the user's
        return UNREADABLE


def issues_of(error: BaseException) -> tuple[tuple[str, str], ...]:
    """Path and message of each thing that a validation found wrong, if the exception lists such in `issues`."""
    try:
        return tuple((".".join(map(str, issue.path)), str(issue.message)) for issue in getattr(error, "issues", ()))
    except Exception:  # noqa: BLE001  an attribute of the user's
        return ()


def noted(error: BaseException, text: str) -> None:
    """Add a note to an exception, if it takes any."""
    with contextlib.suppress(Exception):
        error.add_note(text)
