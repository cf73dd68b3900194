"""Is this value a described result (series, facts, edges with their provenance), and if it says so wrongly, where?

A value that carries the marker with a fault is plain data: it is never read by half (RES-21).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from agentfootprint.trace import JsonObject, Record, Value

__all__ = ["SemanticFault", "is_counter_aggregation", "semantic_faults"]

Code: TypeAlias = Literal[
    "malformed-semantics", "series-without-grain", "counter-aggregation-unstated", "data-without-provenance"
]

_MALFORMED: Final = "malformed-semantics"
_COUNTERS: Final = frozenset(("sum", "count", "total", "cumulative", "counter", "delta"))
_WORD: Final = re.compile(r"[a-z]+")
_TOP: Final = frozenset(
    ("af_semantics", "series", "facts", "edges", "grain", "provenance", "coverage", "not_covered", "clarify", "render")
) | {"note"}
_GRAIN: Final = frozenset(("interval", "aggregation", "is_counter", "collapsed"))
_PROVENANCE: Final = frozenset(("measured_at", "source", "age_seconds", "source_export_date"))
_COVERAGE: Final = ("checked", "not_checked", "cannot_cover")
_RENDER: Final = frozenset(("default", "columns", "sort", "filter_note", "chart_hint"))


class SemanticFault(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One thing that keeps a value from being a described result (RES-20)."""

    code: Code
    field: str
    """Dotted path; `af_semantics` where nothing is described at all."""


def is_counter_aggregation(aggregation: str) -> bool:
    """Whether an aggregation names something that adds up, as `sum` or `total_errors` do (RES-19)."""
    words = _WORD.findall(aggregation.lower())
    return any(word in _COUNTERS or (word.endswith("s") and word[:-1] in _COUNTERS) for word in words)


def semantic_faults(value: Value) -> tuple[SemanticFault, ...] | None:
    """Read a tool's result as a described one.

    Returns:
        `None` for a value that does not say it is one; nothing (`()`) for a valid one; else its faults in order.
    """
    if not isinstance(value, Mapping):
        return None
    result = cast("JsonObject", value)
    if result.get("af_semantics") is not True:
        return None
    faults: list[SemanticFault] = []
    _rows(result, "series", ("entity", "metric"), faults)
    _grain(result, faults)
    _rows(result, "facts", ("entity",), faults)
    _rows(result, "edges", ("from", "to", "kind"), faults)
    _provenance(result, faults)
    _coverage(result, faults)
    _clarify(result, faults)
    _render(result, faults)
    _unknown(result, _TOP, "", faults)
    if not any(key in result for key in ("series", "facts", "edges")) and result.get("clarify") is None:
        faults.append(SemanticFault(_MALFORMED, "af_semantics"))
    return tuple(faults)


def _is_text(value: Value) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_list(value: Value) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _unknown(value: JsonObject, known: frozenset[str], path: str, faults: list[SemanticFault]) -> None:
    faults += [SemanticFault(_MALFORMED, f"{path}{key}") for key in value if key not in known]


def _rows(result: JsonObject, field: str, texts: tuple[str, ...], faults: list[SemanticFault]) -> None:
    """A list of objects, each with its non-blank texts; a point of a series also with a time and a value."""
    if field not in result:
        return
    rows = result[field]
    if not _is_list(rows) or not rows:
        faults.append(SemanticFault(_MALFORMED, field))
        return
    for i, row in enumerate(cast("Sequence[Any]", rows)):
        where = f"{field}[{i}]"
        if not isinstance(row, Mapping):
            faults.append(SemanticFault(_MALFORMED, where))
            continue
        members = cast("JsonObject", row)
        if field == "series":
            if not (_is_text(members.get("t")) or _is_number(members.get("t"))):
                faults.append(SemanticFault(_MALFORMED, f"{where}.t"))
            _unknown(members, frozenset(("t", "entity", "metric", "value")), f"{where}.", faults)
        faults += [SemanticFault(_MALFORMED, f"{where}.{key}") for key in texts if not _is_text(members.get(key))]
        if field == "series" and "value" not in members:
            faults.append(SemanticFault(_MALFORMED, f"{where}.value"))


