"""Whether a rule written as data holds for a state, with the evidence for it.

A filter is `{key: {op: threshold}}`, all conditions together (FLOW-DEC-2). Comparisons are those of the wire's
language, so that a stored rule gives the same answer in every implementation (FLOW-DEC-3).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from agentfootprint.trace.bundle import as_list, as_object
from agentfootprint.trace.errors import FilterListTooLongError
from agentfootprint.trace.ids import INERT_SEGMENTS
from agentfootprint.trace.redacting import PLACEHOLDER
from agentfootprint.trace.replay import scalar_identity
from agentfootprint.trace.summary import summarize_value
from agentfootprint.trace.values import FrozenList, JsonObject, Record, Value, freeze

__all__ = ["FILTER_OPS", "FilterCondition", "FilterVerdict", "evaluate_filter"]

FILTER_OPS: Final = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "notIn")
_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
_MAX_LIST: Final = 1000
_DENIED_KEYS: Final = INERT_SEGMENTS | {
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
}
"""Every object of the wire's language has these, so no rule may ask for them."""
_NUMBER: Final = re.compile(r"[+-]?(?:Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)
_RADIX: Final = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)", re.ASCII)


class FilterCondition(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One comparison that was made, as evidence (FLOW-DEC-4)."""

    key: str
    op: str
    threshold: Value
    """What the rule says; `[REDACTED]` where it would tell a redacted value (FLOW-DEC-8)."""
    actual_summary: str
    result: bool
    redacted: bool


class FilterVerdict(NamedTuple):
    """Whether the filter holds, and every comparison made on the way."""

    matched: bool
    conditions: tuple[FilterCondition, ...]


def evaluate_filter(
    get: Callable[[str], Value],
    where: JsonObject,
    *,
    is_redacted: Callable[[str], bool] = lambda _: False,
    placeholder: str = PLACEHOLDER,
) -> FilterVerdict:
    """Evaluate a filter against a state (FLOW-DEC-2).

    Args:
        get: Reads a key of the state, once a key; gives `ABSENT` when there is none.
        where: `{key: {op: threshold}}`. A value that is no object is passed over; without any condition nothing
            matches; an unknown operator is a condition that fails.
        is_redacted: Says which keys may not be shown in the evidence.
        placeholder: What stands there for their values.

    Raises:
        FilterListTooLongError: An `in` or `notIn` has more than 1,000 values.
        ValueRefusedError: A threshold is nothing that JSON can hold, a set for example: the evidence quotes it.
    """
    conditions: list[FilterCondition] = []
    denied = False
    for key, tests in where.items():
        asked = as_object(tests)
        if asked is None:
            continue
        if key in _DENIED_KEYS:
            denied = True
            continue
        actual = get(key)
        hidden = is_redacted(key)
        shown = placeholder if hidden else summarize_value(actual)
        for op, threshold in asked.items():
            result = _holds(key, op, actual, threshold)
            told = _veil(threshold, actual, placeholder) if hidden else freeze(threshold)
            conditions.append(FilterCondition(key, op, told, shown, result, hidden))
    matched = bool(conditions) and not denied and all(condition.result for condition in conditions)
    return FilterVerdict(matched, tuple(conditions))


def _holds(key: str, op: str, actual: Value, threshold: Value) -> bool:
    if op in ("eq", "ne"):
        return _same(actual, threshold, nan_is_nan=False) is (op == "eq")
    if op in ("in", "notIn"):
        members = as_list(threshold)
        if members is None:
            return op == "notIn"
        if len(members) > _MAX_LIST:
            raise FilterListTooLongError(key, op, len(members), _MAX_LIST)
        return any(_same(actual, member, nan_is_nan=True) for member in members) is (op == "in")
    compare = _ORDER.get(op)
    if compare is None:
        return False
    if isinstance(actual, str) and isinstance(threshold, str):
        plain = actual.isascii() and threshold.isascii()
        return compare(actual, threshold) if plain else compare(_code_units(actual), _code_units(threshold))
    return compare(_as_number(actual), _as_number(threshold))  # NaN compares false with everything


def _same(actual: Value, other: Value, *, nan_is_nan: bool) -> bool:
    """Equality without conversion; two containers are never the same one (FLOW-DEC-3)."""
    identity = scalar_identity(actual)
    if identity is None or (identity[0] == "nan" and not nan_is_nan):
        return False
    return identity == scalar_identity(other)


def _code_units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _as_number(value: Value) -> float:
    if value is None:
        return 0
    if isinstance(value, (bool, int, float)):
        return value
    if not isinstance(value, str):
        return math.nan
    text = value.strip()
    if not text:
        return 0
    if _NUMBER.fullmatch(text):
        return float(text)
    return int(text, 0) if _RADIX.fullmatch(text) else math.nan


def _veil(threshold: Value, actual: Value, placeholder: str) -> Value:
    """The threshold without the redacted value it is compared with."""
    members = as_list(threshold)
    if members is None:
        return placeholder if _same(actual, threshold, nan_is_nan=True) else freeze(threshold)
    veiled: list[Any] = [_veil(member, actual, placeholder) for member in members]
    return FrozenList(veiled, len(veiled))
