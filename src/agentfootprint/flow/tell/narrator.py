"""Turns what happened, in order, into the lines of a narrative (FLOW-NAR-1 to 4).

It is told facts by whoever reads the run: the reader of a journal, or a recorder of its sightings. What a stage did
is kept until the stage gets its line; a stage that gets none (it failed, it paused) is not told about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from agentfootprint.flow.tell.entries import EntryType, NarrativeEntry, NarrativeOptions
from agentfootprint.flow.tell.words import (
    BreakTold,
    DecisionTold,
    EmitTold,
    ErrorTold,
    ForkTold,
    LoopTold,
    OpTold,
    RetryTold,
    SelectionTold,
    StageTold,
    SubflowTold,
)
from agentfootprint.trace import ABSENT, SequenceStore, Value

__all__ = ["Narrator", "Place", "Said"]

Said = tuple[str, str, Value]
"""One thing a stage did: verb (`read`, `set`, `update`, `delete`, `emit`, `retry`), key or name, value or payload."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line belongs."""

    name: str
    stage_id: str
    runtime_stage_id: str
    subflow_id: str
    """`""` at the top."""


@dataclass(slots=True)
class _Doing:
    """What a stage did and what of it was told."""

    waiting: list[Said] = field(default_factory=list[Said])
    count: int = 0
    """Numbers given out."""


