"""Of which model is the desk asked, what will that take, and did somebody agree to it?

Invariants: nothing is asked of a real model before its plan is shown and agreed to. Every real model is not priced,
one that runs here too (DEC-69): that it costs nothing can't be known from its name or its address.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agentfootprint.cli.demo.desk import DECISION, QUESTION, refunds_desk
from agentfootprint.cli.demo.orders import Orders
from agentfootprint.cli.errors import SpendingRefusedError
from agentfootprint.cli.proving import agree, plan_text
from agentfootprint.explain import ProveOptions, counted, escaped, folded

if TYPE_CHECKING:
    from agentfootprint.cli.streams import Streams
    from agentfootprint.explain import ProofPlan
    from agentfootprint.llm import LLMProvider

__all__ = ["RUNS", "AskedModel", "agreed", "find_model"]

RUNS: Final = 96
"""The most re-runs of the demo's proof."""
_SCRIPTED: Final = "mock"


@dataclass(frozen=True, slots=True)
class AskedModel:
    """The model that decides at the desk."""

    name: str
    """`vendor:model`, for people."""
    provider: LLMProvider | None
    """`None` stands for the desk's own scripted model."""


def find_model(named: str | None) -> AskedModel:
    """The model that `--model` names; without it the scripted one. Asks nothing.

    Args:
        named: `PROVIDER:MODEL`, as `Agent` takes it.

    Raises:
        ConfigError: The vendor is unknown, or a setting of it is missing.
        MissingCredentialError: Its key is not set.
        MissingExtraError: Its package is not installed.
    """
    vendor = (named or _SCRIPTED).partition(":")[0].strip().lower()
    if named is None or vendor == _SCRIPTED:
        return AskedModel(_SCRIPTED, None)
    from agentfootprint.llm import MissingCredentialError
    from agentfootprint.providers import resolve_provider

    try:
        provider = resolve_provider(named)
    except MissingCredentialError as error:
        error.fix = f"Set it: export {error.variable}=..., or leave --model out: the scripted model needs no key."
        raise
    model: object = getattr(provider, "default_model", None)
    return AskedModel(f"{vendor}:{model}" if model else vendor, provider)


def agreed(streams: Streams, asked: AskedModel, *, yes: bool) -> bool:
    """Show the plan for a real model, and ask a person, for what it costs is not known.

    Args:
        streams: Where to show and to ask.
        asked: The model.
        yes: Whether the user said so beforehand.

    Returns:
        `False` when the person says no.

    Raises:
        SpendingRefusedError: Nobody said yes, and nobody is there to ask.
    """
    if asked.provider is None:
        return True
    plan, calls = _plan()
    first = f"1 run of {asked.name}, about {counted(calls, 'model call')}, as in each re-run; tokens are estimated"
    streams.note(plan_text(plan, width=streams.error_width))
    streams.note("\n".join(folded(escaped(first), streams.error_width, start="       first     ", rest=" " * 17)))
    if not (yes or streams.can_ask()):
        raise SpendingRefusedError(
            f"Asking {asked.name} is not priced, and there is no terminal to ask on.",
            fix="Add --yes to run it, or leave --model out: the scripted model is free.",
        )
    return agree(streams, plan, usd=None, yes=yes)


def _plan() -> tuple[ProofPlan, int]:
    """What a proof takes if the model calls as the scripted one does, and how many calls a run is; costs nothing."""
    rehearsed = refunds_desk(Orders()).run_sync(QUESTION)
    plan = rehearsed.prove_sync(changed=DECISION, runs=RUNS, options=ProveOptions(dry_run=True)).plan
    assert plan is not None  # noqa: S101  a dry run is nothing but its plan
    unpriced = replace(plan, expected=replace(plan.expected, usd=None), at_most=replace(plan.at_most, usd=None))
    return unpriced, rehearsed.iterations
