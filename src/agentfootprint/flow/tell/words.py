"""The words a run is told in: one method for each kind of line.

Subclass `NarrativeRenderer` and override what shall read differently; it gets facts and gives a text. Everything else
about a narrative (order, numbers, depth) stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentfootprint.trace import Value, as_list, as_object, compact_json, thaw

__all__ = [
    "BreakTold",
    "DecisionTold",
    "EmitTold",
    "ErrorTold",
    "ForkTold",
    "LoopTold",
    "NarrativeRenderer",
    "OpTold",
    "RetryTold",
    "SelectionTold",
    "StageTold",
    "SubflowTold",
]

_VERBS = {"read": "Read", "set": "Write", "update": "Update", "delete": "Delete", "input": "Input:"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTold:
    """A stage was executed."""

    name: str
    description: str | None
    number: int
    """Place among the stages of its runtime, from 1."""
    is_first: bool
    pass_number: int
    """How often it had been executed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpTold:
    """A stage read or wrote, or a mount was given something."""

    verb: Literal["read", "set", "update", "delete", "input"]
    key: str
    value: Value
    """As recorders are told it; `ABSENT` when there was none."""
    shown: str | None
    """The value in words; None when values are left out."""
    number: int | None
    """Place among what the stage did; None when numbers are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmitTold:
    """A stage emitted something of its own."""

    name: str
    payload: Value
    shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryTold:
    """An attempt of a stage failed."""

    stage_name: str
    attempt: int
    max_attempts: int
    delay_ms: float
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionTold:
    """A decider chose."""

    decider: str
    chosen: str
    """Name of the branch."""
    description: str | None
    rationale: str | None
    evidence: Mapping[str, Any] | None
    """In wire form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkTold:
    """Branches start side by side."""

    parent: str
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionTold:
    """A selector chose."""

    parent: str
    selected: tuple[str, ...]
    total: int
    evidence: Mapping[str, Any] | None
    """In wire form; None when nothing was selected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubflowTold:
    """A mount was entered or left."""

    name: str
    description: str | None
    direction: Literal["entry", "exit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopTold:
    """Control went back."""

    target: str
    description: str | None
    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakTold:
    """A stage ended its runtime."""

    stage_name: str
    reason: str | None
    from_subflow: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTold:
    """A stage raised."""

    stage_name: str
    message: str
    issues: Sequence[tuple[str, str]] = ()
    """Path and message of each problem that a validation found."""


class NarrativeRenderer:
    """The words of a narrative, as they are unless a subclass says otherwise."""

    def render_stage(self, told: StageTold) -> str:
        """The line of a stage."""
        name, text = told.name, _inside(told.description)
        if told.is_first:
            words = f"The process began: {text}." if text else f"The process began with {name}."
        elif told.pass_number:
            words = f"Looped back: {text}" if text else f"Looped back to {name}"
            words = f"{words} (pass {told.pass_number})."
        else:
            words = f"Next step: {text}." if text else f"Next, it moved on to {name}."
        return f"Stage {told.number}: {words}"

    def render_op(self, told: OpTold) -> str | None:
        """The line of a read, a write or an input; None leaves it out."""
        number = "" if told.number is None else f"Step {told.number}: "
        value = "" if told.shown is None or told.verb == "delete" else f" = {told.shown}"
        return f"{number}{_VERBS[told.verb]} {told.key}{value}"

    def render_emit(self, told: EmitTold) -> str | None:
        """The line of something emitted; None leaves it out."""
        return f"[emit] {told.name}: {told.shown}"

    def render_retry(self, told: RetryTold) -> str:
        """The line of an attempt that failed."""
        text = f"[Retry]: attempt {told.attempt} of {told.max_attempts} at {told.stage_name} failed ({told.message})."
        return f"{text} Waited {told.delay_ms:g}ms before the next attempt." if told.delay_ms else text

    def render_decision(self, told: DecisionTold) -> str:
        """The line of a choice, with the rule that made it."""
        return f"[Condition]: {_reason(told)}"

    def render_fork(self, told: ForkTold) -> str:
        """The line of branches that start side by side."""
        return f"[Parallel]: Forking into {len(told.children)} parallel paths: {', '.join(told.children)}."

    def render_selected(self, told: SelectionTold) -> str:
        """The line of a selection, with the rules that made it."""
        count = f"[Selected]: {len(told.selected)} of {told.total} paths selected"
        matched = [] if told.evidence is None else [rule for rule in _rules(told.evidence) if rule.get("matched")]
        if not matched:
            return f"{count} for execution: {', '.join(told.selected)}."
        return f"{count}: {'; '.join(map(_selected, matched))}."

    def render_subflow(self, told: SubflowTold) -> str:
        """The line of a mount that is entered or left."""
        if told.direction == "exit":
            return f"Exiting the {told.name} subflow."
        text = _inside(told.description)
        return f"Entering {told.name}: {text}." if text else f"Entering the {told.name} subflow."

    def render_loop(self, told: LoopTold) -> str:
        """The line of a way back."""
        if told.description:
            return f"On pass {told.iteration}: {_inside(told.description)} again."
        return f"On pass {told.iteration} through {told.target}."

    def render_break(self, told: BreakTold) -> str:
        """The line of a stage that ended its runtime."""
        return f"Execution stopped at {told.stage_name}."

    def render_error(self, told: ErrorTold) -> str:
        """The line of a stage that raised."""
        text = f"[Error]: An error occurred at {told.stage_name}: {told.message.removesuffix('.')}."
        if not told.issues:
            return text
        return f"{text} Validation issues: {'; '.join(f'{path}: {message}' for path, message in told.issues)}."


def _inside(description: str | None) -> str:
    """A description as part of a sentence, which ends on its own: the first line of a docstring has a full stop."""
    return (description or "").removesuffix(".")


def _reason(told: DecisionTold) -> str:
    if told.evidence is not None:
        return _evidence(told.evidence, told.chosen)
    if told.description:
        because = f": {told.rationale}, so it chose" if told.rationale else " and chose"
        return f"It {_inside(told.description)}{because} {told.chosen}."
    because = f": {told.rationale}, so" if told.rationale else ", and"
    return f"A decision was made{because} the path taken was {told.chosen}."


def _evidence(evidence: Mapping[str, Any], chosen: str) -> str:
    rules = _rules(evidence)
    rule = next((each for each in rules if each.get("matched")), None)
    if rule is None:
        threw = sum(1 for each in rules if each.get("matchError") is not None)
        errors = f" ({threw} rule(s) threw errors)" if threw else ""
        return f"No rules matched{errors}, fell back to default: {chosen}."
    label, grounds = _label(rule), _grounds(rule)
    told = f": {grounds}" if grounds else ""
    if rule.get("type") == "function":
        return f"It examined{label}{told}, and chose {chosen}."
    return f"It evaluated Rule {rule.get('ruleIndex')}{label}{told}, and chose {chosen}."


def _selected(rule: Mapping[str, Any]) -> str:
    grounds = _grounds(rule)
    return f"{rule.get('branch')}{_label(rule)}{f' ({grounds})' if grounds else ''}"


def _label(rule: Mapping[str, Any]) -> str:
    return f' "{rule["label"]}"' if rule.get("label") else ""


def _grounds(rule: Mapping[str, Any]) -> str:
    """What a rule looked at: the comparisons of a filter, the reads of a function."""
    if rule.get("type") == "function":
        return ", ".join(f"{read['key']}={read['valueSummary']}" for read in _members(rule.get("inputs")))
    return ", ".join(
        f"{seen['key']} {seen['actualSummary']} {seen['op']} {compact_json(thaw(seen['threshold']))} "
        f"{'✓' if seen['result'] else '✗'}"
        for seen in _members(rule.get("conditions"))
    )


def _rules(evidence: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return _members(evidence.get("rules"))


def _members(value: Value) -> list[Mapping[str, Any]]:
    members = [as_object(item) for item in as_list(value) or ()]
    return [member for member in members if member is not None]
