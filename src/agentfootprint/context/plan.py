"""Which pieces are in this pass, and what the slots then hold: decided once, shared while nothing changes.

A plan belongs to one agent and is immutable apart from a bounded memo of passes. A pass that lets in the same pieces
as an earlier one *is* that pass, so that the state sees "unchanged" as an identity (01b LIN-7).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from agentfootprint.context.delivery import check_keys
from agentfootprint.context.injections import ContextItem, Injection, SystemPrompt, Until, flatten
from agentfootprint.context.projection import piece_text, piece_tools, project, reason_of
from agentfootprint.context.slots import (
    base_row,
    piece_row,
    rows_text,
    slot_totals,
)
from agentfootprint.context.templates import missing_facts
from agentfootprint.context.triggers import Always, OnReadSkill, OnToolReturn, TurnContext, When, trigger_kind
from agentfootprint.errors import ConfigError
from agentfootprint.events import SkippedPiece
from agentfootprint.llm import CacheMarker
from agentfootprint.trace import FrozenDict, FrozenList, freeze

if TYPE_CHECKING:
    from agentfootprint.tools import Tool

__all__ = ["ContextPlan", "Pass", "slot_delta"]

_MEMO_SIZE: Final = 64
_NO_TOOLS: Final[Mapping[str, tuple[Tool[..., Any], ...]]] = MappingProxyType({})
SkipReason: TypeAlias = Literal["predicate-threw", "unknown-trigger-kind", "unknown-fact", "parked"]
_SLOTS: Final = ("systemPrompt", "messages", "tools")


class Pass:
    """One evaluation of the context: what is in, and everything that follows from it alone."""

    __slots__ = (
        "active",
        "active_ids",
        "by_slot",
        "kind_counts",
        "markers",
        "messages",
        "skipped",
        "system_rows",
        "system_text",
        "system_totals",
        "tools",
    )

    def __init__(
        self,
        base: SystemPrompt,
        active: Sequence[tuple[Injection, str | None]],
        skipped: Sequence[SkippedPiece],
        *,
        caching: bool,
        turn: TurnContext,
        tools: Mapping[str, tuple[Tool[..., Any], ...]] = _NO_TOOLS,
    ) -> None:
        self.active: FrozenList = freeze([project(piece, text, tools.get(piece.id, ())) for piece, text in active])
        self.active_ids: FrozenList = freeze([piece.id for piece, _ in active])
        counts: dict[str, int] = {}
        for piece, _ in active:
            kind = trigger_kind(piece.trigger)
            counts[kind] = counts.get(kind, 0) + 1
        self.kind_counts: FrozenDict = freeze(counts)
        self.skipped = tuple(skipped)
        in_system = [(piece, text) for piece, text in active if text and piece.surface_mode != "tool-only"]
        self.messages: tuple[Injection, ...] = tuple(piece for piece, _ in active if piece.inject.messages)
        """The active pieces with messages, in declaration order."""
        self.tools = tuple((piece, tools[piece.id]) for piece, _ in active if piece.id in tools)
        """The active pieces with tools, each with them."""
        self.by_slot: FrozenDict = freeze(
            {
                "systemPrompt": [_entry(piece) for piece, _ in in_system],
                "messages": [_entry(piece) for piece in self.messages],
                "tools": [_entry(piece) for piece, _ in self.tools],
            }
        )
        rows = [base_row(base.text)] if base.text else []
        rows += [piece_row(piece.id, piece.flavor, text, reason_of(piece)) for piece, text in in_system if text]
        self.system_rows: FrozenList = freeze(rows)
        self.system_text: str | None = rows_text(rows)
        self.system_totals = slot_totals(rows)
        self.markers: FrozenList = _markers(base, in_system, turn) if caching else FrozenList([], 0)


class ContextPlan:
    """The declared context of one agent, ready to be evaluated.

    Args:
        base: The base prompt.
        context: The `context=[...]` of the agent, in declaration order (CTX-1).
        caching: Whether cache markers are decided.

    Raises:
        ConfigError: Two pieces have one id.
        ContextDefinitionError: Something in the list is no piece of context.
    """

    def __init__(self, base: SystemPrompt, context: Sequence[object], *, caching: bool) -> None:
        self.base = base
        self.items: tuple[ContextItem, ...] = tuple(flatten(context))
        self.pieces: tuple[Injection, ...] = tuple(item.to_injection() for item in self.items)
        self._caching = caching
        seen: set[str] = set()
        for piece in self.pieces:
            if piece.id in seen:
                raise ConfigError(
                    "context",
                    f"Two pieces of context have the id {piece.id!r}.",
                    fix="Give each an id of its own; it is how the trace and an ablation name it.",
                )
            seen.add(piece.id)
            _refuse_skill(piece)
            check_keys(piece)
        self.tools: dict[str, tuple[Tool[..., Any], ...]] = {
            piece.id: piece_tools(piece) for piece in self.pieces if piece.inject.tools
        }
        """The tools that pieces bring, by the piece's id."""
        self.delivers = any(piece.inject.messages for piece in self.pieces)
        """Whether some piece is to be said in the conversation."""
        self._memo: dict[tuple[int, ...], Pass] = {}
        uses_until = any(isinstance(piece.cache, Until) for piece in self.pieces) or isinstance(base.cache, Until)
        self._memoize = not uses_until and not any(piece.templated for piece in self.pieces)
        self._constant = self._memoize and all(isinstance(piece.trigger, Always) for piece in self.pieces)
        self.is_empty = not self.pieces

    @property
    def constant(self) -> Pass | None:
        """The one pass of a context that has no rules, once it was evaluated; saves building a `TurnContext`."""
        return self._memo.get(()) if self._constant else None

    def evaluate(self, turn: TurnContext) -> Pass:
        """Decide which pieces are in, in declaration order (04 s.2). Never raises for a rule that does."""
        admitted: list[int] = []
        skipped: list[SkippedPiece] = []
        for index, piece in enumerate(self.pieces):
            if _admit(piece, turn, skipped):
                admitted.append(index)
        key = () if self._constant and not turn.parked_ids else tuple(admitted)
        if self._memoize and not skipped:
            known = self._memo.get(key)
            if known is not None:
                return known
        pairs = [(self.pieces[index], _text(self.pieces[index], turn)) for index in admitted]
        made = Pass(self.base, pairs, skipped, caching=self._caching, turn=turn, tools=self.tools)
        if self._memoize and not skipped and len(self._memo) < _MEMO_SIZE:
            self._memo[key] = made
        return made


