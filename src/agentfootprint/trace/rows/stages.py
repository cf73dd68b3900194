"""How is a chart's stage written down, so that a log can be read without the chart?

Only what differs from the default is written. Reading checks every member's kind and that all numbers name stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from agentfootprint.trace.rows.journal import StageInfo
from agentfootprint.trace.text import wire_key

__all__ = ["check_links", "stage_from_wire", "stage_to_wire"]

_SKIPPED: Final = frozenset(("number", "local_id", "path"))


def stage_to_wire(stage: StageInfo) -> dict[str, Any]:
    """A stage as JSON."""
    found: dict[str, Any] = {}
    for name, key in _KEYS:
        value = getattr(stage, name)
        if value != _DEFAULTS.get(name, msgspec.NODEFAULT):
            found[key] = value
    local, path = _implied_place(stage.id)
    if stage.local_id != local:
        found["localId"] = stage.local_id
    if stage.path != path:
        found["path"] = stage.path
    return found


def stage_from_wire(number: int, found: Mapping[str, Any]) -> StageInfo:
    """A stage from JSON.

    Args:
        number: Its place in the chart.
        found: What `stage_to_wire` made.

    Raises:
        KeyError: A member is missing.
        TypeError: A member is of another kind.
    """
    local, path = _implied_place(found["id"])
    fields = {name: _tuples(found[key]) for name, key in _KEYS if key in found}
    fields |= {"number": number, "local_id": found.get("localId", local), "path": _tuples(found.get("path", path))}
    for name, value in fields.items():
        if not _fits(name, value):
            raise TypeError(f"chart.stages[{number}].{name}")
    return StageInfo(**fields)


def _fits(name: str, value: Any) -> bool:  # noqa: ANN401  a member of a stage
    """Whether a member of a stage is of its kind."""
    if name in ("in_map", "out_map"):
        return value is None or (isinstance(value, tuple) and all(map(_is_pair, cast("tuple[object, ...]", value))))
    if name in ("path", "children"):
        kind = str if name == "path" else int
        return isinstance(value, tuple) and all(type(item) is kind for item in cast("tuple[object, ...]", value))
    if name == "description":
        return value is None or type(value) is str
    return type(value) is type(_DEFAULTS.get(name, 0 if name == "number" else ""))


def _is_pair(item: object) -> bool:
    return isinstance(item, tuple) and [type(part) for part in cast("tuple[object, ...]", item)] == [str, str]


def check_links(stages: Sequence[StageInfo]) -> None:
    """Refuse a chart whose stages name stages that it does not have."""
    for stage in stages:
        named = (stage.mount, stage.branch_of, stage.next, stage.loop_to, stage.entry, *stage.children)
        if not all(-1 <= number < len(stages) for number in named):
            raise ValueError("chart.stages")


def _tuples(value: Any) -> Any:  # noqa: ANN401  a member of a stage
    return tuple(map(_tuples, cast("Sequence[Any]", value))) if isinstance(value, (list, tuple)) else value


def _implied_place(full: str) -> tuple[str, tuple[str, ...]]:
    *path, local = full.split("/")
    return local, tuple(path)


_NAMES: Final = StageInfo.__struct_fields__
_KEYS: Final = tuple((name, wire_key(name)) for name in _NAMES if name not in _SKIPPED)
_DEFAULTS: Final = dict(
    zip(_NAMES[len(_NAMES) - len(StageInfo.__struct_defaults__) :], StageInfo.__struct_defaults__, strict=True)
)
