"""How does a permission checker stop a run from inside a batch of calls?

It unwinds the call like a question does: whatever ran before it has landed, and nothing behind it begins.
"""

from __future__ import annotations

from time import perf_counter_ns

__all__ = ["Halted"]

_NS_PER_MS = 1_000_000


class Halted(BaseException):
    """Unwinds the call that a checker halted on.

    Args:
        target: What was asked for: the tool.
        reason: A code for telemetry; the model never reads it.
        text: What the model reads.
        checker: The checker's name.
        began: When the call's turn came, in nanoseconds of `perf_counter_ns`.
    """

    def __init__(self, *, target: str, reason: str, text: str, checker: str, began: int) -> None:
        super().__init__("A permission checker stopped the run.")
        self.target = target
        self.reason = reason
        self.text = text
        self.checker = checker
        self.elapsed_ms = (perf_counter_ns() - began) // _NS_PER_MS
