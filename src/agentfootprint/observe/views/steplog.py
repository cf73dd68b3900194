"""What goes on, as lines in the application's own log (05 s.5.6)?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Literal

from agentfootprint.events import Event, event_to_wire
from agentfootprint.observe.views.reading import View
from agentfootprint.trace import compact_json

__all__ = ["StepLogger"]

_LOG = logging.getLogger("agentfootprint.steps")
_PREFIX = "agentfootprint."


class StepLogger(View):
    """Writes events to a logger, at INFO: `[domain.action]` and the payload; the event is the record's `event`.

    Args:
        domains: The domains to log, or `"all"`.
        logger: Where to; by default `agentfootprint.steps`.
        format: Makes the line of an event.
    """

    name = "step-logger"

    def __init__(
        self,
        *,
        domains: Sequence[str] | Literal["all"] = ("context", "stream"),
        logger: logging.Logger | None = None,
        format: Callable[[Event[Any]], str] | None = None,
    ) -> None:
        super().__init__()
        self._logger = _LOG if logger is None else logger
        self._format = _line if format is None else format
        self._domains = None if isinstance(domains, str) else dict.fromkeys(domains)

    @property
    def patterns(self) -> tuple[str, ...]:
        """One for each domain."""
        return ("*",) if self._domains is None else tuple(f"{_PREFIX}{domain}.*" for domain in self._domains)

    def hear(self, event: Event[Any]) -> None:
        """Write one event."""
        if not self._logger.isEnabledFor(logging.INFO):
            return
        domain = event.type.removeprefix(_PREFIX).partition(".")[0]
        if self._domains is None or domain in self._domains:
            self._logger.info("%s", self._format(event), extra={"event": event})


def _line(event: Event[Any]) -> str:
    return f"[{event.type.removeprefix(_PREFIX)}] {compact_json(event_to_wire(event)['payload'])}"
