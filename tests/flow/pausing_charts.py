"""Random charts that ask: in stages, in branches, in forks, in loops, in mounts of mounts.

A chart is drawn as data, and built twice: once so that it pauses at every question, once so that it knows the answers
and never pauses. Whatever its shape, both must come to the same state.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from hypothesis import strategies as st

from agentfootprint.flow import (
    Branch,
    Chart,
    Decider,
    Flow,
    ForEach,
    Fork,
    Handle,
    Part,
    Pausable,
    Selector,
    Stage,
    Subflow,
)

__all__ = ["Spec", "answer_for", "charts", "flow_of", "question_of"]

Spec: TypeAlias = "tuple[Any, ...]"


def charts() -> st.SearchStrategy[list[Spec]]:
    """Main lines of charts: lists of parts."""
    return st.integers(0, 2).flatmap(_lines)


def _lines(depth: int) -> st.SearchStrategy[list[Spec]]:
    leaf = st.one_of(
        st.just(("stage",)),
        st.just(("ask",)),
        st.tuples(st.just("interrupt"), st.integers(1, 2)),
        st.just(("late",)),
    )
    branch: st.SearchStrategy[Spec] = leaf
    if depth:
        branch = st.one_of(leaf, st.tuples(st.just("mount"), _lines(depth - 1), st.booleans(), st.booleans()))
    several = st.lists(branch, min_size=1, max_size=3)
    each = [st.tuples(st.just("each"), st.lists(_lines(depth - 1), max_size=2))] if depth else []
    part = st.one_of(
        branch,
        branch,
        *each,
        st.tuples(st.just("decider"), several),
        st.tuples(st.just("fork"), several),
        st.tuples(st.just("selector"), several),
        st.tuples(st.just("again"), branch),
    )
    return st.lists(part, min_size=1, max_size=3)


def question_of(data: Any) -> str:
    """The question in what a checkpoint says was asked."""
    return data if isinstance(data, str) else str(data["reason"])


def answer_for(question: str) -> str:
    """What both kinds of charts take for the answer."""
    return f"re {question}"


def flow_of(spec: list[Spec], *, pauses: bool) -> Flow:
    """Build a chart."""
    return _Maker(pauses=pauses).line("Chart", spec).build()


class _Maker:
    def __init__(self, *, pauses: bool, prefix: str = "") -> None:
        self.pauses = pauses
        self.prefix = prefix
        self.ids: Iterator[int] = itertools.count()

    def _id(self, kind: str) -> str:
        return f"{self.prefix}{kind}{next(self.ids)}"

    def line(self, name: str, spec: list[Spec]) -> Chart:
        first = self._id("first")
        parts: list[Part] = [self._stage(first)]
        for part in spec:
            if part[0] == "fork":
                before = self._id("before")
                parts += [self._stage(before), Fork([self.branch(child, apart=True) for child in part[1]])]
            elif part[0] == "selector":
                branches = [self.branch(child, apart=True) for child in part[1]]
                chosen = [str(branch.id) for branch in branches][:2]
                parts.append(Selector(_always(chosen), branches, id=self._id("pick"), raw=True))
            elif part[0] == "decider":
                branches = [self.branch(child) for child in part[1]]
                last = str(branches[-1].id)
                parts.append(Decider(_always(last), branches, id=self._id("route"), raw=True))
            elif part[0] == "again":
                parts.append(self._again(part[1], first))
            elif part[0] == "each":
                parts.append(self._each(part[1]))
            else:
                parts.append(self.branch(part))
        return Chart.of(name, *parts)

    def _again(self, spec: Spec, first: str) -> Decider:
        own, done = self._id("again"), self._id("done")
        back = self.branch(spec, loop_to=first)

        def choose(h: Handle) -> str:
            if own in h:
                return done
            h[own] = True
            return str(back.id)

        return Decider(choose, [back, self._stage(done)], id=own, raw=True)

    def _each(self, lines: list[list[Spec]]) -> ForEach:
        own = self._id("each")

        def of_item(item: Any, index: int) -> Chart:  # asked for again by every visit and resume
            return self._apart(f"{own}-{index}-").line(f"Item {index}", lines[index])

        return ForEach(of_item, _always(list(range(len(lines)))), id=own, max_branches=5, into=f"out-{own}", raw=True)

    def _apart(self, prefix: str) -> _Maker:
        """A maker whose ids don't depend on when it is asked."""
        return _Maker(pauses=self.pauses, prefix=prefix)

    def branch(self, spec: Spec, *, apart: bool = False, loop_to: str | None = None) -> Branch:
        kind = spec[0]
        own = self._id(kind)
        if kind == "stage":
            return self._stage(own, loop_to=loop_to)
        if kind == "mount":
            mapped: Any = _mapped if spec[2] else ("log",)
            chart: Any = None if spec[3] else self.line(own, spec[1])

            def made() -> Chart:
                return self._apart(f"{own}-").line(own, spec[1])

            out = {f"out-{own}" if apart else "log": "log"}
            return Subflow(
                chart or made,
                lazy=spec[3],
                id=own,
                input=mapped,
                output=out,
                array_merge="replace-all",
                inputs="mutable",
                loop_to=loop_to,
            )
        if kind == "interrupt":
            return self._asking(own, spec[1], loop_to)
        return self._pausable(own, late=kind == "late", loop_to=loop_to)

    def _stage(self, own: str, *, loop_to: str | None = None) -> Stage:
        return Stage(_noting(own), id=own, raw=True, loop_to=loop_to)

    def _asking(self, own: str, questions: int, loop_to: str | None) -> Stage:
        """A stage that asks in the middle of its work."""
        note = _noting(own)

        def ask(h: Handle) -> None:
            h[f"{own}-begun"] = True
            answers = [h.interrupt(f"{own}.{n}") if self.pauses else answer_for(f"{own}.{n}") for n in range(questions)]
            note(h, *answers)

        return Stage(ask, id=own, raw=True, loop_to=loop_to)

    def _pausable(self, own: str, *, late: bool, loop_to: str | None) -> Branch:
        """A pausable stage; a late one asks in its second half too."""
        note = _noting(own)

        def first(h: Handle) -> str:
            h[f"{own}-begun"] = True
            return own

        def second(h: Handle, answer: Any) -> None:
            more = [h.interrupt(f"{own}.late", expects="text") if self.pauses else answer_for(f"{own}.late")]
            note(h, answer, *(more if late else ()))

        def early(h: Handle, answer: Any) -> None:
            note(h, answer)

        resume = second if late else early
        if self.pauses:
            return Pausable(first, resume, id=own, raw=True, loop_to=loop_to)

        def both(h: Handle) -> None:
            resume(h, answer_for(first(h)))

        return Stage(both, id=own, raw=True, loop_to=loop_to)


def _mapped(state: Any) -> dict[str, Any]:
    return {"log": state.get("log", []), "more": len(state)}


def _always(value: Any) -> Callable[[Handle], Any]:
    def function(h: Handle) -> Any:
        return value

    return function


def _noting(own: str) -> Callable[..., None]:
    """Adds a line to the log: who was here, and what it was told."""

    def note(h: Handle, *told: Any) -> None:
        h["log"] = [*h.get("log", ()), [own, *told]]

    return note