class Narrator:
    """Makes lines of facts.

    Args:
        options: How it is told.
    """

    def __init__(self, options: NarrativeOptions) -> None:
        self.options = options
        self.store = SequenceStore[NarrativeEntry]()
        self.loops: dict[int, LoopTold] = {}
        """The lines that tell of a way back, by their place."""
        self._words = options.renderer
        self._doing: dict[str, _Doing] = {}
        self._lined: set[str] = set()
        """Steps that have their line already."""
        self._numbers: dict[str, int] = {}
        """Stage lines so far, by subflow."""
        self._visits: dict[str, int] = {}

    # what a stage did

    def did(self, at: Place, said: Iterable[Said]) -> None:
        """Note what a stage did; told when the stage gets its line, or now when it has it."""
        doing = self._doing.setdefault(at.runtime_stage_id, _Doing())
        doing.waiting.extend(said)
        if at.runtime_stage_id in self._lined:
            self._flush(at)

    def executed(self, at: Place, description: str | None) -> None:
        """A plain stage was executed."""
        self._visits[at.stage_id] = visits = self._visits.get(at.stage_id, 0) + 1
        self._line(at, description, visits - 1)

    def decided(
        self, at: Place, chosen: str, description: str | None, rationale: str | None, evidence: Mapping[str, Any] | None
    ) -> None:
        """A decider chose a branch."""
        self._line(at, description, 0)
        told = DecisionTold(
            decider=at.name, chosen=chosen, description=description, rationale=rationale, evidence=evidence
        )
        self._add("condition", 1, self._words.render_decision(told), at)

    def selected(
        self,
        at: Place,
        names: Sequence[str],
        total: int,
        description: str | None,
        evidence: Mapping[str, Any] | None,
    ) -> None:
        """A selector chose branches."""
        if self.options.selector_lines:
            self._line(at, description, 0)
        told = SelectionTold(parent=at.name, selected=tuple(names), total=total, evidence=evidence if names else None)
        self._add("selector", 0, self._words.render_selected(told), at)
        self._lined.add(at.runtime_stage_id)

    def forked(self, at: Place, children: Sequence[str], description: str | None = None) -> None:
        """Branches start; a stage that starts them before it is done gets its line first."""
        if at.runtime_stage_id not in self._lined:
            self.spread(at, description)
        told = ForkTold(parent=at.name, children=tuple(children))
        self._add("fork", 0, self._words.render_fork(told), at)

    def spread(self, at: Place, description: str | None) -> None:
        """A stage that fans out over items: its line, where such stages get one."""
        if self.options.selector_lines and at.runtime_stage_id not in self._lined:
            self._line(at, description, 0)

    # the ways

    def entered(self, at: Place, name: str, description: str | None, given: Mapping[str, Value]) -> None:
        """A mount was entered."""
        self._numbers.pop(at.subflow_id, None)
        told = SubflowTold(name=name, description=description, direction="entry")
        self._add("subflow", 0, self._words.render_subflow(told), at, direction="entry")
        for key, value in given.items():
            self._op(at, ("input", key, value), None)

    def left(self, at: Place, name: str) -> None:
        """A mount was left."""
        told = SubflowTold(name=name, description=None, direction="exit")
        self._add("subflow", 0, self._words.render_subflow(told), at, direction="exit")

    def looped(self, at: Place, target: str, iteration: int, description: str | None) -> None:
        """Control went back."""
        told = self.loops[len(self.store)] = LoopTold(target=target, description=description, iteration=iteration)
        self._add("loop", 0, self._words.render_loop(told), at)

    def broke(self, at: Place, reason: str | None, from_subflow: str | None) -> None:
        """A stage ended its runtime."""
        told = BreakTold(stage_name=at.name, reason=reason, from_subflow=from_subflow)
        self._add("break", 0, self._words.render_break(told), at)

    def failed(self, at: Place, message: str, issues: Sequence[tuple[str, str]] = ()) -> None:
        """A stage raised."""
        told = ErrorTold(stage_name=at.name, message=message, issues=tuple(issues))
        self._add("error", 0, self._words.render_error(told), at)

    def paused(self, at: Place) -> None:
        """The run stopped to ask."""
        self._add("pause", 0, f"Execution paused at {at.name}.", at)

    def resumed(self, at: Place, *, has_input: bool) -> None:
        """The run went on."""
        self._add("resume", 0, f"Execution resumed at {at.name}{' with input' if has_input else ''}.", at)

    # lines

    def _line(self, at: Place, description: str | None, passes: int) -> None:
        number = self._numbers.get(at.subflow_id, 0) + 1
        self._numbers[at.subflow_id] = number
        told = StageTold(name=at.name, description=description, number=number, is_first=number == 1, pass_number=passes)
        self._add("stage", 0, self._words.render_stage(told), at)
        self._lined.add(at.runtime_stage_id)
        self._flush(at)

    def _flush(self, at: Place) -> None:
        doing = self._doing.get(at.runtime_stage_id)
        if doing is None:
            return
        for said in doing.waiting:
            doing.count += 1
            if said[0] == "emit":
                shown = self._shown(said[2])
                text = self._words.render_emit(EmitTold(name=said[1], payload=said[2], shown=shown))
                self._add("emit", 1, text, at, step_number=doing.count, key=said[1], value=said[2])
            elif said[0] == "retry":
                attempt, max_attempts, delay_ms = cast("tuple[int, int, float]", said[2])
                retry = RetryTold(
                    stage_name=at.name, attempt=attempt, max_attempts=max_attempts, delay_ms=delay_ms, message=said[1]
                )
                self._add("retry", 1, self._words.render_retry(retry), at, step_number=doing.count)
            else:
                self._op(at, said, doing.count)
        doing.waiting.clear()

    def _op(self, at: Place, said: Said, number: int | None) -> None:
        verb, key, value = said
        told = OpTold(
            verb=cast("Literal['read', 'set', 'update', 'delete', 'input']", verb),
            key=key,
            value=value,
            shown=self._shown(value) if self.options.include_values else None,
            number=number if self.options.include_step_numbers else None,
        )
        self._add("step", 1, self._words.render_op(told), at, step_number=number, key=key, value=value)

    def _shown(self, value: Value) -> str:
        return self.options.format_value(value, self.options.max_value_length)

    def _add(
        self,
        kind: EntryType,
        depth: int,
        text: str | None,
        at: Place,
        *,
        direction: Literal["entry", "exit"] | None = None,
        step_number: int | None = None,
        key: str | None = None,
        value: Value = ABSENT,
    ) -> None:
        if text is None:
            return
        more: dict[str, Value] = {} if value is ABSENT else {"raw_value": value}
        entry = NarrativeEntry(
            type=kind,
            text=text,
            depth=depth,
            stage_name=at.name,
            stage_id=at.stage_id,
            runtime_stage_id=at.runtime_stage_id,
            subflow_id=at.subflow_id or None,
            step_number=step_number,
            direction=direction,
            key=key,
            **more,
        )
        self.store.push(entry, at.runtime_stage_id)
