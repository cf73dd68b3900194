"""What did the prompt cache save (04 s.8.5, 05 s.8)?

Invariants: what a provider did not report is unknown and never 0; totals are of the measured calls only and say how
many those are (CST-7). Tokens are counted by the normalised usage, so a part that another part contains counts once
(DEC-42).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from agentfootprint.events import Event, LLMEnd, LLMStart
from agentfootprint.observe.views.reading import Events, View, address_of, run_of, text_of, told
from agentfootprint.recording import Recording
from agentfootprint.resilience import PricingTable
from agentfootprint.trace import DecidedRow, Record

__all__ = ["CacheCall", "CacheMeter", "CacheReport", "CacheTokens", "Measured"]

T = TypeVar("T")

_MOST_CALLS: Final = 10_000
_MOST_OPEN: Final = 1024
_SHOWN_REASONS: Final = 3
_NO_STRATEGY: Final = "no cache strategy reads what the provider reports"
_NOT_REPORTED: Final = "the reply reported no cache fields"
_NOT_COUNTED: Final = "the reply reported no tokens"
_NO_PRICES: Final = "no prices were given"

Branch = Literal["apply-markers", "no-markers"]


class Measured(Record, Generic[T], frozen=True, kw_only=True, gc=False):
    """A figure with what shows it, or the reason why there is none; the same on the wire as a claim (CACHE-13)."""

    kind: Literal["known", "unknown"]
    value: T | None = None
    """`None` unless it is known."""
    evidence: str | None = None
    reason: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """Under the keys of the wire; a value that is known is there also when it is 0."""
        wire: dict[str, Any] = {"kind": self.kind}
        if self.kind == "known":
            wire["value"] = msgspec.to_builtins(self.value)
        return wire | {key: text for key in ("evidence", "reason") if (text := getattr(self, key)) is not None}


class CacheTokens(Record, frozen=True, kw_only=True, gc=False):
    """What a call's prompt was made of."""

    cache_read_tokens: int
    cache_write_tokens: int
    fresh_input_tokens: int


class CacheCall(Record, frozen=True, kw_only=True, gc=False):
    """One model call."""

    run_id: str
    runtime_stage_id: str
    iteration: int
    branch: Branch
    """Whether markers were put on the prompt."""
    rule: str | None = None
    """The rule of the gate that decided it, when that is on record."""
    metrics: Measured[CacheTokens]
    dollars_spent: Measured[float]
    """On the prompt."""
    dollars_saved_vs_no_cache: Measured[float]

    def to_wire(self) -> dict[str, Any]:
        """Under the keys of the wire."""
        return {
            "iteration": self.iteration,
            "branch": self.branch,
            **({} if self.rule is None else {"rule": self.rule}),
            "metrics": self.metrics.to_wire(),
            "dollarsSpent": self.dollars_spent.to_wire(),
            "dollarsSavedVsNoCache": self.dollars_saved_vs_no_cache.to_wire(),
        }


class CacheReport(Record, frozen=True, kw_only=True, gc=False):
    """Calls and what they come to."""

    total_iterations: int
    apply_markers_iterations: int
    no_markers_iterations: int
    measured_iterations: int
    unmeasured_iterations: int
    cache_read_tokens_total: Measured[int]
    cache_write_tokens_total: Measured[int]
    fresh_input_tokens_total: Measured[int]
    hit_rate: Measured[float]
    estimated_dollars_spent: Measured[float]
    estimated_dollars_saved_vs_no_cache: Measured[float]
    per_iter: tuple[CacheCall, ...]

    def to_wire(self) -> dict[str, Any]:
        """Under the keys of the wire."""
        names = {field.name: field.encode_name for field in msgspec.structs.fields(self)}
        wire = {wire: getattr(self, name) for name, wire in names.items()}
        plain = {key: value.to_wire() if isinstance(value, Measured) else value for key, value in wire.items()}
        return {**plain, "perIter": [call.to_wire() for call in self.per_iter]}


