"""How far does a result reach: what was looked at, what was not, and what can't be seen from there at all?

"Nothing found" is an answer only beside the places that were searched. A tool says both with `absent` or `coverage`,
and the loop reads them off the result. The notes are the library's own words; readers accept any text there (RES-17).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Literal, cast

from agentfootprint.events import GroundRow
from agentfootprint.tools.errors import CoverageRefusedError
from agentfootprint.tools.semantics import semantic_faults
from agentfootprint.trace import FrozenDict, JsonObject, Record, Value

__all__ = ["Coverage", "CoverageReading", "DeclaredCoverage", "Ground", "absent", "coverage", "read_coverage"]

_ABSENT_NOTE: Final = (
    "Nothing was found in what was checked. That says nothing about places that were not checked, and the same call "
    "will find nothing again."
)
_COVERAGE_NOTE: Final = "What follows holds for what was checked, and for nothing beyond it."


@dataclass(frozen=True, slots=True)
class Ground:
    """A place that was looked at, or was not, and why.

    Args:
        what: The place: a table, a shard, a time range.
        why: The reason; one is needed for what can't be covered.
    """

    what: str
    _: KW_ONLY
    why: str | None = None


def absent(
    what: str,
    *,
    checked: Sequence[str | Ground],
    not_checked: Sequence[str | Ground] = (),
    cannot_cover: Sequence[Ground] = (),
    try_instead: str | None = None,
) -> JsonObject:
    """Say "looked, and found nothing" as a tool's result: not an error, and not nothing (RES-13).

    Args:
        what: What was looked for.
        checked: Where it was looked for; at least one place.
        not_checked: Where it could be, but was not looked for.
        cannot_cover: Where this tool can't look, each with its reason.
        try_instead: What the model might do instead, as a sentence.

    Raises:
        CoverageRefusedError: It names nothing, no place, or a place without its reason.

    Example:
        >>> absent("order A-7", checked=["the orders table"])["outcome"]
        'nothing_found'
    """
    if not what.strip():
        raise CoverageRefusedError("what", "absent() does not say what was looked for.", fix="Name it first.")
    places = _items("absent", "checked", checked)
    if not places:
        raise CoverageRefusedError(
            "checked",
            "absent() does not say where was looked: an absence without a place is a guess.",
            fix="Name at least one place in checked=.",
        )
    result: dict[str, Any] = {
        "af_absent": True,
        "outcome": "nothing_found",
        "looked_for": what.strip(),
        "checked": places,
    }
    _add_lists(result, "absent", not_checked, cannot_cover)
    result["retry_returns_the_same"] = True
    if try_instead is not None and try_instead.strip():
        result["try_instead"] = try_instead.strip()
    result["note"] = _ABSENT_NOTE
    return result


def coverage(
    content: Value,
    *,
    checked: Sequence[str | Ground] = (),
    not_checked: Sequence[str | Ground] = (),
    cannot_cover: Sequence[Ground] = (),
) -> JsonObject:
    """Put beside a result what it covers (RES-14).

    Args:
        content: The result itself, as the tool would have returned it.
        checked: What was looked at.
        not_checked: What could have been, but was not.
        cannot_cover: What this tool can't see, each with its reason.

    Raises:
        CoverageRefusedError: All three are empty, or a place is without its name or its reason.
    """
    stated: dict[str, Any] = {}
    places = _items("coverage", "checked", checked)
    if places:
        stated["checked"] = places
    _add_lists(stated, "coverage", not_checked, cannot_cover)
    if not stated:
        raise CoverageRefusedError(
            "checked", "coverage() covers nothing.", fix="Name what was checked, was not, or can't be."
        )
    return {"af_coverage": {**stated, "note": _COVERAGE_NOTE}, "result": content}


def _add_lists(
    result: dict[str, Any], call: str, not_checked: Sequence[str | Ground], cannot_cover: Sequence[Ground]
) -> None:
    missed = _items(call, "not_checked", not_checked)
    if missed:
        result["not_checked"] = missed
    beyond = _items(call, "cannot_cover", cannot_cover)
    if beyond:
        result["cannot_cover"] = beyond


def _items(call: str, field: str, places: object) -> list[dict[str, str]]:
    """The wire form of a list of places: `{what, why?}`, trimmed."""
    if isinstance(places, str) or not isinstance(places, Sequence):
        raise CoverageRefusedError(
            field, f"{field} of {call}() is no list.", fix='Give a list of texts or of Ground("...", why="...").'
        )
    items: list[dict[str, str]] = []
    for place in cast("Sequence[object]", places):
        what, why = (place.what, place.why) if isinstance(place, Ground) else (place, None)
        if not isinstance(what, str) or not what.strip():
            raise CoverageRefusedError(
                field,
                f"A place in {field} of {call}() has no name.",
                fix='Give a text, or Ground("the archive", why="it is offline").',
            )
        if (why is not None and not why.strip()) or (why is None and field == "cannot_cover"):
            raise CoverageRefusedError(
                field,
                f"A place in {field} of {call}() has no reason.",
                fix='Give it one: Ground("the archive", why="it is offline").',
            )
        items.append({"what": what.strip()} if why is None else {"what": what.strip(), "why": why.strip()})
    return items


class Coverage(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What a result says it covers."""

    checked: tuple[GroundRow, ...]
    not_checked: tuple[GroundRow, ...]
    cannot_cover: tuple[GroundRow, ...]


