"""Which way to go, and the evidence for it: rules tried on the state, each with what it looked at.

Reads made by rules are the stage's own tracked reads, so a slice reaches them (FLOW-DEC-7). A rule that raises has not
matched, and its evidence says what it raised: keep secrets out of the messages of rules.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from agentfootprint.flow.errors import FlowError
from agentfootprint.flow.stage.handle import Handle
from agentfootprint.flow.stage.state import State, handle_of
from agentfootprint.flow.stage.traced import TracedHandle
from agentfootprint.flow.stage.views import unwrapped
from agentfootprint.flow.watch.failure import name_of
from agentfootprint.trace import (
    ABSENT,
    PLACEHOLDER,
    FilterCondition,
    FrozenDict,
    FrozenList,
    Record,
    Value,
    evaluate_filter,
    summarize_value,
)

if TYPE_CHECKING:
    from agentfootprint.trace import Veil

__all__ = [
    "Choice",
    "FilterEvidence",
    "FunctionEvidence",
    "ReadEvidence",
    "Rule",
    "RuleFunctionError",
    "Selection",
    "decide",
    "select",
]

Filter: TypeAlias = "Mapping[str, Mapping[str, Any]]"
Predicate: TypeAlias = "Callable[[Any], object]"


class RuleFunctionError(FlowError, TypeError):
    """A rule's condition is a coroutine function, which would always count as true (FLOW-DEC-5)."""

    code = "ERR_RULE_FUNCTION"

    def __init__(self, rule: str) -> None:
        self.rule = rule
        super().__init__(
            f"The condition of the rule {rule!r} is a coroutine function.",
            fix="Await what it needs in an earlier stage, and let the rule look at the state.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way to a branch.

    Example:
        >>> Rule(when={"score": {"gte": 700}}, then="approve", label="good credit").then
        'approve'
    """

    when: Filter | Predicate
    """`{key: {op: threshold}}` with the operators `eq ne gt gte lt lte in notIn`, or a plain function of the state."""
    then: str
    """Id of the branch."""
    label: str | None = None
    """What it is called in evidence and explanations."""


class ReadEvidence(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One read that a rule's function made."""

    key: str
    value_summary: str
    redacted: bool


class FilterEvidence(
    Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True, tag_field="type", tag="filter"
):
    """What a rule written as data compared."""

    rule_index: int
    branch: str
    matched: bool
    label: str | None = None
    match_error: str | None = None
    conditions: FrozenList


class FunctionEvidence(
    Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True, tag_field="type", tag="function"
):
    """What a rule written as a function read."""

    rule_index: int
    branch: str
    matched: bool
    label: str | None = None
    match_error: str | None = None
    inputs: FrozenList
    """In the order of reading, repeats kept."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The branch a decider takes, with the evidence; a decider may also return a bare id."""

    branch: str
    evidence: Value = None


@dataclass(frozen=True, slots=True)
class Selection:
    """The branches a selector takes, with the evidence; a selector may also return a list of ids."""

    branches: tuple[str, ...]
    evidence: Value = None


def decide(state: Any, rules: Sequence[Rule], *, default: str) -> Choice:  # noqa: ANN401  a State, a handle or a mapping
    """Try rules in order; the first that matches chooses (FLOW-DEC-1).

    Args:
        state: The stage's state or handle, or any mapping.
        rules: Later rules are not tried after a match.
        default: The branch when none matches.

    Returns:
        The branch and the evidence `{rules, chosen, default}`.

    Raises:
        RuleFunctionError: A condition is a coroutine function.
    """
    tried: list[Record] = []
    hiding = _Hiding(state)
    chosen = default
    for number, rule in enumerate(rules):
        evidence, matched = _tried(state, rule, number, hiding)
        tried.append(evidence)
        if matched:
            chosen = rule.then
            break
    return Choice(chosen, FrozenDict({"rules": FrozenList(tried, len(tried)), "chosen": chosen, "default": default}))


def select(state: Any, rules: Sequence[Rule]) -> Selection:  # noqa: ANN401  a State, a handle or a mapping
    """Try all rules; every one that matches adds its branch (FLOW-DEC-1).

    Args:
        state: The stage's state or handle, or any mapping.
        rules: In the order their branches shall stand in the result.

    Returns:
        The branches and the evidence `{rules, selected}`.

    Raises:
        RuleFunctionError: A condition is a coroutine function.
    """
    tried: list[Record] = []
    hiding = _Hiding(state)
    chosen: list[str] = []
    for number, rule in enumerate(rules):
        evidence, matched = _tried(state, rule, number, hiding)
        tried.append(evidence)
        if matched:
            chosen.append(rule.then)
    selected = FrozenList(list(chosen), len(chosen))
    return Selection(tuple(chosen), FrozenDict({"rules": FrozenList(tried, len(tried)), "selected": selected}))


class _Hiding:
    """What of the state may not stand in evidence (FLOW-DEC-6, 8)."""

    def __init__(self, state: Value) -> None:
        handle = handle_of(state) if isinstance(state, State) else state
        self._handle = handle if isinstance(handle, Handle) else None
        self.veil: Veil | None = None if self._handle is None else self._handle.run.journal.veil
        self.placeholder = PLACEHOLDER if self.veil is None else self.veil.placeholder

    def hides(self, key: str) -> bool:
        """Whether the state is one whose run hides this key."""
        handle = self._handle
        if handle is None or self.veil is None:
            return False
        return self.veil.hides(key, handle.mount, ever=bool(handle.info.namespace))

    def summary(self, key: str, value: Value) -> tuple[str, bool]:
        """A value in a few words, and whether it is hidden."""
        if self.hides(key):
            return self.placeholder, True
        return summarize_value(value), False

    def told(self, raised: Exception) -> str:
        """What a rule raised: its type, and its message where that can quote no secret."""
        return name_of(raised) if self.veil is not None and self.veil.keeps_secrets else _told(raised)


def _tried(state: Value, rule: Rule, number: int, hiding: _Hiding) -> tuple[Record, bool]:
    if not callable(rule.when):
        return _filtered(state, rule, number, hiding)
    if inspect.iscoroutinefunction(rule.when):
        raise RuleFunctionError(rule.label or rule.then)
    seen: list[ReadEvidence] = []
    error: str | None = None
    matched = False
    try:
        matched = bool(rule.when(_watched(state, seen, hiding)))
    except Exception as raised:  # noqa: BLE001  the rule is the user's code; a rule that raises has not matched
        error = hiding.told(raised)
    evidence = FunctionEvidence(
        rule_index=number,
        branch=rule.then,
        matched=matched,
        label=rule.label,
        match_error=error,
        inputs=FrozenList(cast("list[Any]", seen), len(seen)),
    )
    return evidence, matched


def _filtered(state: Value, rule: Rule, number: int, hiding: _Hiding) -> tuple[Record, bool]:
    error: str | None = None
    matched = False
    conditions: tuple[FilterCondition, ...] = ()
    try:
        matched, conditions = evaluate_filter(
            _getter(state), cast("Filter", rule.when), is_redacted=hiding.hides, placeholder=hiding.placeholder
        )
    except Exception as raised:  # noqa: BLE001  a threshold that can't be compared: the rule has not matched
        error = hiding.told(raised)
    evidence = FilterEvidence(
        rule_index=number,
        branch=rule.then,
        matched=matched,
        label=rule.label,
        match_error=error,
        conditions=FrozenList(list(conditions), len(conditions)),
    )
    return evidence, matched


def _told(raised: Exception) -> str:
    try:
        return f"{name_of(raised)}: {raised}"
    except Exception:  # noqa: BLE001  an exception of the user's may do anything when it is shown
        return name_of(raised)


def _getter(state: Value) -> Callable[[str], Value]:
    if isinstance(state, State):
        return lambda key: unwrapped(_or_absent(state, key))
    if isinstance(state, TracedHandle):
        return state.read
    return lambda key: state.get(key, ABSENT)


def _or_absent(state: State, key: str) -> Value:
    try:
        return state[key]
    except KeyError:
        return ABSENT


def _watched(state: Value, seen: list[ReadEvidence], hiding: _Hiding) -> Value:
    """The same state, with every read written down."""
    if isinstance(state, State):
        return type(state)(cast("TracedHandle", _WatchedHandle(handle_of(state), seen, hiding)))
    return _WatchedHandle(state, seen, hiding) if isinstance(state, Handle) else _WatchedMapping(state, seen)


class _WatchedHandle:
    """A handle whose reads are also evidence. Everything else is the handle's own."""

    def __init__(self, handle: Handle, seen: list[ReadEvidence], hiding: _Hiding) -> None:
        self._handle = handle
        self._seen = seen
        self._hiding = hiding

    def __getattr__(self, name: str) -> Value:
        return getattr(self._handle, name)

    def read(self, key: str) -> Value:
        value = self._handle.get(key, ABSENT)
        shown, is_hidden = self._hiding.summary(key, value)
        self._seen.append(ReadEvidence(key, shown, redacted=is_hidden))
        return value

    def get(self, key: str, default: Value = None) -> Value:
        value = self.read(key)
        return default if value is ABSENT else value

    def __getitem__(self, key: str) -> Value:
        value = self.read(key)
        return self._handle[key] if value is ABSENT else value  # an absent key is the handle's to refuse

    def __contains__(self, key: str) -> bool:
        return key in self._handle

    def __setitem__(self, key: str, value: Value) -> None:
        self._handle[key] = value

    def __delitem__(self, key: str) -> None:
        del self._handle[key]


class _WatchedMapping(Mapping[str, Any]):
    """A mapping whose reads are also evidence."""

    def __init__(self, values: Mapping[str, Any], seen: list[ReadEvidence]) -> None:
        self._values = values
        self._seen = seen

    def __getitem__(self, key: str) -> Value:
        value = self._values.get(key, ABSENT)
        self._seen.append(ReadEvidence(key, summarize_value(value), redacted=False))
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
