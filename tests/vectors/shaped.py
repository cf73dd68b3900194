"""How a scenario's output type, prices, mode and per-run configuration become options of an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from agentfootprint import Output, RunResult
from agentfootprint.agent import ConfigureContext, Configured, Schema
from agentfootprint.resilience import CostBudget, StaticPricing

__all__ = ["budget_of", "configure_of", "contract_unmet", "output_of", "prices_of"]


class RefundError(ValueError):
    """What the refund parser of the vectors says."""

    def __init__(self, problem: str, path: str | None = None) -> None:
        super().__init__(problem)
        self.path = path


def parse_refund(value: object) -> object:
    """The parser `refund` of the README."""
    if not isinstance(value, (dict, list)):
        raise RefundError("expected an object")
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    for name, kinds, words in (("amount", (int, float), "a number"), ("reason", str, "text")):
        if not isinstance(fields.get(name), kinds) or isinstance(fields.get(name), bool):
            raise RefundError(f"{name} must be {words}", name)
    return cast("object", value)


def output_of(options: Mapping[str, Any]) -> Output[Any] | None:
    """`outputSchema` and `outputFallback`."""
    declared, below = options.get("outputSchema"), options.get("outputFallback", {})
    if declared is None:
        return None
    assert declared["parser"] == "refund"
    return Output(
        Schema(parse_refund, json_schema=declared.get("jsonSchema")),
        retries=declared.get("retries", 0),
        strategy=declared.get("strategy", "instruct"),
        fallback=_fallback(below),
        **({"canned": below["canned"]} if "canned" in below else {}),
    )


def _fallback(below: Mapping[str, Any]) -> Callable[..., Any] | None:
    if not below:
        return None

    def fall_back(error: Exception, raw: str) -> Any:
        assert isinstance(raw, str)
        if "fallbackRaises" in below:
            raise RuntimeError(below["fallbackRaises"]) from error
        return below["fallbackValue"]

    return fall_back


def prices_of(options: Mapping[str, Any], model: str) -> StaticPricing | None:
    """`pricing`, for the one model of a scenario."""
    return StaticPricing({model: options["pricing"]}) if "pricing" in options else None


def budget_of(given: Any) -> Any:
    """A cost budget as the wire has it."""
    if not isinstance(given, dict):
        return given
    wire = cast("dict[str, Any]", given)
    return CostBudget(wire["usd"], on_exceed=wire["onExceed"])


def configure_of(options: Mapping[str, Any]) -> Callable[[ConfigureContext[Any]], Configured | None] | None:
    """`configure`: what is set when the message holds a word."""
    rule = options.get("configure")
    if rule is None:
        return None
    return lambda run: Configured(**rule["set"]) if rule["whenContains"] in run.message else None


def contract_unmet(result: RunResult[Any]) -> Any:
    """What the result says, which is what the state holds."""
    unmet, committed = result.contract_unmet, result.recording.snapshot["sharedState"].get("outputContractUnmet")
    if unmet is None:
        return None
    assert (unmet.stage, unmet.error, unmet.path, unmet.attempts, unmet.retries_spent) == (
        committed["stage"],
        committed["error"],
        committed.get("path"),
        committed["attempts"],
        committed["retriesSpent"],
    )
    return committed