def _grain(result: JsonObject, faults: list[SemanticFault]) -> None:
    if "grain" not in result:
        if "series" in result:
            faults.append(SemanticFault("series-without-grain", "grain"))
        return
    grain = result["grain"]
    if not isinstance(grain, Mapping) or not grain:
        faults.append(SemanticFault(_MALFORMED, "grain"))
        return
    members = cast("JsonObject", grain)
    texts = (key for key in ("interval", "aggregation", "collapsed") if key in members)
    faults += [SemanticFault(_MALFORMED, f"grain.{key}") for key in texts if not _is_text(members[key])]
    stated = isinstance(members.get("is_counter"), bool)
    if "is_counter" in members and not stated:
        faults.append(SemanticFault(_MALFORMED, "grain.is_counter"))
    elif not stated and is_counter_aggregation(str(members.get("aggregation", ""))):
        faults.append(SemanticFault("counter-aggregation-unstated", "grain.is_counter"))
    _unknown(members, _GRAIN, "grain.", faults)


def _provenance(result: JsonObject, faults: list[SemanticFault]) -> None:
    if "provenance" not in result:
        if "series" in result or "facts" in result:
            faults.append(SemanticFault("data-without-provenance", "provenance"))
        return
    provenance = result["provenance"]
    if not isinstance(provenance, Mapping):
        faults.append(SemanticFault(_MALFORMED, "provenance"))
        return
    members = cast("JsonObject", provenance)
    unsaid = (key for key in ("measured_at", "source") if not _is_text(members.get(key)))
    faults += [SemanticFault("data-without-provenance", f"provenance.{key}") for key in unsaid]
    age = members.get("age_seconds", 0)
    if not _is_number(age) or age < 0:
        faults.append(SemanticFault(_MALFORMED, "provenance.age_seconds"))
    if "source_export_date" in members and not _is_text(members["source_export_date"]):
        faults.append(SemanticFault(_MALFORMED, "provenance.source_export_date"))
    _unknown(members, _PROVENANCE, "provenance.", faults)


def _coverage(result: JsonObject, faults: list[SemanticFault]) -> None:
    """The three lists, and `not_covered`, which is derived from them and never stands alone."""
    coverage = result.get("coverage")
    if "coverage" in result and not isinstance(coverage, Mapping):
        faults.append(SemanticFault(_MALFORMED, "coverage"))
    elif isinstance(coverage, Mapping):
        members = cast("JsonObject", coverage)
        strange = (key for key in _COVERAGE if key in members and not _is_item_list(members[key]))
        faults += [SemanticFault(_MALFORMED, f"coverage.{key}") for key in strange]
        _unknown(members, frozenset(_COVERAGE), "coverage.", faults)
    if "not_covered" in result and ("coverage" not in result or not _is_list(result["not_covered"])):
        faults.append(SemanticFault(_MALFORMED, "not_covered"))


def _is_item_list(items: Value) -> bool:
    return _is_list(items) and all(
        isinstance(item, Mapping) and _is_text(cast("JsonObject", item).get("what")) for item in items
    )


def _clarify(result: JsonObject, faults: list[SemanticFault]) -> None:
    clarify = result.get("clarify")
    if clarify is None:
        return
    if not isinstance(clarify, Mapping):
        faults.append(SemanticFault(_MALFORMED, "clarify"))
        return
    members = cast("JsonObject", clarify)
    if not _is_text(members.get("question")):
        faults.append(SemanticFault(_MALFORMED, "clarify.question"))
    if not _is_list(members.get("candidates")):
        faults.append(SemanticFault(_MALFORMED, "clarify.candidates"))
    _unknown(members, frozenset(("question", "candidates")), "clarify.", faults)


def _render(result: JsonObject, faults: list[SemanticFault]) -> None:
    if "render" not in result:
        return
    render = result["render"]
    if not isinstance(render, Mapping) or not _is_text(cast("JsonObject", render).get("default")):
        faults.append(SemanticFault(_MALFORMED, "render"))
        return
    _unknown(cast("JsonObject", render), _RENDER, "render.", faults)
