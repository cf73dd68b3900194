"""What may a caller give a run? An object of JSON values, which nobody can change from then on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from agentfootprint.flow.errors import InputValidationError
from agentfootprint.trace import FrozenDict, ValueRefusedError, freeze

__all__ = ["Given", "object_given"]

Given: TypeAlias = "Mapping[str, Any] | FrozenDict | None"
"""What a caller may give a run: an object, frozen already or not."""
_NOTHING: Final = FrozenDict({})


def object_given(what: str, value: Given) -> FrozenDict:
    """What a caller gave a run, made unchangeable; nothing is the empty object.

    Raises:
        InputValidationError: It is no object of JSON values; `what` says which of the run's inputs it is.
    """
    if value is None:
        return _NOTHING
    try:
        frozen = freeze(value)
    except ValueRefusedError as refused:
        raise InputValidationError(
            f"The run's {what} can't be recorded: {refused.problem}", fix=refused.fix
        ) from refused
    if not isinstance(frozen, FrozenDict):
        raise InputValidationError(
            f"The run's {what} is a {type(value).__name__}, not an object.", fix="Give a mapping from names to values."
        )
    return frozen