class CacheMeter(View):
    """Meters the prompt cache, call by call, over the runs it sees; the latest 10,000 calls.

    Of a recording that has the run's rows it also knows which calls were given no markers; from events alone it takes
    every call for one that was given them.

    Args:
        strategy: The agent's cache strategy, or `True` for some strategy; without one nothing was measured.
        pricing: Prices; without them dollars are unknown.
        model: The model to price; else the one each call names.
    """

    name = "cache-meter"
    relevant_types = (LLMStart.type, LLMEnd.type)

    def __init__(
        self, *, strategy: object = None, pricing: PricingTable | None = None, model: str | None = None
    ) -> None:
        super().__init__()
        self.has_strategy = strategy is not None and strategy is not False
        self.pricing = pricing
        self.model = model
        self._calls: deque[CacheCall] = deque(maxlen=_MOST_CALLS)
        self._models: dict[tuple[str, str], str] = {}
        self._gates: dict[tuple[str, str, int], Branch] = {}

    def hear_all(self, events: Events) -> None:
        """Take events into account, in order; of a recording also what its gate decided."""
        if isinstance(events, Recording) and events.journal is not None:
            self._passed(events.run_id, events.journal.shown().rows)
        super().hear_all(events)

    def _passed(self, run_id: str, rows: Iterable[Any]) -> None:
        loops: Counter[str] = Counter()
        for row in rows:
            if isinstance(row, DecidedRow) and row.execution.info.local_id == "cache-gate":
                loop = row.execution.info.id.rpartition("/")[0].rpartition("/")[0]
                loops[loop] += 1
                branch: Branch = "no-markers" if row.returned == "no-markers" else "apply-markers"
                self._gates[run_id, loop, loops[loop]] = branch

    def hear(self, event: Event[Any]) -> None:
        """Take one event into account."""
        place = run_of(event), address_of(event)
        if event.type == LLMStart.type:
            if len(self._models) >= _MOST_OPEN:  # calls that failed have no end
                del self._models[next(iter(self._models))]
            self._models[place] = text_of(event.payload, "model")
        elif event.type == LLMEnd.type:
            self._calls.append(self._ended(event, place, self._models.pop(place, "")))

    def _ended(self, event: Event[Any], place: tuple[str, str], model: str) -> CacheCall:
        run_id, address = place
        iteration = told(event.payload, "iteration")
        number = iteration if isinstance(iteration, int) else 0
        tokens = self._tokens(told(event.payload, "usage"))
        spent, saved = self._dollars(tokens, model if self.model is None else self.model)
        return CacheCall(
            run_id=run_id,
            runtime_stage_id=address,
            iteration=number,
            branch=self._gates.pop((run_id, address.rpartition("/")[0], number), "apply-markers"),
            metrics=tokens,
            dollars_spent=spent,
            dollars_saved_vs_no_cache=saved,
        )

    def _tokens(self, usage: Any) -> Measured[CacheTokens]:  # noqa: ANN401  any part of a payload
        read, written, said = told(usage, "cache_read"), told(usage, "cache_write"), told(usage, "input")
        if not self.has_strategy:
            return _unknown(_NO_STRATEGY)
        if told(usage, "usage_reported") is False or not isinstance(said, int):
            return _unknown(_NOT_COUNTED)
        if not isinstance(read, int) and not isinstance(written, int):
            return _unknown(_NOT_REPORTED)
        cached, kept = read if isinstance(read, int) else 0, written if isinstance(written, int) else 0
        fresh = max(0, said - cached - kept) if told(usage, "input_includes_cache") else said
        tokens = CacheTokens(cache_read_tokens=cached, cache_write_tokens=kept, fresh_input_tokens=fresh)
        return _known(tokens, "the reply's usage")

    def _dollars(self, measured: Measured[CacheTokens], model: str) -> tuple[Measured[float], Measured[float]]:
        tokens = measured.value
        if tokens is None:
            return _unknown(measured.reason or ""), _unknown(measured.reason or "")
        if self.pricing is None:
            return _unknown(_NO_PRICES), _unknown(_NO_PRICES)
        try:
            price = {kind: self.pricing.price_per_token(model, kind) for kind in ("input", "cacheRead", "cacheWrite")}
        except Exception as error:  # noqa: BLE001  the application's table; whatever it can't say is not known
            reason = f"the prices don't say ({type(error).__name__})"
            return _unknown(reason), _unknown(reason)
        fresh, read, written = tokens.fresh_input_tokens, tokens.cache_read_tokens, tokens.cache_write_tokens
        spent = fresh * price["input"] + read * price["cacheRead"] + written * price["cacheWrite"]
        return _known(spent, "usage and prices"), _known(
            (fresh + read + written) * price["input"] - spent, "usage and prices"
        )

    def report(self, run_id: str | None = None) -> CacheReport:
        """What the calls come to.

        Args:
            run_id: Only the calls of this run; without it all.
        """
        calls = [call for call in self._calls if run_id is None or call.run_id == run_id]
        tokens = [call.metrics.value for call in calls if call.metrics.value is not None]
        read = sum(each.cache_read_tokens for each in tokens)
        written = sum(each.cache_write_tokens for each in tokens)
        fresh = sum(each.fresh_input_tokens for each in tokens)
        whole = read + written + fresh
        evidence = f"{len(tokens)} of {len(calls)} calls measured"
        nothing = _why_nothing([call.metrics for call in calls])
        without = sum(call.branch == "no-markers" for call in calls)

        def total(value: int) -> Measured[int]:
            return _known(value, evidence) if tokens else _unknown(nothing)

        return CacheReport(
            total_iterations=len(calls),
            apply_markers_iterations=len(calls) - without,
            no_markers_iterations=without,
            measured_iterations=len(tokens),
            unmeasured_iterations=len(calls) - len(tokens),
            cache_read_tokens_total=total(read),
            cache_write_tokens_total=total(written),
            fresh_input_tokens_total=total(fresh),
            hit_rate=_known(read / whole, evidence)
            if whole
            else _unknown(nothing if not tokens else "the measured prompts held no tokens"),
            estimated_dollars_spent=_sum([call.dollars_spent for call in calls]),
            estimated_dollars_saved_vs_no_cache=_sum([call.dollars_saved_vs_no_cache for call in calls]),
            per_iter=tuple(calls),
        )


def _known(value: T, evidence: str) -> Measured[T]:
    return Measured(kind="known", value=value, evidence=evidence)


def _unknown(reason: str) -> Measured[Any]:
    return Measured(kind="unknown", reason=reason)


def _sum(figures: list[Measured[float]]) -> Measured[float]:
    values = [each.value for each in figures if each.value is not None]
    if not values:
        return _unknown(_why_nothing(figures))
    return _known(sum(values), f"{len(values)} of {len(figures)} calls measured")


def _why_nothing(figures: list[Any]) -> str:
    """The reasons that the calls themselves give; where they disagree, the first few (CACHE-15)."""
    if not figures:
        return "no call was seen"
    reasons = list(dict.fromkeys(each.reason or "" for each in figures))
    if len(reasons) == 1:
        return reasons[0]
    more = len(reasons) - _SHOWN_REASONS
    return "the calls disagree: " + "; ".join(reasons[:_SHOWN_REASONS]) + (f"; and {more} more" if more > 0 else "")