def _refuse_skill(piece: Injection) -> None:
    """A skill is asked for with `read_skill`, which an agent does not offer yet: it could never be in."""
    if piece.surface_mode is not None:
        raise ConfigError(
            "context",
            f"The skill {piece.id!r} stands in context=[...]; this version mounts no skills.",
            fix="Use Instruction(..., when=...) and the agent's own tools until it does.",
        )


def _admit(piece: Injection, turn: TurnContext, skipped: list[SkippedPiece]) -> bool:
    """Whether a piece is in; a piece that could not be judged is filed with the reason (INJ-13)."""
    if piece.id in turn.parked_ids:
        skipped.append(_skipped(piece, "parked", "it is parked for now"))
        return False
    if piece.id not in turn.lease_active_ids and not _triggered(piece, turn, skipped):
        return False
    if piece.templated:
        text = piece.inject.system_prompt or ""
        missing = missing_facts(text, iteration=turn.iteration, max_iterations=turn.max_iterations)
        if missing:
            skipped.append(_skipped(piece, "unknown-fact", f"this turn has no {' and no '.join(missing)}"))
            return False
    return True


def _triggered(piece: Injection, turn: TurnContext, skipped: list[SkippedPiece]) -> bool:
    trigger = piece.trigger
    if isinstance(trigger, Always):
        return True
    if isinstance(trigger, When):
        return _holds(piece, trigger, turn, skipped)
    if isinstance(trigger, OnToolReturn):
        return any(trigger.matches(result.tool_name) for result in turn.tool_results)
    if isinstance(trigger, OnReadSkill):
        return piece.id in turn.activated_ids
    kind = trigger_kind(trigger)
    skipped.append(_skipped(piece, "unknown-trigger-kind", f"nothing is known about the trigger kind {kind!r}"))
    return False


def _holds(piece: Injection, trigger: When, turn: TurnContext, skipped: list[SkippedPiece]) -> bool:
    try:
        verdict = trigger.predicate(turn)
        if not inspect.isawaitable(verdict):
            return bool(verdict)
    except Exception as error:  # noqa: BLE001  a user's rule; the piece is left out and the reason recorded
        skipped.append(_skipped(piece, "predicate-threw", str(error) or type(error).__name__))
        return False
    if inspect.iscoroutine(verdict):
        verdict.close()
    skipped.append(_skipped(piece, "predicate-threw", "the rule returned an awaitable"))
    return False


def _skipped(piece: Injection, reason: SkipReason, error: str) -> SkippedPiece:
    return SkippedPiece(id=piece.id, reason=reason, error=error)


def _text(piece: Injection, turn: TurnContext) -> str | None:
    return piece_text(piece, iteration=turn.iteration, max_iterations=turn.max_iterations)


def _entry(piece: Injection) -> dict[str, str]:
    """A piece as the state lists it under a slot (INJ-18)."""
    return {"id": piece.id, "source": piece.flavor, "reason": reason_of(piece)}


def _is_cacheable(policy: object, turn: TurnContext) -> bool:
    if policy in ("always", "while-active"):
        return True
    if isinstance(policy, Until):
        try:
            return not policy.predicate(turn)
        except Exception:  # noqa: BLE001  a user's rule; a policy that fails does not cache (CACHE-1)
            return False
    return False


def _markers(base: SystemPrompt, pieces: Sequence[tuple[Injection, str | None]], turn: TurnContext) -> FrozenList:
    """The marker of the system slot: the longest prefix of cacheable entries (CACHE-3)."""
    entries: list[tuple[str, Any]] = [("base", base.cache)] if base.text else []
    entries += [(f"{piece.flavor}:{piece.id}", piece.cache) for piece, _ in pieces]
    last = -1
    if base.text:
        for index, (_, policy) in enumerate(entries):
            if not _is_cacheable(policy, turn):
                break
            last = index
    if last < 0:
        return FrozenList([], 0)
    count = "1 entry" if last == 0 else f"{last + 1} entries"
    reason = f"system stable prefix ({count}, ending at {entries[last][0]})"
    return freeze([CacheMarker("system", last, "short", reason)])


def slot_delta(prior: FrozenDict, now: FrozenDict) -> FrozenDict:
    """What came, went and stayed in each slot between two passes (INJ-18)."""
    delta: dict[str, Any] = {}
    for slot in _SLOTS:
        before = [entry["id"] for entry in prior.get(slot, ())]
        after = [entry["id"] for entry in now.get(slot, ())]
        delta[slot] = FrozenDict(
            {
                "added": _ids([piece for piece in after if piece not in before]),
                "removed": _ids([piece for piece in before if piece not in after]),
                "kept": _ids([piece for piece in after if piece in before]),
            }
        )
    return FrozenDict(delta)


def _ids(pieces: list[str]) -> FrozenList:
    return FrozenList(pieces, len(pieces))
