"""What does a recording say about the agent that made it: names and ids, and a digest of the rest?

Worked out when somebody asks, once: a run only carries the parts along. They are texts, schemas and ids, so a recording
that outlives its agent keeps no provider, tool or rule of it alive.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agentfootprint.context import trigger_kind
from agentfootprint.trace import JsonObject, compact_json, freeze, thaw

if TYPE_CHECKING:
    from agentfootprint.agent.plan import AgentPlan

__all__ = ["Description"]


class Description:
    """An agent as its recordings name it.

    Args:
        plan: The agent; not kept.
    """

    def __init__(self, plan: AgentPlan) -> None:
        self._id, self._name, self._provider = plan.id, plan.name, plan.provider.name
        self._model, self._mode = plan.model, plan.mode
        self._system = plan.context.base.text
        self._schemas = plan.every_offer.schemas
        self._tools = tuple(plan.every_offer.by_name)
        self._context = tuple(
            (piece.id, piece.flavor, trigger_kind(piece.trigger), piece.inject.system_prompt, piece.inject.messages)
            for piece in plan.context.pieces
        )

    @cached_property
    def header(self) -> JsonObject:
        """The part `agent` of a recording's header."""
        parts = {
            "system": self._system,
            "tools": [thaw(schema) for schema in self._schemas],
            "context": [
                {
                    "id": piece,
                    "flavor": flavor,
                    "text": text,
                    **({"messages": [thaw(each) for each in messages]} if messages else {}),
                }
                for piece, flavor, _, text, messages in self._context
            ],
            "model": self._model,
            **({"mode": self._mode} if self._mode != "dynamic" else {}),
        }
        described: dict[str, Any] = {
            "id": self._id,
            "name": self._name,
            "provider": self._provider,
            "model": self._model,
            "tools": list(self._tools),
            "context": [
                {"id": piece, "flavor": flavor, "trigger": trigger} for piece, flavor, trigger, *_ in self._context
            ],
            "fingerprint": hashlib.sha256(compact_json(freeze(parts)).encode()).hexdigest()[:16],
        }
        return described
