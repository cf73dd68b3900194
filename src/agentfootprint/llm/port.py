"""What must something be able to do to serve as a model?

Invariants: `complete` is the only duty (PRT-1); everything else is found by looking. A provider keeps no state of a
run (PRT-11): what it must remember between the calls of one run lies in that run's `CallHooks` (DEC-16).
Cancellation is the task's: `asyncio.CancelledError` passes untouched (PRT-15).
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Hashable
from contextvars import ContextVar
from typing import Any, Protocol, runtime_checkable

from agentfootprint.llm.request import LLMChunk, LLMRequest, LLMResponse

__all__ = ["CURRENT_HOOKS", "CallHooks", "LLMProvider", "SupportsSeed", "SupportsStream"]


def _no_memory() -> dict[Hashable, Any]:
    return {}


@dataclasses.dataclass(slots=True, eq=False)
class CallHooks:
    """What a run lends to the providers that it calls: one object for the whole run, passed on every call.

    A wrapper hands it on; for wrappers that forget it, it also stands in `CURRENT_HOOKS` (PRT-14).
    """

    run_id: str | None = None
    """The run that calls."""
    memory: dict[Hashable, Any] = dataclasses.field(default_factory=_no_memory)
    """What providers remember from one call of this run to the next, each under itself as key; ends with the run."""


CURRENT_HOOKS: ContextVar[CallHooks | None] = ContextVar("agentfootprint_call_hooks", default=None)
"""The hooks of the run that is calling, for providers that were not handed them."""


@runtime_checkable
class LLMProvider(Protocol):
    """A model, or a wrapper of one.

    Feature-detected beside this: `default_model: str`, `thinking_handler: ThinkingHandler`,
    `carries_in_messages: Sequence[Role]` (roles legal inside messages; undeclared means user and assistant),
    `carries_forced_tool_choice: bool` (undeclared means no: CAP-1), `deterministic: bool`, `is_free: bool` (asking it
    is known to cost nothing), `aclose()`.
    """

    @property
    def name(self) -> str:
        """Stands in events and before error messages."""
        ...

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        """Answer a request as a whole.

        Raises:
            ProviderError: The call failed.
        """
        ...


@runtime_checkable
class SupportsStream(Protocol):
    """A provider that can also answer piece by piece."""

    def stream(self, request: LLMRequest, hooks: CallHooks | None = None) -> AsyncIterator[LLMChunk]:
        """Answer in chunks, the last of which is `done` and holds the response (PRT-2)."""
        ...


@runtime_checkable
class SupportsSeed(Protocol):
    """A provider whose chance can be fixed: what a re-run needs to be compared with its pair."""

    def with_seed(self, seed: int) -> LLMProvider:
        """The same provider from its beginning, with chance fixed by `seed`; the original is left as it is."""
        ...