class DeclaredCoverage(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One declaration read off a result (RES-16)."""

    kind: Literal["absence", "ledger"]
    coverage: Coverage
    looked_for: str | None = None
    """What an absence did not find."""


class CoverageReading(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """All that a result declares about its reach."""

    declared: tuple[DeclaredCoverage, ...]
    """Outermost first."""
    status: Literal["absent"] | None = None


def read_coverage(value: Value) -> CoverageReading | None:
    """Read off a tool's result how far it reaches (RES-15); `None` where it says nothing about that.

    Cost: three lookups for a result that declares nothing.
    """
    if not isinstance(value, (FrozenDict, Mapping)):
        return None
    result = cast("JsonObject", value)
    if not ("af_absent" in result or "af_coverage" in result or "af_semantics" in result):
        return None
    absence = _absence(result)
    if absence is not None:
        return CoverageReading((absence,), "absent")
    if "af_semantics" in result and semantic_faults(result) == ():
        stated = _read_lists(result.get("coverage"))
        return None if stated is None else CoverageReading((DeclaredCoverage("ledger", stated),))
    stated = _read_lists(result.get("af_coverage"))
    if stated is None:
        return None
    ledger, inside = DeclaredCoverage("ledger", stated), result.get("result")
    absence = _absence(cast("JsonObject", inside)) if isinstance(inside, Mapping) else None
    return CoverageReading((ledger,)) if absence is None else CoverageReading((ledger, absence), "absent")


def _absence(result: JsonObject) -> DeclaredCoverage | None:
    if result.get("af_absent") is not True:
        return None
    stated = _read_lists(result)
    if stated is None or not stated.checked:
        return None
    looked_for = result.get("looked_for")
    return DeclaredCoverage("absence", stated, looked_for if isinstance(looked_for, str) else None)


def _read_lists(stated: Value) -> Coverage | None:
    if not isinstance(stated, Mapping):
        return None
    lists = cast("JsonObject", stated)
    checked, not_checked, cannot_cover = (
        tuple(_read_items(lists.get(key))) for key in ("checked", "not_checked", "cannot_cover")
    )
    return Coverage(checked, not_checked, cannot_cover) if checked or not_checked or cannot_cover else None


def _read_items(items: Value) -> Iterator[GroundRow]:
    """Items of an envelope that somebody else may have written: what has no name is passed over."""
    if not isinstance(items, Sequence) or isinstance(items, str):
        return
    for item in cast("Sequence[Any]", items):
        members = cast("JsonObject", item if isinstance(item, Mapping) else {"what": item})
        what, why = members.get("what"), members.get("why")
        if isinstance(what, str) and what.strip():
            yield GroundRow(what=what, why=why if isinstance(why, str) and why.strip() else None)
