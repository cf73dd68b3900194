"""What is looked at before a run, or a part of one, exists: its message, its id."""

from __future__ import annotations

import itertools
import time
import unicodedata
from collections.abc import Mapping
from typing import Final, cast

from agentfootprint.agent.errors import InvalidRunInputError

__all__ = ["fresh_run_id", "read_message"]

_counter = itertools.count(1)
_SHOWN_KEYS: Final = 6
_UNSEEN: Final = ("Cc", "Cf")
"""Categories of characters without a form of their own: controls, and zero-width spaces and joiners."""


def fresh_run_id() -> str:
    """An id that no other run has."""
    return f"run-{int(time.time() * 1000)}-{next(_counter)}"


def read_message(runner: str, given: object) -> str:
    """The message of a run's input (AGT-10).

    Raises:
        InvalidRunInputError: It is no message; names the shape of what was given (AGT-11).
    """
    message = given
    if isinstance(given, Mapping) and "message" in given:
        message = cast("Mapping[str, object]", given)["message"]
    if isinstance(message, str) and any(map(_is_visible, message)):
        return message
    raise InvalidRunInputError(runner, _shape(message))


def _is_visible(char: str) -> bool:
    return char > " " and (char.isalnum() or (not char.isspace() and unicodedata.category(char) not in _UNSEEN))


def _shape(value: object) -> str:  # noqa: PLR0911  one answer a kind
    if value is None:
        return "null"
    if isinstance(value, str):
        return "an empty text" if not value else "a text of blanks only"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, Mapping):
        keys = [str(key) for key in cast("Mapping[object, object]", value)]
        shown = ", ".join(keys[:_SHOWN_KEYS])
        return f"an object with keys: {shown}" if keys else "an empty object"
    if isinstance(value, (list, tuple)):
        return f"an array of {len(cast('list[object]', value))}"
    return f"a {type(value).__name__}"
