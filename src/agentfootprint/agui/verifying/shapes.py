"""Is an object an AG-UI event at all, with every optional member either there or left out?

Invariants (AGU-84): what is said of a fault names members and never values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from agentfootprint._optional import optional

with optional("ag_ui", extra="agui", needed_by="verify_events"):
    from ag_ui import core
    from pydantic import TypeAdapter, ValidationError

__all__ = ["shape_fault"]

_EVENT: Final = TypeAdapter[Any](core.Event)


def shape_fault(event: Mapping[str, Any]) -> tuple[str, str] | None:
    """Which rule an object breaks as a single event, and how; `None` for none.

    Args:
        event: The object that is sent.
    """
    try:
        read = _EVENT.validate_python(event)
    except ValidationError as misfit:
        where = ".".join(str(part) for part in misfit.errors()[0]["loc"][1:])
        return "shape", f"is no event of its type{f', at {where}' if where else ''}"
    null = _first_null(event, read.model_dump(mode="json", by_alias=True))
    return None if null is None else ("null", f"has null at {null}, where it should be left out")


def _first_null(sent: object, kept: object, path: str = "") -> str | None:
    """Where an optional member is null: writing the event again leaves it out."""
    if isinstance(sent, Mapping) and isinstance(kept, Mapping):
        written = cast("Mapping[str, Any]", kept)
        for key, value in cast("Mapping[str, Any]", sent).items():
            if value is None and key not in written:
                return f"{path}{key}"
            found = _first_null(value, written.get(key), f"{path}{key}.")
            if found is not None:
                return found
    elif isinstance(sent, list) and isinstance(kept, list):
        pairs = zip(cast("list[Any]", sent), cast("list[Any]", kept), strict=False)
        for index, (value, written) in enumerate(pairs):
            found = _first_null(value, written, f"{path}{index}.")
            if found is not None:
                return found
    return None
