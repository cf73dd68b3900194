"""What a caller may choose about the queue of deferred observers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from agentfootprint.errors import ConfigError

__all__ = ["Capture", "ObserverQueue", "Overflow"]

Capture: TypeAlias = Literal["clone", "summary", "ref"]
Overflow: TypeAlias = Literal["drop-oldest", "block", "sample"]

_CHOICES: Final = {"capture": get_args(Capture), "overflow": get_args(Overflow)}
_COUNTS: Final = ("max_queue", "sample_every")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverQueue:
    """The bounded queue between a run and its deferred observers (01 s.7).

    Raises:
        ConfigError: A number is not positive, or a choice is none of those there are.
    """

    capture: Capture = "clone"
    """What waits: the event with whatever could still change copied (`clone`; the engine's own values never can, so
    they are shared), the event with its values described instead of held (`summary`), or the event itself (`ref`)."""
    max_queue: int = 10_000
    """How many events may wait."""
    overflow: Overflow = "drop-oldest"
    """When it is full: the oldest goes, the newcomer is told at once (`block`), or one of many is kept (`sample`)."""
    sample_every: int = 10
    """Under `sample`: every how many-th arrival is kept while the queue is full."""
    flush_budget: float = 0.002
    """Seconds a flush may take before it lets the event loop go on."""

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ConfigError(
                    f"observers.{name}",
                    f"The option {name!r} of deferred observers is {getattr(self, name)!r}.",
                    fix=f"Use one of: {', '.join(allowed)}.",
                )
        for name in _COUNTS:
            count = getattr(self, name)
            if not isinstance(count, int) or isinstance(count, bool) or count < 1:
                raise ConfigError(
                    f"observers.{name}",
                    f"The option {name!r} of deferred observers is {count!r}.",
                    fix="Give a whole number from 1 on.",
                )
        if not self.flush_budget > 0:
            raise ConfigError(
                "observers.flush_budget",
                f"The option 'flush_budget' of deferred observers is {self.flush_budget!r}.",
                fix="Give seconds above 0; 0.002 is the default.",
            )
