"""Which model and which base prompt does this one run have: the agent's own, or what was said for the run?

Asked once, in the seed, before the first model call; what was said is committed, and from there on the request, the
events, the prices and the context record use it (AGT-19). Nothing said commits nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, cast

from typing_extensions import TypeVar

from agentfootprint.context import ContextPlan
from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.identity import Identity
    from agentfootprint.trace import FrozenDict

__all__ = [
    "ConfigureContext",
    "ConfigureDefaults",
    "Configured",
    "check_configure",
    "configure_run",
    "restore_configured",
]

Deps = TypeVar("Deps", default=object)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """What one run has in place of the agent's own.

    Args:
        model: The model's id, on the agent's provider.
        instructions: The base prompt; an empty text empties it.

    Raises:
        ConfigError: One of them is no text, or the model's id is empty.
    """

    model: str | None = None
    instructions: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no request can hold."""
        for name in ("model", "instructions"):
            value: object = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise ConfigError(
                    f"configure.{name}",
                    f"The {name} of a run is of the type {type(value).__name__}.",
                    fix="Give a text, or leave it out.",
                )
        if self.model is not None and not self.model.strip():
            raise ConfigError("configure.model", "The model of a run is empty.", fix="Give its id, or leave it out.")

    def over(self, other: Configured) -> Configured:
        """These, and the other's where nothing is said here."""
        return Configured(
            model=other.model if self.model is None else self.model,
            instructions=other.instructions if self.instructions is None else self.instructions,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigureDefaults:
    """What the agent has where nothing else is said."""

    model: str
    instructions: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigureContext(Generic[Deps]):
    """What `configure` may decide by; a value of its own for each run."""

    message: str
    """What the user said."""
    run_id: str
    identity: Identity | None
    """Whom the caller named."""
    deps: Deps
    """The caller's own object."""
    defaults: ConfigureDefaults


def check_configure(given: object) -> None:
    """Refuse a resolver that can't be asked in the seed.

    Raises:
        ConfigError: It is no plain function.
    """
    if given is None:
        return
    if not callable(given):
        raise ConfigError(
            "configure", f"configure is of the type {type(given).__name__}.", fix="Give a function of one context."
        )
    if inspect.iscoroutinefunction(given):
        raise ConfigError(
            "configure",
            "configure is an async function.",
            fix="Make it plain: it is asked before the first step.",
        )


def configure_run(scope: RunScope, state: dict[str, Any]) -> None:
    """Ask the agent's `configure`, put what the run was given over it, and use and commit the outcome (AGT-19).

    Args:
        scope: The run's.
        state: The seed, to which what was said is added.

    Raises:
        ConfigError: `configure` returned something else than `Configured` or `None`.
        UnknownPriceError: The run has prices, and none for its model.
    """
    resolve = scope.plan.configure
    said = Configured() if resolve is None else _ask(resolve, scope)
    if scope.given is not None:
        said = scope.given.over(said)
    if said.model is not None:
        state["resolvedModel"] = said.model
    if said.instructions is not None:
        state["resolvedInstructions"] = said.instructions
    _use(scope, said)


def restore_configured(scope: RunScope, state: FrozenDict) -> None:
    """Go on with the model and the base prompt that a paused run had."""
    model, instructions = state.get("resolvedModel"), state.get("resolvedInstructions")
    said = Configured(model=model, instructions=instructions)
    if said != Configured():
        _use(scope, said)


def _ask(resolve: Callable[[ConfigureContext[Any]], object], scope: RunScope) -> Configured:
    plan = scope.plan
    said = resolve(
        ConfigureContext(
            message=scope.message,
            run_id=scope.facts.run_id,
            identity=scope.identity,
            deps=scope.deps,
            defaults=ConfigureDefaults(model=plan.model, instructions=plan.context.base.text),
        )
    )
    if said is None:
        return Configured()
    if isinstance(said, Configured):
        return said
    if inspect.iscoroutine(said):
        cast("Coroutine[Any, Any, object]", said).close()
    raise ConfigError(
        "configure",
        f"configure returned a {type(said).__name__}.",
        fix="Return Configured(model=..., instructions=...), or None.",
    )


def _use(scope: RunScope, said: Configured) -> None:
    plan = scope.plan
    if said.model is not None:
        scope.model = said.model
        scope.purse = plan.purse_of(scope.limits, said.model)
    if said.instructions is not None:
        base = replace(plan.context.base, text=said.instructions)
        scope.context = ContextPlan(base, plan.context.items, caching=plan.caching)
