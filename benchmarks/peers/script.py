"""What the scripted model of a peer says: a tool call in every iteration but the last, then the answer.

The same words as `benchmarks.candidates` gives to ours. A script also counts what was taken from it, so that a run
that is cut off can say how far it came.
"""

from __future__ import annotations

ANSWER = "All orders have shipped."
QUESTION = "How are the orders doing?"
SYSTEM = "You look after orders."
TOOL = "lookup"


class Script:
    """The turns of one run, in order."""

    latest: Script | None = None
    """The script of the run that was begun last in this process."""

    def __init__(self, iterations: int) -> None:
        self.iterations = iterations
        self.taken = 0
        Script.latest = self

    def next_order(self) -> str | None:
        """The order to look up in this iteration, or None when it is time to answer."""
        number = self.taken
        self.taken += 1
        return f"A-{number}" if number < self.iterations - 1 else None
