"""One way of several: the first case that holds is asked, or else the one for all the rest (09 s.4)."""

from __future__ import annotations

import inspect
from collections import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from msgspec import UNSET

from agentfootprint.agent import read_message
from agentfootprint.compose.children import Case, RunInput, check_child_id, check_listed, check_runner, refuse_repeated
from agentfootprint.compose.composed import Composed
from agentfootprint.compose.mounting import mount
from agentfootprint.compose.plan import Child, made_plan
from agentfootprint.errors import ConfigError
from agentfootprint.events import CompositionRouteDecided
from agentfootprint.flow import Chart, Choice, Decider, Handle, Rule, Stage, decide
from agentfootprint.trace import FILTER_OPS, FrozenDict, Value

if TYPE_CHECKING:
    from agentfootprint.agent import Limits
    from agentfootprint.compose.children import AnyRunner, Filter
    from agentfootprint.compose.scope import Kind, Scope

__all__ = ["Conditional"]

_DOOR = "Conditional"
_RESERVED = ("seed", "route", "finalize")


def _seed(h: Handle) -> None:
    scope: Scope = h.scope
    h["startMs"] = scope.enter(h, "Conditional", len(scope.composed.plan.children))
    h["userMessage"] = h.args["message"]


async def _route(h: Handle) -> Choice:
    scope: Scope = h.scope
    scope.here = h
    conditional = cast("Conditional", scope.composed)
    message: str = h["userMessage"]
    chosen, evidence = conditional.otherwise, UNSET
    rationale = f"no case holds, so it goes the way of {chosen!r}"
    for case in conditional.cases:
        holds, compared = await _holds(case, message)
        if holds:
            chosen, evidence = case.id, compared
            rationale = f"the case {case.id!r} holds"
            break
    scope.emit(
        h,
        CompositionRouteDecided(
            conditional_id=conditional.id, chosen=chosen, rationale=rationale, evidence=cast("Any", evidence)
        ),
    )
    return Choice(chosen, None if evidence is UNSET else evidence)


async def _holds(case: Case, message: str) -> tuple[bool, Value]:
    """Whether a case holds; with what it compared, where it is a filter."""
    if isinstance(case.when, Mapping):
        compared = cast("Filter", case.when)
        choice = decide(FrozenDict({"message": message}), [Rule(when=compared, then=case.id)], default="")
        return choice.branch == case.id, choice.evidence
    found = cast("Any", case.when)(RunInput(message))
    if inspect.isawaitable(found):
        found = await found
    return bool(found), UNSET


def _finalize(h: Handle) -> str:
    scope: Scope = h.scope
    said: str = h["result"]
    scope.leave(h, "ok")
    return said


def _said(value: str, _: Mapping[str, Any]) -> dict[str, Any]:
    return {"result": value}


class Conditional(Composed[str]):
    """The first case that holds says who is asked; somebody always is.

    Args:
        cases: In the order they are looked at; each is looked at once at most.
        otherwise: Who is asked when none holds: a runner, or `(id, runner)`.
        id: For the trace.
        name: For people.
        limits: `deadline` and `teardown` of a run.

    Raises:
        ConfigError: There is no case, two have one id, or one can't be asked.

    Example:
        >>> from agentfootprint import LLMCall, Mock
        >>> def is_short(given):
        ...     return len(given.message) < 10
        >>> desk = Conditional([Case("short", is_short, LLMCall(Mock("Yes.")))], otherwise=LLMCall(Mock("Well, ...")))
        >>> desk.run_sync("Is it so?").output
        'Yes.'
    """

    kind: ClassVar[Kind | None] = "Conditional"

    def __init__(
        self,
        cases: abc.Sequence[Case],
        *,
        otherwise: AnyRunner | tuple[str, AnyRunner],
        id: str = "conditional",
        name: str = "Conditional",
        limits: Limits | None = None,
    ) -> None:
        self.cases = tuple(_checked_case(case) for case in check_listed(_DOOR, "cases", cases))
        if not self.cases:
            raise ConfigError("cases", "A Conditional without cases has nothing to choose.", fix="Give it a Case.")
        rest_id, rest = _otherwise(otherwise)
        self.otherwise = rest_id
        children = [Child(case.id, case.id, case.runner) for case in self.cases]
        children.append(Child(rest_id, rest_id, rest))
        refuse_repeated(_DOOR, "branch", (child.key for child in children))
        described = f"Conditional: {len(children)}-branch routing"
        chart = Chart.of(
            name if isinstance(name, str) else _DOOR,  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            Stage(_seed, id="seed", name="Initialize", description=described, raw=True),
            Decider(
                _route,
                id="route",
                name="Route",
                raw=True,
                branches=[
                    mount(
                        child.runner,
                        key=child.key,
                        id=child.mount,
                        name=child.key,
                        input={"message": "userMessage"},
                        output=_said,
                    )
                    for child in children
                ],
            ),
            Stage(_finalize, id="finalize", name="Finalize", raw=True),
        )
        super().__init__(made_plan(_DOOR, id, name, limits, chart.build(), children))

    @property
    def door(self) -> str:
        """`Conditional.run`."""
        return "Conditional.run"

    def checked(self, message: object) -> str:
        """The text that it was asked (CMP-3)."""
        return read_message(self.door, message)


def _checked_case(given: object) -> Case:
    if not isinstance(given, Case):
        raise ConfigError(
            "cases", f"A case of the Conditional is a {type(given).__name__}.", fix="Write Case(id, when, runner)."
        )
    _check_id(given.id)
    check_runner(_DOOR, "case", given.id, given.runner)
    if isinstance(given.when, Mapping):
        compared = cast("Filter", given.when)
        unknown = sorted(set(compared) - {"message"})
        if unknown or not compared:
            raise ConfigError(
                "cases",
                f"The filter of the case {given.id!r} " + (f"looks at {unknown[0]!r}." if unknown else "is empty."),
                fix='A filter looks at the message: {"message": {"eq": "help"}}.',
            )
        _check_comparisons(given.id, compared["message"])
    elif not callable(given.when):
        raise ConfigError(
            "cases", f"The case {given.id!r} has no condition.", fix="Give a function of the input, or a filter."
        )
    return given


def _check_comparisons(id: str, given: object) -> None:
    """A comparison that there is not would never hold, and nobody would notice."""
    made = set(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else set[str]()
    unknown = sorted(map(str, made - set(FILTER_OPS)))
    if unknown or not made:
        raise ConfigError(
            "cases",
            f"The filter of the case {id!r} compares " + (f"by {unknown[0]!r}." if unknown else "nothing."),
            fix=f"Compare by one of: {', '.join(FILTER_OPS)}.",
        )


def _otherwise(given: object) -> tuple[str, AnyRunner]:
    if isinstance(given, tuple):
        pair = cast("tuple[object, ...]", given)
        if len(pair) != 2:  # noqa: PLR2004  an id and a runner
            raise ConfigError("otherwise", "otherwise is no pair.", fix="Give a runner, or (id, runner).")
        rest_id = _check_id(pair[0])
        return rest_id, check_runner(_DOOR, "otherwise branch", rest_id, pair[1])
    runner = check_runner(_DOOR, "otherwise branch", "", given)
    return _check_id(runner.id), runner


def _check_id(id: object) -> str:
    checked = check_child_id(_DOOR, "branch", id)
    if checked in _RESERVED:
        raise ConfigError(
            "cases",
            f"The id {checked!r} of a branch of Conditional is that of one of its own steps.",
            fix="Use another word.",
        )
    return checked
