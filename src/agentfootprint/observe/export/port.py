"""What is an exporter, and which events does it get?

Invariants: an exporter needs a `name` and an `export`, everything else is optional and looked up once, when it is
attached; which events pass depends on the event's type and run alone, so that a run is never sampled in pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Literal, Protocol, runtime_checkable

from agentfootprint.errors import ConfigError
from agentfootprint.events import Event

__all__ = ["TIERS", "ExportOptions", "Exporter", "Tier", "check_rate", "is_sampled", "tier_allows"]

Tier = Literal["minimal", "standard", "firehose"]
"""`minimal`: errors and the agent's turns; `standard`: all but text as it streams in; `firehose`: all (SNK-2)."""
TIERS: Final[tuple[Tier, ...]] = ("minimal", "standard", "firehose")
"""Every tier, the widest last."""

_MINIMAL: Final = ("agentfootprint.error.", "agentfootprint.agent.")
_FIREHOSE_ONLY: Final = frozenset(("agentfootprint.stream.token", "agentfootprint.stream.thinking_delta"))
_FRACTIONS: Final = 1 << 64


@runtime_checkable
class Exporter(Protocol):
    """Something that sends events away: to a terminal, a file, a tracing back end.

    An exporter may also have, and then they are used:

    * `async flush()`: hand on what is buffered. Called when a run ends (`flush_on`) and when the agent is closed.
    * `async stop()`: let go of what it holds; called at most once, when nothing uses the exporter any more.
    * `validate()`: raise if it can't work; called when it is attached.
    * `on_error(error, event)`: told of its own failures, instead of the log.
    * `relevant_types`: the event types it wants; `None` wants all.
    * `default_tier`: the tier it gets when it is attached without options.
    """

    name: str
    """How it is called in logs."""

    def export(self, event: Event[Any]) -> None:
        """Take one event; called in the run, so it must not wait. What it raises is counted and reported (SNK-3)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """Which events an exporter gets, and when.

    Raises:
        ConfigError: A value can't work.
    """

    tier: Tier = "standard"
    """`minimal`, `standard` or `firehose`."""
    sample_rate: float = 1.0
    """The share of runs that are exported, from 0 to 1; a run is exported whole or not at all."""
    detach: bool = False
    """Export in a thread of its own, behind a queue of 10,000 events; when it is full the oldest are dropped and
    counted."""
    flush_on: Literal["run-end"] | None = None
    """`run-end`: flush when a turn ends, fails or waits for a person, without delaying the run (SNK-6)."""
    form: Literal["native", "wire"] = "native"
    """Which form of the events (LIN-19)."""

    def __post_init__(self) -> None:
        if self.tier not in TIERS:
            raise ConfigError(
                "options.tier", f"There is no tier {self.tier!r}.", fix=f"Use one of: {', '.join(TIERS)}."
            )
        check_rate("options.sample_rate", self.sample_rate)
        if self.flush_on not in (None, "run-end"):
            raise ConfigError(
                "options.flush_on", f"Nothing is flushed on {self.flush_on!r}.", fix='Use "run-end" or None.'
            )
        if self.form not in ("native", "wire"):
            raise ConfigError("options.form", f"Events have no form {self.form!r}.", fix='Use "native" or "wire".')


def check_rate(option: str, rate: float) -> None:
    """Refuse a sample rate that is no share.

    Raises:
        ConfigError: Names the option.
    """
    if not 0 <= rate <= 1:
        raise ConfigError(
            option, f"The sample rate is {rate!r}.", fix="Give a share from 0 (nothing) to 1 (everything)."
        )


def tier_allows(tier: Tier, event_type: str) -> bool:
    """Whether an event of this type is in the tier."""
    if tier == "minimal":
        return event_type.startswith(_MINIMAL)
    return tier == "firehose" or event_type not in _FIREHOSE_ONLY


def is_sampled(rate: float, run_id: str, *, salt: bytes = b"") -> bool:
    """Whether a run belongs to the share that is exported; the same answer for the same run, wherever it is asked.

    Args:
        rate: The share, from 0 to 1.
        run_id: The run.
        salt: Makes two samplers choose independently of each other; at most 16 bytes.
    """
    if rate >= 1:
        return True
    digest = blake2b(run_id.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt).digest()
    return int.from_bytes(digest, "big") < rate * _FRACTIONS
