"""What all candidates are asked to do, and the marks that tell early iterations from late ones."""

from __future__ import annotations

import time

CHAIN = 500
"""Stages of the chain."""
LOOP = 10_000
"""Iterations of the loop."""
RUNS = 1_000
"""Small runs that go on at once."""


class Marks:
    """When a loop had come how far: a tenth of the time, early against late."""

    def __init__(self) -> None:
        self.size = LOOP
        self.times: list[float] = []

    def begin(self, size: int) -> None:
        """A loop of this size begins."""
        self.size, self.times = size, []

    def passed(self, number: int) -> None:
        """An iteration ended; every tenth of them is marked."""
        if number % (self.size // 10) == 0:
            self.times.append(time.perf_counter())

    def growth(self) -> float | None:
        """Time of the last tenth over that of the second, in which everything is warm."""
        if len(self.times) < 10:
            return None
        return (self.times[-1] - self.times[-2]) / (self.times[1] - self.times[0])


MARKS = Marks()
