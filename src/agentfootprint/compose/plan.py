"""What follows from a composition's description alone, worked out once: its chart, its children, its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.agent import Limits, RecordOptions, check_group
from agentfootprint.errors import ConfigError
from agentfootprint.flow import union_of

if TYPE_CHECKING:
    from agentfootprint.compose.children import AnyRunner
    from agentfootprint.flow import Flow, RedactionPolicy
    from agentfootprint.trace import JsonObject

__all__ = ["Child", "ComposedPlan", "made_plan", "refuse_foreign_limits"]

_OF_A_COMPOSITION: Final = frozenset({"deadline", "teardown"})
_LOOPS: Final = 1000


@dataclass(frozen=True, slots=True)
class Child:
    """A child of a composition, by its place in the chart."""

    key: str
    """How the composition calls it."""
    mount: str
    """Its segment of addresses."""
    runner: AnyRunner


@dataclass(frozen=True, slots=True)
class ComposedPlan:
    """A composition made ready to run; shared by all its runs."""

    id: str
    name: str
    limits: Limits
    flow: Flow
    """The chart, built once."""
    children: tuple[Child, ...]
    composition_path: tuple[str, ...]
    """What the events of its runs say they are of (CMP-7)."""
    max_loops: int
    """How often one of its stages, or of its children's, may be looped back to in one runtime."""
    redaction: RedactionPolicy | None
    """What any of the children keeps out of the record: there is one record for all of them."""
    is_recorded: bool
    """Whether there is a record, unless the run says otherwise: not where a child says that it has none."""

    @property
    def record(self) -> RecordOptions:
        """What its record keeps."""
        return RecordOptions(redaction=self.redaction)

    @property
    def header(self) -> JsonObject:
        """What a recording says about what made it: names and ids, and digests of the rest."""
        made: dict[str, Any] = {"kind": self.composition_path[0].partition(":")[0], "id": self.id, "name": self.name}
        if self.children:
            made["children"] = [
                {
                    "mount": child.mount,
                    "composition" if isinstance(child.runner.plan, ComposedPlan) else "agent": child.runner.plan.header,
                }
                for child in self.children
            ]
        return made


def made_plan(
    kind: str, id: object, name: object, limits: Limits | None, flow: Flow, children: Sequence[Child]
) -> ComposedPlan:
    """What a composition is made of, checked.

    Raises:
        ConfigError: Its id, its name or its limits can't work.
    """
    for option, given in (("id", id), ("name", name)):
        if not isinstance(given, str) or not given.strip():
            raise ConfigError(option, f"The {option} of the {kind} is {given!r}.", fix="Give a short text.")
    limits = Limits() if limits is None else limits
    refuse_foreign_limits(limits)
    return ComposedPlan(
        id=cast("str", id),
        name=cast("str", name),
        limits=limits,
        flow=flow,
        children=tuple(children),
        composition_path=(f"{kind}:{id}",),
        max_loops=max([_LOOPS, *(_loops_of(child.runner) for child in children)]),
        redaction=union_of(*(_redaction_of(child.runner) for child in children)),
        is_recorded=all(_is_recorded(child.runner) for child in children),
    )


def _loops_of(runner: AnyRunner) -> int:
    plan = runner.plan
    return plan.max_loops if isinstance(plan, ComposedPlan) else plan.limits.iterations * 2 + 10


def _redaction_of(runner: AnyRunner) -> RedactionPolicy | None:
    plan = runner.plan
    return plan.redaction if isinstance(plan, ComposedPlan) else plan.record.redaction


def _is_recorded(runner: AnyRunner) -> bool:
    plan = runner.plan
    if isinstance(plan, ComposedPlan):
        return plan.is_recorded
    return getattr(runner, "record", True) is not False


def refuse_foreign_limits(limits: Limits) -> None:
    """A limit that decides nothing here is refused, not ignored (AGT-2).

    Raises:
        ConfigError: It is an agent's; names it.
    """
    check_group("limits", limits, Limits)
    useless = sorted(set(limits.written) - _OF_A_COMPOSITION)
    if useless:
        raise ConfigError(
            f"limits.{useless[0]}",
            f"A composition asks no model itself, so limits.{useless[0]} decides nothing.",
            fix="Give it to the agents inside.",
        )
