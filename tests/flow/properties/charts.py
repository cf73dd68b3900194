"""Random charts whose stages follow a script, to be run through the bare handle or through the typed state.

The same drawing gives the same chart in either form, so that two runs of it may be compared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st

from agentfootprint.flow import (
    AbsentKeyError,
    Chart,
    Decider,
    Flow,
    FlowError,
    FlowRun,
    Fork,
    Handle,
    Part,
    Selector,
    Stage,
    StageContext,
    State,
    Subflow,
)
from agentfootprint.trace import NATIVE, Dials, FrozenList, thaw

__all__ = ["KEYS", "BoomError", "Drawing", "Ran", "drawings", "run_of"]

KEYS = ("a", "b", "h", "o")
Step: TypeAlias = "tuple[Any, ...]"
Form: TypeAlias = Literal["raw", "typed"]
MAX_PASSES = 3


class BoomError(Exception):
    """What a scripted stage raises."""


@dataclass(frozen=True)
class Body:
    """What a stage does."""

    steps: tuple[Step, ...]
    waits: bool = False


def _nothing(value: Any) -> Any:
    """What a stage returns that chooses nothing."""


@dataclass(frozen=True)
class Line:
    """A main line, or the chart of a mount."""

    parts: tuple[tuple[Any, ...], ...]
    loops: bool = False


@dataclass
class Drawing:
    """A chart that was drawn at random."""

    line: Line
    form: Form = "raw"
    count: int = field(default=0, repr=False)

    def built(self, form: Form) -> Flow:
        """The chart in one of its forms."""
        self.form, self.count = form, 0
        return self._chart(self.line).build()

    def _id(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def _chart(self, line: Line) -> Chart:
        name = self._id("chart")
        first = self._stage(Body((("read", "a"),)), "first")
        parts: list[Part] = [first]
        for kind, *rest in line.parts:
            parts.extend(getattr(self, f"_{kind}")(*rest))
        if line.loops:
            assert first.id is not None
            parts.append(self._looping(first.id))
        return Chart.of(name, *parts)

    def _stage(self, body: Body, kind: str = "s", **more: Any) -> Stage:
        return Stage(self._function(body), id=self._id(kind), raw=self.form == "raw", **more)

    def _mount(self, line: Line, merge: Any, mutable: bool, callables: bool) -> Subflow:
        give: Any = {"a": "a", "h": "h"}
        back: Any = {"b": "a", "o": "o"}  # nothing goes in and out again: joined each time, it would grow without end
        if callables:
            give, back = _given, _taken
        return Subflow(
            self._chart(line),
            id=self._id("m"),
            input=give,
            output=back,
            array_merge=merge,
            inputs="mutable" if mutable else "readonly",
        )

    def _body(self, body: Body) -> list[Part]:
        return [self._stage(body)]

    def _subflow(self, *mount: Any) -> list[Part]:
        return [self._mount(*mount)]

    def _children(self, drawn: tuple[Any, ...]) -> list[Any]:
        return [self._stage(each) if isinstance(each, Body) else self._mount(*each) for each in drawn]

    def _fork(self, before: Body, drawn: tuple[Any, ...], fail_fast: bool) -> list[Part]:
        return [self._stage(before), Fork(self._children(drawn), fail_fast=fail_fast)]

    def _decider(self, body: Body, drawn: tuple[Any, ...]) -> list[Part]:
        branches = self._children(drawn)
        names = [branch.id for branch in branches]
        function = self._function(body, lambda value: names[len(repr(value)) % len(names)])
        return [Decider(function, branches, id=self._id("d"), raw=self.form == "raw")]

    def _selector(self, body: Body, drawn: tuple[Any, ...], fail_fast: bool) -> list[Part]:
        branches = self._children(drawn)
        names = tuple(branch.id for branch in branches)
        function = self._function(body, lambda value: names[: len(repr(value)) % (len(names) + 1)])
        return [Selector(function, branches, id=self._id("sel"), raw=self.form == "raw", fail_fast=fail_fast)]

    def _looping(self, target: str) -> Decider:
        """Goes back to the first stage twice."""
        again, done = self._stage(Body(()), "again", loop_to=target), self._stage(Body(()), "done")
        assert again.id is not None
        assert done.id is not None
        names = again.id, done.id

        def next_pass(h: Handle) -> str:
            passes = h.get("passes", 0) + 1
            h["passes"] = passes
            return names[1 if passes >= MAX_PASSES else 0]

        def next_pass_typed(s: Any, ctx: StageContext) -> str:
            passes = ctx.get("passes", 0) + 1
            s.passes = passes
            return names[1 if passes >= MAX_PASSES else 0]

        is_raw = self.form == "raw"
        return Decider(next_pass if is_raw else next_pass_typed, [again, done], id=self._id("loop"), raw=is_raw)

    def _function(self, body: Body, ending: Callable[[Any], Any] = _nothing) -> Callable[..., Any]:
        if self.form == "raw":

            def raw(h: Handle) -> Any:
                for step in body.steps:
                    _on_handle(h, *step)
                return ending(thaw(h.get("a")))

            async def slow(h: Handle) -> Any:
                for step in body.steps:
                    await asyncio.sleep(0)
                    _on_handle(h, *step)
                return ending(thaw(h.get("a")))

            return slow if body.waits else raw

        def typed(s: State, ctx: StageContext) -> Any:
            for step in body.steps:
                _on_state(s, ctx, *step)
            return ending(thaw(ctx.get("a")))

        async def slow_typed(s: State, ctx: StageContext) -> Any:
            for step in body.steps:
                await asyncio.sleep(0)
                _on_state(s, ctx, *step)
            return ending(thaw(ctx.get("a")))

        return slow_typed if body.waits else typed


def _given(parent: Any) -> Any:
    return {"a": parent.get("a", 0), "h": parent.get("h", [])}


def _taken(value: Any, parent: Any) -> Any:
    return {"o": {"from": value.get("a"), "over": parent.get("a")}, "b": value.get("h", [])}


def _boom(key: str) -> None:
    raise BoomError(key)


def _append(h: Handle, key: str, value: Any) -> None:
    if isinstance(h.get(key, []), (list, FrozenList)):
        h.append(key, [value])


def _append_to_state(s: Any, ctx: StageContext, key: str, value: Any) -> None:
    there = ctx.get(key, [])
    if there == []:
        s[key] = [value]
    elif isinstance(there, FrozenList):
        s[key].append(value)


QUIET_ON_HANDLE: dict[str, Callable[[Handle, str], object]] = {
    "read": lambda h, key: h.get(key),
    "probe": lambda h, key: key in h,
    "peek": lambda h, key: h.peek(key),
    "args": lambda h, key: h.args,
    "delete": lambda h, key: h.__delitem__(key),
    "copy": lambda h, key: h.__setitem__(key, h.get("a")),
    "break": lambda h, key: h.break_(key),
    "boom": lambda h, key: _boom(key),
}
LOUD_ON_HANDLE: dict[str, Callable[[Handle, str, Any], object]] = {
    "set": lambda h, key, value: h.__setitem__(key, value),
    "append": _append,
    "emit": lambda h, key, value: h.emit(key, value),
}


def _on_handle(h: Handle, verb: str, key: str, *value: Any) -> None:
    if value:
        LOUD_ON_HANDLE[verb](h, key, *value)
    else:
        QUIET_ON_HANDLE[verb](h, key)


def _nested(s: Any, key: str, value: Any) -> None:
    """Write below a key: what a view turns into a merge, a nested set or a nested delete."""
    try:
        view = s[key]
    except AbsentKeyError:
        return
    if hasattr(view, "insert"):
        if len(view) > 2:
            del view[1]
        view.insert(0, value)
    elif hasattr(view, "keys"):
        inner = view.get("x")
        if hasattr(inner, "append"):
            inner.append(value)
        elif hasattr(inner, "keys"):
            inner["y"] = value
        elif "x" in view:
            del view["x"]
        view["x"] = value


QUIET_ON_STATE: dict[str, Callable[[Any, StageContext, str], object]] = {
    "read": lambda s, ctx, key: ctx.get(key),
    "probe": lambda s, ctx, key: key in s,
    "peek": lambda s, ctx, key: ctx.peek(key),
    "args": lambda s, ctx, key: ctx.args,
    "delete": lambda s, ctx, key: s.__delitem__(key),
    "copy": lambda s, ctx, key: s.__setitem__(key, ctx.get("a")),
    "break": lambda s, ctx, key: ctx.break_(key),
    "boom": lambda s, ctx, key: _boom(key),
}
LOUD_ON_STATE: dict[str, Callable[[Any, StageContext, str, Any], object]] = {
    "set": lambda s, ctx, key, value: s.__setitem__(key, value),
    "append": _append_to_state,
    "emit": lambda s, ctx, key, value: ctx.emit(key, value),
    "merge": lambda s, ctx, key, value: ctx.update(key, value),
    "nested": lambda s, ctx, key, value: _nested(s, key, value),
}


def _on_state(s: Any, ctx: StageContext, verb: str, key: str, *value: Any) -> None:
    if value:
        LOUD_ON_STATE[verb](s, ctx, key, *value)
    else:
        QUIET_ON_STATE[verb](s, ctx, key)


LISTS: list[Any] = [[], [1], [[1], {"x": 1}], [1, True]]
OBJECTS: list[Any] = [
    {},
    {"x": 1},
    {"x": [1]},
    {"x": {"y": 2}},
    {"y": None, "x": []},
    {"constructor": 1, "a\x1fb": {"x": 1}},
]
VALUES: list[Any] = [None, True, 1, 1.0, 0, "", "é", *LISTS, *OBJECTS]
QUIET = [(verb, key) for verb in ("read", "probe", "peek", "args", "delete", "copy") for key in KEYS]
LOUD = [(verb, key, value) for verb in ("set", "append", "emit") for key in KEYS for value in VALUES]
BELOW = [("merge", "o", value) for value in OBJECTS] + [("nested", key, value) for key in KEYS for value in VALUES]
PLAIN_STEPS: st.SearchStrategy[Step] = st.sampled_from(QUIET) | st.sampled_from(LOUD)
NESTED_STEPS: st.SearchStrategy[Step] = PLAIN_STEPS | st.sampled_from(BELOW)
ENDINGS: tuple[Step | None, ...] = (*(None,) * 16, ("break", "a"), ("boom", "b"))
merges = st.sampled_from(("concat", "replace", "replace-all"))


@st.composite
def bodies(draw: st.DrawFn, *, nested: bool, waits: bool) -> Body:
    steps = draw(st.lists(NESTED_STEPS if nested else PLAIN_STEPS, max_size=4))
    ending = draw(st.sampled_from(ENDINGS))
    return Body(tuple(steps) if ending is None else (*steps, ending), waits and draw(st.booleans()))


@st.composite
def lines(draw: st.DrawFn, depth: int, *, nested: bool, waits: bool, callables: bool) -> Line:
    body = bodies(nested=nested, waits=waits)
    child: st.SearchStrategy[Any] = body
    kinds = ["body", "decider", "selector", "fork"]
    inner: st.SearchStrategy[Any] = st.nothing()
    if depth:
        below = lines(depth - 1, nested=nested, waits=waits, callables=callables)
        mutable = st.sampled_from((True, True, True, False))
        inner = st.tuples(below, merges, mutable, st.booleans() if callables else st.just(False))
        kinds.append("subflow")
        child = body | inner
    parts: list[tuple[Any, ...]] = []
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3 if depth else 2)):
        if kind == "body":
            parts.append((kind, draw(body)))
        elif kind == "subflow":
            parts.append((kind, *draw(inner)))
        else:
            children = tuple(draw(st.lists(child, min_size=2, max_size=3)))
            more = () if kind == "decider" else (draw(st.booleans()),)
            parts.append((kind, draw(body), children, *more))
    return Line(tuple(parts), depth > 0 and draw(st.booleans()))


def drawings(
    *, nested: bool = False, waits: bool = False, callables: bool = True, depth: int = 1
) -> st.SearchStrategy[Drawing]:
    """Charts at random.

    Args:
        nested: Whether stages also write below a key, which only the typed state can.
        waits: Whether some stages wait for their turn between their steps, so that branches interleave.
        callables: Whether some mounts map with functions.
        depth: How deep charts are mounted in charts.
    """
    return lines(depth, nested=nested, waits=waits, callables=callables).map(Drawing)


@dataclass
class Ran:
    """A run of a drawing, and how it ended."""

    run: FlowRun
    ending: str


def run_of(
    drawing: Drawing, form: Form = "raw", dials: Dials = NATIVE, *, initial: bool = False, **options: Any
) -> Ran:
    """Run a drawing; an error that its script or the engine raises by name is an ending like another."""
    state = {"a": [0], "o": {"x": {"y": 1}}} if initial else None
    run = FlowRun(drawing.built(form), dials=dials, initial_state=state, **options)
    run.yielded = 1 << 62  # gives the event loop no turn by the clock, so that two runs interleave alike
    try:
        outcome = asyncio.run(run.start({"question": 1}))
    except (BoomError, FlowError) as error:
        return Ran(run, type(error).__name__)
    return Ran(run, outcome.status)
