"""What normalises a provider's thinking after each reply: one mount, in every chart that asks a model."""

from __future__ import annotations

from agentfootprint.agent.call import normalise_thinking
from agentfootprint.flow import Chart, Stage, Subflow

__all__ = ["thinking_mounts"]


def thinking_mounts(handler: str | None) -> tuple[Subflow, ...]:
    """The mount for a provider's thinking handler, by the handler's id; nothing for a provider without one."""
    if handler is None:
        return ()
    stage = Stage(normalise_thinking, id=f"thinking-{handler}", name="Normalize", raw=True)
    mount = Subflow(
        Chart.of("NormalizeThinking", stage),
        id="sf-thinking",
        name="NormalizeThinking",
        input=("iteration",),
        output=("thinkingBlocks",),
        array_merge="replace-all",
    )
    return (mount,)
