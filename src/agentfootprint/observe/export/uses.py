"""Who still uses an exporter, so that one subscription never stops it for another (SNK-4)?"""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Final

__all__ = ["Use", "is_used", "use"]


class Use:
    """How often one exporter is in use, and whether it has been stopped."""

    __slots__ = ("_kept", "_key", "count", "stopped")

    def __init__(self, key: int) -> None:
        self._key = key
        self._kept: object = None
        self.count = 0
        self.stopped = False

    def release(self) -> None:
        """One subscription less."""
        with _LOCK:
            self.count -= 1
            if self.count == 0 and self._kept is not None:
                _USES.pop(self._key, None)
                self._kept = None

    def may_stop(self) -> bool:
        """Whether it is to be stopped now: nothing uses it, and nobody has stopped it; says so only once."""
        with _LOCK:
            if self.count or self.stopped:
                return False
            self.stopped = True
            return True

    def keep(self, exporter: object) -> None:
        """Hold on to an exporter that can't say when it goes, so that no other takes its place."""
        self._kept = exporter


_LOCK: Final = threading.RLock()  # a finalizer may run in any thread, also in one that holds it
_USES: Final[dict[int, Use]] = {}


def use(exporter: object) -> Use:
    """Count one more use of an exporter."""
    key = id(exporter)
    with _LOCK:
        found = _USES.get(key)
        if found is None:
            found = _USES[key] = Use(key)
            with contextlib.suppress(TypeError):
                weakref.finalize(exporter, _USES.pop, key, None).atexit = False
                found.count = 1
                return found
            found.keep(exporter)
        found.count += 1
        return found


def is_used(exporter: object) -> bool:
    """Whether a subscription uses an exporter now."""
    found = _USES.get(id(exporter))
    return found is not None and found.count > 0
