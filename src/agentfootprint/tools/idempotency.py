"""Which key makes a call's effect happen once, however often the run is picked up again (DEC-37)?

The key is the same after a pause, a crash and a resume of one turn, and another one in every other turn, so that a
second, wanted payment is never swallowed. Nothing is hashed until a tool asks.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping

from agentfootprint.trace import FrozenDict, JsonObject, compact_json

__all__ = ["DispatchedCalls", "idempotency_key"]


def _digest(*parts: object) -> str:
    text = compact_json(parts, sort_keys=True)  # JSON, so that no two lists of parts are one text
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]


def idempotency_key(run_id: str, tool: str, args: FrozenDict | JsonObject, occurrence: int) -> str:
    """The key of one call: 32 hex digits of a SHA-256.

    Args:
        run_id: The id of the turn's *first* run, which checkpoints carry on.
        tool: The tool's name.
        args: What the tool was called with; the order of keys does not matter.
        occurrence: 1 for the first call of this tool with these arguments in the turn, 2 for the next, and so on.
    """
    return _digest(run_id, tool, args, occurrence)


class DispatchedCalls:
    """How often each call was dispatched in this turn; one a run, safe to use from worker threads.

    Adding costs an append. Arguments are hashed when somebody asks, each once, and let go of then.
    """

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._counts: dict[str, int] = dict(counts or {})
        self._noted: list[tuple[str, FrozenDict] | str] = []  # a call, and its digest once it is counted
        self._occurrences: list[int] = []
        self._lock = threading.Lock()

    def add(self, tool: str, args: FrozenDict) -> int:
        """Take note of a dispatch; returns its place, for `occurrence`."""
        with self._lock:
            self._noted.append((tool, args))
            return len(self._noted) - 1

    def occurrence(self, place: int) -> int:
        """The how-manieth call with this tool and these arguments that dispatch was, from 1."""
        with self._lock:
            self._count_up_to(place)
            return self._occurrences[place]

    def counts(self, before: int | None = None) -> dict[str, int]:
        """All counts so far, as a checkpoint keeps them; the keys are digests and hold no arguments.

        Args:
            before: Only of the first so many dispatches, and of what was given at the beginning.
        """
        with self._lock:
            self._count_up_to(len(self._noted) - 1)
            counts = dict(self._counts)
            for counted in self._noted[len(self._noted) if before is None else before :]:
                counts[str(counted)] -= 1
            return {key: count for key, count in counts.items() if count}

    def __len__(self) -> int:
        """How many dispatches were noted."""
        return len(self._noted)

    def _count_up_to(self, place: int) -> None:
        for i in range(len(self._occurrences), place + 1):
            call = self._noted[i]
            if isinstance(call, str):  # counted already
                continue
            key = _digest(*call)
            self._counts[key] = count = self._counts.get(key, 0) + 1
            self._occurrences.append(count)
            self._noted[i] = key
