"""What does a tool's return value become: for the record, for the model, and for the loop?

Nothing that a tool returns or raises leaves here as an exception. What JSON can't hold is described to the model by its
type, never by its value (DEC-29).
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

import msgspec

from agentfootprint.errors import ConfigError
from agentfootprint.tools.boundaries import CoverageReading, read_coverage
from agentfootprint.tools.errors import ToolTimeoutError
from agentfootprint.trace import FrozenDict, Value, ValueRefusedError, compact_json, freeze

__all__ = [
    "NO_VALUE",
    "NO_VALUE_TEXT",
    "Executed",
    "ToolResult",
    "ToolStatus",
    "read_failure",
    "read_result",
    "result_text",
]

ToolStatus: TypeAlias = Literal["success", "failure", "denied", "invalid", "partial", "pending", "absent"]

NO_VALUE_TEXT: Final = "(this tool returned no value)"
"""What the model reads for a function that returned `None` (RES-2)."""

NO_VALUE: Final = msgspec.UNSET
"""The value of such a call: no key in `tool_end` (DEC-28)."""

_STATUSES: Final = get_args(ToolStatus)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A result together with what became of the call.

    Args:
        content: The result itself; `None` is JSON's null, which a plain `None` is not (DEC-28).
        status: What became of the call; absent is not the same as success (RES-6).
    """

    content: Value
    _: KW_ONLY
    status: ToolStatus | None = None

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        if self.status is not None and self.status not in _STATUSES:
            raise ConfigError(
                "ToolResult.status",
                f"ToolResult.status is {self.status!r}.",
                fix=f"Use one of: {', '.join(_STATUSES)}; or leave it out.",
            )


class Executed(msgspec.Struct, frozen=True):
    """What came of running a tool."""

    value: Value
    """For the record, frozen: the result, the text where there is an error, `NO_VALUE` where nothing was returned."""
    text: str
    """What the model reads, before any suffix."""
    is_error: bool = False
    """The tool raised, or returned what can't be recorded; an absence is no error (RES-4)."""
    exception: BaseException | None = None
    """What the tool raised."""
    refused_path: tuple[str | int, ...] | None = None
    """Where in the result the value stood that can't be recorded."""
    status: ToolStatus | None = None
    """As the tool said, else `absent` for an absence, else nothing."""
    coverage: CoverageReading | None = None
    """What the result declares about its reach."""


def result_text(value: Value) -> str:
    """The text of the tool message for a frozen value: a text as it is, anything else compact JSON (AGT-66)."""
    return value if type(value) is str else compact_json(value)


def read_result(tool: str, returned: object) -> Executed:
    """Read what a tool returned; never raises.

    Args:
        tool: The tool's name, for the log.
        returned: Anything.
    """
    if returned is None:
        return Executed(NO_VALUE, NO_VALUE_TEXT)
    status: ToolStatus | None = None
    if isinstance(returned, ToolResult):
        status, returned = returned.status, returned.content
    try:
        value = freeze(returned)
        text = result_text(value)
    except ValueRefusedError as refused:
        return _unrecordable(tool, returned, refused)
    except Exception as broken:  # noqa: BLE001  the user's objects: a serialiser of theirs may raise anything
        _log.warning("The result of the tool %r can't be recorded: %s.", tool, type(broken).__name__)
        text = f"[unstringifiable: {type(broken).__name__}]"
        return Executed(text, text, is_error=True, refused_path=())
    coverage = read_coverage(value) if type(value) is FrozenDict else None
    if status is None and coverage is not None:
        status = coverage.status
    return Executed(value, text, status=status, coverage=coverage)


def read_failure(failure: BaseException) -> Executed:
    """Read what a tool raised: the model gets the exception's own message (AGT-68)."""
    try:
        text = failure.problem if isinstance(failure, ToolTimeoutError) else str(failure)
        text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate can't be recorded
    except Exception as broken:  # noqa: BLE001  a __str__ of the user's
        text = f"[unstringifiable: {type(broken).__name__}]"
    text = text if text.strip() else type(failure).__name__
    return Executed(text, text, is_error=True, exception=failure)


def _unrecordable(tool: str, returned: object, refused: ValueRefusedError) -> Executed:
    _log.warning("The result of the tool %r can't be recorded: %s", tool, refused.problem)
    if refused.found.endswith("contains itself"):
        text = "[unstringifiable: it contains itself]"
    elif refused.found.endswith("nested too deeply"):
        text = "[unstringifiable: it is nested too deeply]"
    else:
        culprit = _at(returned, refused.path)
        if inspect.iscoroutine(culprit):
            culprit.close()  # nobody will await it any more
        text = f"[unserializable: {type(culprit).__name__}]"
    return Executed(text, text, is_error=True, refused_path=refused.path)


def _at(value: object, path: tuple[str | int, ...]) -> object:
    """What stands at a path of a returned value, or the nearest to it that can be reached."""
    for part in path:
        try:
            value = _member(value, part)
        except Exception:  # noqa: BLE001  the user's objects, which may raise anything when read
            return value
    return value


def _member(value: object, part: str | int) -> object:
    if isinstance(part, int):
        return cast("Sequence[object]", value)[part]
    return cast("Mapping[str, object]", value)[part] if isinstance(value, Mapping) else getattr(value, part)
