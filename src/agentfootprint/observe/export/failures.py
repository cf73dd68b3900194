"""What happens when an exporter fails: it is counted, and told of ever more rarely (SNK-3)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Final

from agentfootprint.events import Event

__all__ = ["Failures"]

_LOG: Final = logging.getLogger("agentfootprint.observe")


class Failures:
    """The failures of one exporter in one place of use.

    Args:
        exporter: Who fails; its `on_error(error, event)` is told of each failure if it has one, else the log of the
            1st, 2nd, 4th, 8th and so on.
    """

    def __init__(self, exporter: object) -> None:
        self.count = 0
        self._name = str(getattr(exporter, "name", type(exporter).__name__))
        own: object = getattr(exporter, "on_error", None)
        self._tell: Callable[[Exception, Event[Any] | None], object] | None = own if callable(own) else None
        self._lock = threading.Lock()

    def add(self, error: Exception, event: Event[Any] | None = None) -> None:
        """Count a failure and tell of it; never raises."""
        with self._lock:
            self.count += 1
            count = self.count
        if self._tell is not None:
            try:
                self._tell(error, event)
            except Exception as second:  # noqa: BLE001  the exporter's code; the log is what is left
                error = second
            else:
                return
        if count & (count - 1) == 0:  # a power of two
            what = "was stopped or flushed" if event is None else f"got {event.type}"
            _LOG.error(
                "The exporter %r failed when it %s, for the %d. time: %s.",
                self._name,
                what,
                count,
                type(error).__name__,
                exc_info=error,
            )
