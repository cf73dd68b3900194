"""Random pieces as parts of a chart, with typed stages or raw ones.

What a stage does depends on the state only: a run can be repeated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from agentfootprint.flow import (
    Branch,
    Chart,
    Choice,
    Decider,
    Fork,
    Handle,
    LoopTo,
    Part,
    Pausable,
    Rule,
    Selection,
    Selector,
    Stage,
    StageContext,
    State,
    Subflow,
    decide,
    select,
)
from tests.flow.random_pieces import Again, Choose, Line, Mount, Node, Op, Pick, Piece, Plain, Spread

__all__ = ["Boom", "Desk", "chart_of"]


class Boom(Exception):  # noqa: N818  a word that no other error has
    """What a failing stage raises."""


def chart_of(name: str, line: Line, *, raw: bool) -> Chart:
    parts: list[Part] = []
    for piece in line.pieces:
        parts += _parts(piece, raw=raw)
    return Chart.of(name, *parts)


def _parts(piece: Piece, *, raw: bool) -> list[Part]:
    if isinstance(piece, Choose):
        branches = [_node(branch, raw=raw) for branch in piece.branches]
        ids = [branch.id for branch in piece.branches]
        choose = _deciding(piece, ids)
        return [Decider(_function(choose, raw=raw), branches, id=piece.id, raw=raw, default=ids[-1])]
    if isinstance(piece, Pick):
        branches = [_node(branch, raw=raw) for branch in piece.branches]
        return [Selector(_function(_picking(piece), raw=raw), branches, id=piece.id, raw=raw)]
    if isinstance(piece, Spread):
        children = [_node(child, raw=raw) for child in piece.children]
        return [Fork([child for child in children if isinstance(child, (Stage, Subflow))])]
    if isinstance(piece, Again):
        return _again(piece, raw=raw)
    return [_node(piece, raw=raw)]


def _node(node: Node, *, raw: bool) -> Branch:
    if isinstance(node, Mount):
        chart = chart_of(node.id, node.line, raw=raw)
        return Subflow(
            chart,
            id=node.id,
            input=node.keys,
            output=node.keys,
            inputs="mutable",
            propagate_break=node.propagate_break,
        )
    function = _function(_working(node), raw=raw, is_async=node.is_async)
    if node.end == "ask":
        return Pausable(function, _function(_answered, raw=raw, takes_answer=True), id=node.id, raw=raw)
    return Stage(function, id=node.id, raw=raw)


def _again(piece: Again, *, raw: bool) -> list[Part]:
    key = f"rounds-{piece.id}"

    def guard(desk: Desk) -> None:
        rounds = desk.get(key, 0) + 1
        desk.set(key, rounds)
        if rounds > piece.times:
            desk.break_("enough")

    def choose(desk: Desk) -> str:
        rounds = desk.get(key, 0) + 1
        desk.set(key, rounds)
        return f"{piece.id}-{'again' if rounds <= piece.times else 'stop'}"

    if piece.by == "break":
        return [Stage(_function(guard, raw=raw), id=piece.id, raw=raw), LoopTo(piece.target)]
    nothing = _function(_idle, raw=raw)
    branches = [
        Stage(nothing, id=f"{piece.id}-again", raw=raw, loop_to=piece.target),
        Stage(nothing, id=f"{piece.id}-stop", raw=raw),
    ]
    return [Decider(_function(choose, raw=raw), branches, id=piece.id, raw=raw)]


class Desk:
    """What a drawn stage works on: a typed state with its context, or a handle."""

    def __init__(self, state: State | Handle, ctx: StageContext | Handle) -> None:
        self.state = state
        self.get, self.break_, self.emit = ctx.get, ctx.break_, ctx.emit

    def set(self, key: str, value: Any) -> None:
        self.state[key] = value

    def do(self, op: Op) -> None:
        verb, key, number = op
        if verb == "read":
            self.get(key)
        elif verb == "set":
            self.set(key, number)
        elif verb == "add":
            self.set(key, self.get(key, 0) + number)
        elif verb == "append":
            self.set(key, [*self.get(key, ()), number])
        elif verb == "emit":
            self.emit(f"app.{key}", {"n": number})
        elif verb == "delete" and key in self.state:
            del self.state[key]


def _function(
    work: Callable[..., Any], *, raw: bool, is_async: bool = False, takes_answer: bool = False
) -> Callable[..., Any]:
    """A stage function that works on a desk."""
    if takes_answer:
        return _raw_resume(work) if raw else _resume(work)
    if is_async:
        return _raw_suspending(work) if raw else _suspending(work)
    return _raw_plain(work) if raw else _plain(work)


def _plain(work: Callable[..., Any]) -> Callable[..., Any]:
    def stage(s: State, ctx: StageContext) -> Any:
        return work(Desk(s, ctx))

    return stage


def _raw_plain(work: Callable[..., Any]) -> Callable[..., Any]:
    def stage(h: Handle) -> Any:
        return work(Desk(h, h))

    return stage


def _suspending(work: Callable[..., Any]) -> Callable[..., Any]:
    async def stage(s: State, ctx: StageContext) -> Any:
        await asyncio.sleep(0)
        returned = work(Desk(s, ctx))
        await asyncio.sleep(0)
        return returned

    return stage


def _raw_suspending(work: Callable[..., Any]) -> Callable[..., Any]:
    async def stage(h: Handle) -> Any:
        await asyncio.sleep(0)
        returned = work(Desk(h, h))
        await asyncio.sleep(0)
        return returned

    return stage


def _resume(work: Callable[..., Any]) -> Callable[..., Any]:
    def stage(s: State, answer: Any, ctx: StageContext) -> Any:
        return work(Desk(s, ctx), answer)

    return stage


def _raw_resume(work: Callable[..., Any]) -> Callable[..., Any]:
    def stage(h: Handle, answer: Any) -> Any:
        return work(Desk(h, h), answer)

    return stage


def _working(node: Plain) -> Callable[[Desk], Any]:
    def work(desk: Desk) -> Any:
        for op in node.ops:
            desk.do(op)
        if node.end == "break":
            desk.break_("drawn so")
        elif node.end == "raise":
            raise Boom(node.id)
        elif node.end == "ask":
            return {"question": node.id}
        return None

    return work


def _idle(desk: Desk) -> None:
    """What a stage does that is only there to go back."""


def _answered(desk: Desk, answer: Any) -> None:
    desk.set("n0", answer)


def _deciding(piece: Choose, ids: Sequence[str]) -> Callable[[Desk], Any]:
    chosen = ids[piece.chosen]

    def choose(desk: Desk) -> Choice | str:
        for op in piece.ops:
            desk.do(op)
        if not piece.has_evidence:
            return chosen if piece.chosen < len(ids) - 1 else "nobody"
        rules = [
            Rule(when={"never": {"eq": 1}}, then=ids[0], label="never"),
            Rule(when=_looks, then=chosen, label="always"),
        ]
        return decide(desk.state, rules, default=ids[-1])

    return choose


def _picking(piece: Pick) -> Callable[[Desk], Any]:
    ids = [branch.id for branch in piece.branches]

    def pick(desk: Desk) -> Selection | list[str]:
        for op in piece.ops:
            desk.do(op)
        if not piece.has_evidence:
            return [ids[number] for number in piece.chosen]
        return select(desk.state, [Rule(when=_looks, then=ids[number]) for number in piece.chosen])

    return pick


def _looks(state: Any) -> bool:
    """A rule that reads what is there, and always matches."""
    return ("n0" not in state) or state["n0"] is not None
