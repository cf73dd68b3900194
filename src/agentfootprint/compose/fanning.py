"""All at once: every branch is asked the same, and one merge makes an answer of theirs (09 s.3)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from agentfootprint.agent import read_message
from agentfootprint.compose.children import Branch, Failed, Ok, check_child_id, check_runner
from agentfootprint.compose.composed import Composed
from agentfootprint.compose.errors import CompositionError, bare_reason
from agentfootprint.compose.mounting import mount
from agentfootprint.compose.plan import Child, made_plan
from agentfootprint.errors import ConfigError
from agentfootprint.events import CompositionBranchComplete, CompositionForkStart, CompositionMergeEnd, ForkBranch
from agentfootprint.flow import Chart, Fork, Handle, PauseSignal, Stage
from agentfootprint.trace import FrozenDict, utf16_length

if TYPE_CHECKING:
    from agentfootprint.agent import Limits
    from agentfootprint.compose.children import AnyRunner
    from agentfootprint.compose.merging import MergeLLM
    from agentfootprint.compose.scope import Kind, Scope
    from agentfootprint.flow import Mounted

__all__ = ["Parallel"]

_DOOR = "Parallel"
_SHOWN = 80
_NS_PER_MS = 1_000_000
_NONE = FrozenDict({})


def _seed(h: Handle) -> None:
    scope: Scope = h.scope
    children = scope.composed.plan.children
    h["startMs"] = scope.enter(h, "Parallel", len(children))
    h["userMessage"] = h.args["message"]
    names = cast("Parallel", scope.composed).branch_names
    branches = tuple(ForkBranch(id=child.key, name=names[child.key]) for child in children)
    scope.emit(h, CompositionForkStart(parent_id=scope.composed.id, branches=branches))


async def _merge(h: Handle) -> str:
    scope: Scope = h.scope
    scope.here = h
    parallel = cast("Parallel", scope.composed)
    said: dict[str, str] = dict(h.get("branchResults", _NONE).items())
    failed: dict[str, str] = dict(h.get("branchErrors", _NONE).items())
    order = [child.key for child in parallel.plan.children]
    parallel.refuse_failed({key: failed[key] for key in order if key in failed}, scope)
    if parallel.strategy == "llm":
        from agentfootprint.compose.merging import ask_model

        assert parallel.model is not None  # noqa: S101  the strategy says so
        merged = await ask_model(parallel.model, h, scope, {key: said[key] for key in order})
    else:
        given: Any
        if parallel.strategy == "fn":
            given = {key: said[key] for key in order}
        else:
            given = {key: Failed(failed[key]) if key in failed else Ok(said[key]) for key in order}
        function = parallel.function
        assert function is not None  # noqa: S101  the strategy says so
        merged = function(given)
        if inspect.isawaitable(merged):
            merged = await merged
    text = parallel.text_of("merge", merged)
    h["merged"] = text
    scope.emit(
        h,
        CompositionMergeEnd(
            parent_id=parallel.id,
            strategy=parallel.strategy,
            result_summary=_summary(text),
            merged_branch_count=len(order) - len(failed),
            total_branch_count=len(order),
        ),
    )
    scope.leave(h, "ok")
    return text


def _summary(text: str) -> str:
    """At most 80 UTF-16 units (CMP-25)."""
    if utf16_length(text) <= _SHOWN:
        return text
    cut = text[: _SHOWN - 1]
    while utf16_length(cut) > _SHOWN - 1:
        cut = cut[:-1]
    return f"{cut}…"


def _kept(key: str) -> Callable[[Any, Any], dict[str, Any]]:
    def keep(value: object, _: object) -> dict[str, Any]:
        if isinstance(value, str):
            return {"branchResults": {key: value}}
        return {"branchErrors": {key: cast("FrozenDict", value)["error"]}}

    return keep


class Parallel(Composed[str]):
    """Branches that run side by side on one message, and a merge that makes one text of what they said.

    What the merge gets stands in the order of declaration, whichever branch was the first to end (CMP-18).

    Args:
        branches: Runners or `Branch`es by id; at least two.
        merge: Makes the answer of `{branch id: text}`. Under it every branch must succeed; when all have settled and
            one has not, the run fails and the merge is not asked (CMP-19).
        merge_outcomes: Instead of `merge`: makes it of `{branch id: Ok(text) or Failed(error)}`, so that the run goes
            on without a branch that failed (CMP-20).
        max_concurrency: How many branches may be on their way at once; all by default.
        id: For the trace.
        name: For people.
        limits: `deadline` and `teardown` of a run.

    Raises:
        ConfigError: There are less than two branches, none or two merges, or an id that can't be in an address.

    Example:
        >>> from agentfootprint import LLMCall, Mock
        >>> both = {"short": LLMCall(Mock("Yes.")), "long": LLMCall(Mock("Yes, it is."))}
        >>> Parallel(both, merge=lambda said: max(said.values(), key=len)).run_sync("Is it?").output
        'Yes, it is.'
    """

    kind: ClassVar[Kind | None] = "Parallel"

    def __init__(
        self,
        branches: Mapping[str, Branch | AnyRunner],
        *,
        merge: Callable[[Mapping[str, str]], str | Awaitable[str]] | MergeLLM | None = None,
        merge_outcomes: Callable[[Mapping[str, Ok | Failed]], str | Awaitable[str]] | None = None,
        max_concurrency: int | None = None,
        id: str = "parallel",
        name: str = "Parallel",
        limits: Limits | None = None,
    ) -> None:
        made = _branches(branches)
        self.strategy: Literal["llm", "fn", "outcomes-fn"]
        self.function: Callable[[Any], Any] | None = None
        self.model: MergeLLM | None = None
        self._take_merge(merge, merge_outcomes)
        if max_concurrency is not None and (type(max_concurrency) is not int or max_concurrency < 1):
            raise ConfigError(
                "max_concurrency", f"max_concurrency is {max_concurrency!r}.", fix="Give a whole number from 1."
            )
        self.branch_names = {key: branch.name or key for key, branch in made.items()}
        self.required = frozenset(key for key, branch in made.items() if branch.required)
        self.fails_fast = len(self.required) == len(made)
        children = [Child(key, key, branch.runner) for key, branch in made.items()]
        described = f"Parallel: {len(made)}-way fanout"
        fork = Fork(
            [
                mount(
                    child.runner,
                    key=child.key,
                    id=child.mount,
                    name=self.branch_names[child.key],
                    input={"message": "userMessage"},
                    output=_kept(child.key),
                )
                for child in children
            ],
            fail_fast=self.fails_fast,
            max_concurrency=max_concurrency,
        )
        chart = Chart.of(
            name if isinstance(name, str) else _DOOR,  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            Stage(_seed, id="seed", name="Initialize", description=described, raw=True),
            fork,
            Stage(_merge, id="merge", name="Merge", raw=True),
        )
        super().__init__(made_plan(_DOOR, id, name, limits, chart.build(), children))

    def _take_merge(self, merge: Any, outcomes: Any) -> None:  # noqa: ANN401  callers without a checker
        if (merge is None) == (outcomes is None):
            raise ConfigError(
                "merge",
                "A Parallel has exactly one merge, and was given " + ("none." if merge is None else "two."),
                fix="Give merge=, or merge_outcomes= where a branch may fail.",
            )
        option = "merge" if outcomes is None else "merge_outcomes"
        given = merge if outcomes is None else outcomes
        from agentfootprint.compose.merging import MergeLLM  # here, as a plain merge needs no model

        if isinstance(merge, MergeLLM):
            self.strategy, self.model = "llm", merge
            return
        if not callable(given):
            raise ConfigError(option, f"{option} is a {type(given).__name__}.", fix="Give a function.")
        self.strategy, self.function = "fn" if outcomes is None else "outcomes-fn", given

    @property
    def door(self) -> str:
        """`Parallel.run`."""
        return "Parallel.run"

    def checked(self, message: object) -> str:
        """The text that it was asked (CMP-3)."""
        return read_message(self.door, message)

    async def around(self, scope: Scope, key: str, mounted: Mounted, run: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401  what is kept of a branch
        """Run a branch; one that fails is kept as such, unless that ends the whole (CMP-19 to CMP-22)."""
        began = perf_counter_ns()
        try:
            text = self.text_of(key, await run())
        except PauseSignal:
            raise
        except Exception as error:
            self._settled(scope, mounted, key, "err", began)
            if self.fails_fast:
                scope.here = mounted.step
                raise self.failed([key], {key: bare_reason(error)}) from error
            scope.failures[key] = error
            mounted.note(error)
            return FrozenDict({"error": bare_reason(error)})
        except BaseException:
            self._settled(scope, mounted, key, "err", began)
            scope.here = mounted.step
            raise
        self._settled(scope, mounted, key, "ok", began)
        return text

    def _settled(self, scope: Scope, mounted: Mounted, key: str, status: Literal["ok", "err"], began: int) -> None:
        elapsed = (perf_counter_ns() - began) // _NS_PER_MS
        scope.emit(
            mounted.step,
            CompositionBranchComplete(parent_id=self.id, branch_id=key, status=status, duration_ms=elapsed),
        )

    def refuse_failed(self, failed: Mapping[str, str], scope: Scope) -> None:
        """Fail the run for the branches that it can't do without.

        Raises:
            CompositionError: Names them, in the order of declaration.
        """
        fatal = failed
        if self.strategy == "outcomes-fn":
            fatal = {key: reason for key, reason in failed.items() if key in self.required}
        if fatal:
            cause = next((scope.failures[key] for key in fatal if key in scope.failures), None)
            raise self.failed(list(fatal), fatal) from cause

    def failed(self, keys: list[str], reasons: Mapping[str, str]) -> CompositionError:
        """The error that names branches and why each failed."""
        lines = "\n".join(f"  {key}: {reasons[key]}" for key in keys)
        total = len(self.plan.children)
        tolerant = "" if self.strategy == "outcomes-fn" else "Use merge_outcomes to go on without a branch that failed."
        return CompositionError(
            "Parallel",
            self.id,
            keys,
            f"{len(keys)} of {total} branches failed.\n{lines}\n",
            fix=tolerant or "A branch that the answer can do without needs no required=True.",
        )


def _branches(given: object) -> dict[str, Branch]:
    if not isinstance(given, Mapping):
        raise ConfigError(
            "branches",
            f"The branches of the Parallel are a {type(given).__name__}.",
            fix='Give a mapping: Parallel({"legal": legal, "ops": ops}, merge=...).',
        )
    made: dict[str, Branch] = {}
    for given_id, branch in cast("Mapping[object, object]", given).items():
        key = check_child_id(_DOOR, "branch", given_id)
        found = branch if isinstance(branch, Branch) else Branch(check_runner(_DOOR, "branch", key, branch))
        check_runner(_DOOR, "branch", key, found.runner)
        made[key] = found
    if len(made) < 2:  # noqa: PLR2004  one branch is no fork
        raise ConfigError(
            "branches",
            f"A Parallel of {len(made)} branches has nothing to run side by side.",
            fix="Give at least two branches, or use a Sequence.",
        )
    if "seed" in made or "merge" in made:
        raise ConfigError(
            "branches", "A branch of the Parallel has the id of its own step.", fix="Call it neither seed nor merge."
        )
    return made
