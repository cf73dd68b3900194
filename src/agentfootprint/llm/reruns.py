"""How a re-run fixes the model's chance, without touching the agent or the provider it shares with others.

The seed is in force for the code inside `with rerun_seed(n)` and everything it awaits or starts.
"""

from __future__ import annotations

import contextvars
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentfootprint.llm.port import SupportsSeed

if TYPE_CHECKING:
    from agentfootprint.llm.port import LLMProvider

__all__ = ["provider_for_run", "rerun_seed"]

_seed: contextvars.ContextVar[int | None] = contextvars.ContextVar("agentfootprint_rerun_seed", default=None)


@contextmanager
def rerun_seed(seed: int) -> Generator[None]:
    """Fix the chance of runs started inside, where their provider can (06:ABL-5).

    Args:
        seed: Equal seeds of one provider give equal chance.
    """
    token = _seed.set(seed)
    try:
        yield
    finally:
        _seed.reset(token)


def provider_for_run(provider: LLMProvider) -> LLMProvider:
    """The provider a run asks: the given one, or in a re-run one of its own, from its beginning, with fixed chance."""
    seed = _seed.get()
    if seed is None or not isinstance(provider, SupportsSeed):
        return provider
    return provider.with_seed(seed)
