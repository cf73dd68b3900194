"""What was a run made of, by names and ids: its first event (02 s.20.3).

Never an address, a key, a threshold, a prompt or a tenant. What is not used leaves no key; `memories` always stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from agentfootprint.events import (
    ConfiguredArtifacts,
    ConfiguredLLM,
    ConfiguredMemory,
    ConfiguredRecipe,
    ConfiguredSkillGraph,
    RunConfigured,
)

__all__ = ["Mounted", "run_manifest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounted:
    """What an agent is mounted with beside its model."""

    memories: tuple[ConfiguredMemory, ...] = ()
    """In declaration order."""
    window: str | None = None
    """The window strategy's name."""
    skill_graph: ConfiguredSkillGraph | None = None
    evidence_gate: Literal["assist", "guard", "rails"] | None = None
    """The gate's posture."""
    artifacts: ConfiguredArtifacts | None = None
    """The store's dials, when there is a store."""
    recipes: tuple[ConfiguredRecipe, ...] = ()


_NOTHING: Final = Mounted()


def run_manifest(
    agent_id: str,
    *,
    provider: str,
    model: str,
    mode: Literal["classic", "dynamic", "dynamic-grouped"] = "dynamic",
    is_configured: bool = False,
    has_skill_brains: bool = False,
    mounted: Mounted = _NOTHING,
) -> RunConfigured:
    """The first event of a run id.

    Args:
        agent_id: The agent's id.
        provider: The provider's name.
        model: The agent's model; what replaces it in a run is told by name only.
        mode: How the loop is mounted.
        is_configured: Whether the run's model or base prompt may be another than the agent's.
        has_skill_brains: Whether a skill brings a model.
        mounted: All else.
    """
    overrides = [*(["configure"] if is_configured else []), *(["skill-brains"] if has_skill_brains else [])]
    return RunConfigured(
        agent_id=agent_id,
        llm=ConfiguredLLM(provider=provider, model=model, model_overrides=tuple(overrides) or None),
        react_mode=mode,
        memories=mounted.memories,
        window=mounted.window,
        skill_graph=mounted.skill_graph,
        evidence_gate=mounted.evidence_gate,
        artifacts=mounted.artifacts,
        recipes=mounted.recipes or None,
    )
