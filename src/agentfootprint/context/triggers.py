"""When a piece of context is let in, and what a rule may look at to decide.

A predicate is synchronous and pure; it sees one frozen `TurnContext` per pass, whose lists are views that cost
nothing until they are read (01b LIN-6, LIN-32).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import msgspec

from agentfootprint.context.errors import ContextDefinitionError

__all__ = [
    "Always",
    "OnReadSkill",
    "OnToolReturn",
    "Predicate",
    "ToolReturn",
    "Trigger",
    "TurnContext",
    "When",
    "check_predicate",
    "tool_results_of",
    "trigger_kind",
]


class ToolReturn(msgspec.Struct, frozen=True, gc=False):
    """One tool result of the batch before this pass, as the model read it (INJ-10)."""

    tool_name: str
    result: str
    tool_call_id: str | None = None
    status: str | None = None


class TurnContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a predicate sees: where the turn stands, read-only (04 s.2)."""

    iteration: int
    """1-based."""
    max_iterations: int | None = None
    """How many model calls the turn may have; `None` when nothing limits it."""
    user_message: str
    """The message that started the turn; fixed for the run."""
    history: Sequence[Any]
    """The messages before this call, `LLMMessage`s."""
    tool_results: Sequence[ToolReturn] = ()
    """The whole previous batch, in call order; calls that were never dispatched are left out (INJ-12)."""
    activated_ids: Sequence[str] = ()
    """Skills activated this turn, in order."""
    lease_active_ids: Sequence[str] = ()
    """Pieces that something granted a stay: in, whatever their own rule says (04 s.2)."""
    parked_ids: Sequence[str] = ()
    """Pieces that something keeps out: out, whatever their own rule or a lease says."""
    deps: Any = None
    """The caller's own object of this run, never recorded (DEC-36)."""

    @property
    def iterations_remaining(self) -> int | None:
        """How many more model calls the limit allows after this one; `None` when there is no limit."""
        return None if self.max_iterations is None else max(0, self.max_iterations - self.iteration)

    @property
    def last_tool_result(self) -> ToolReturn | None:
        """The last result of the previous batch."""
        return self.tool_results[-1] if self.tool_results else None


def tool_results_of(given: Mapping[str, Any]) -> tuple[ToolReturn, ...]:
    """The batch before a pass, from the state: all of it when that is kept, even empty, else its last result (INJ-11).

    Args:
        given: What the pass was given of the state, by wire keys.
    """
    rows: Any = given.get("toolResults")
    if rows is None:
        last = given.get("lastToolResult")
        rows = () if last is None else (last,)
    return tuple(ToolReturn(row["toolName"], row["result"], row.get("toolCallId"), row.get("status")) for row in rows)


Predicate: TypeAlias = Callable[[TurnContext], object]
"""A rule: true lets the piece in. Coerced with `bool`."""


class Trigger:
    """When a piece is let in: one of the four below. A kind of your own is never asked, and its piece never in."""

    __slots__ = ()
    kind: ClassVar[str]
    """How the wire names it."""


@dataclass(frozen=True, slots=True)
class Always(Trigger):
    """In every pass."""

    kind = "always"


@dataclass(frozen=True, slots=True)
class When(Trigger):
    """While a rule holds."""

    predicate: Predicate
    kind = "rule"


@dataclass(frozen=True, slots=True)
class OnToolReturn(Trigger):
    """After a batch in which this tool returned; a pattern is searched in the tool's name."""

    tool: str | re.Pattern[str]
    kind = "on-tool-return"

    def matches(self, name: str) -> bool:
        """Whether a result of the tool `name` lets the piece in."""
        return name == self.tool if isinstance(self.tool, str) else self.tool.search(name) is not None


@dataclass(frozen=True, slots=True)
class OnReadSkill(Trigger):
    """Once the model has asked for it with `read_skill`."""

    kind = "llm-activated"


def trigger_kind(trigger: Trigger) -> str:
    """How the wire names a trigger; a kind of the caller's own that has no name is named by its class."""
    return getattr(trigger, "kind", type(trigger).__name__)


def check_predicate(piece: str, predicate: Predicate | None) -> None:
    """Refuse what can't be asked, and an async predicate: a coroutine is always true (CTX-4).

    Raises:
        ContextDefinitionError: `predicate` can't be called, or is a coroutine function.
    """
    if predicate is None:
        return
    if not callable(predicate):
        raise ContextDefinitionError(
            piece,
            "when",
            f"The rule of {piece!r} is a {type(predicate).__name__}, which can't be called.",
            fix="Give a function of the turn, such as: lambda turn: turn.iteration > 1.",
        )
    if inspect.iscoroutinefunction(predicate) or inspect.iscoroutinefunction(getattr(predicate, "__call__", None)):  # noqa: B004  its code, not whether there is any
        raise ContextDefinitionError(
            piece,
            "when",
            f"The rule of {piece!r} is an async function; a coroutine would always count as true.",
            fix="Make it a plain function of the turn, and fetch what it needs before the run (deps=).",
        )
