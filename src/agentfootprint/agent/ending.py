"""The words for how a run ended (DEC-9)."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["EndedBecause"]

EndedBecause: TypeAlias = Literal["answer", "cut", "budget", "halt", "refused", "output_unmet", "cancelled", "paused"]
"""`answer`: the model finished. `cut`: the token limit stopped its answer. `budget`: a limit stopped the loop.
`refused`: too many calls in a row had arguments that could not be used. `output_unmet`: the answer is not the type."""
