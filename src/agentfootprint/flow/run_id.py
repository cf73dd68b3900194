"""Ids of runs: text that sorts by creation and is never given twice in a process (FLOW-ID-6)."""

from __future__ import annotations

import itertools
import threading
import time

__all__ = ["new_run_id"]

_counter = itertools.count(1)
_lock = threading.Lock()
_latest_ms = 0


def new_run_id() -> str:
    """`<epoch ms>-<counter, ten digits>`; the clock part never goes backwards, the counter never resets."""
    global _latest_ms  # noqa: PLW0603  the clock of a process is one
    with _lock:
        _latest_ms = max(_latest_ms, time.time_ns() // 1_000_000)
        return f"{_latest_ms}-{next(_counter):010}"
