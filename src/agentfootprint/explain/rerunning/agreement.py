"""Is this the agent that made the recording? Compared by names and a digest, so that nothing of it is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.explain.errors import AgentChangedError
from agentfootprint.explain.model import HonestyFlag

if TYPE_CHECKING:
    from agentfootprint.explain.ablation import Ablation
    from agentfootprint.recording import Recording

__all__ = ["check_agent", "not_there"]

_NOT_COMPARED: Final = "the recording does not say what its agent was made of, so this one is taken for it"


def check_agent(recording: Recording, agent: object, *, allow_changed: bool) -> tuple[HonestyFlag, ...]:
    """Compare an agent with what a recording says about its own.

    Args:
        recording: The run.
        agent: The agent to re-run; one without a `spec` can't be compared.
        allow_changed: Whether a difference is let through.

    Returns:
        A flag that the verdicts must carry, when they are about a changed agent or nobody can say.

    Raises:
        AgentChangedError: It differs, and that is not allowed.
    """
    recorded: Mapping[str, Any] = recording.header.get("agent") or {}
    now: Mapping[str, Any] = getattr(agent, "spec", None) or {}
    if not recorded or not now:
        return ()
    difference = _difference(recorded, now)
    if difference is None:
        known = "fingerprint" in recorded
        return () if known else (HonestyFlag("agent-not-compared", _NOT_COMPARED),)
    if not allow_changed:
        raise AgentChangedError(difference)
    return (HonestyFlag("agent-changed", f"the verdicts are about a changed agent: {difference}"),)


def not_there(agent: object, specs: Iterable[Ablation]) -> tuple[Ablation, ...]:
    """The removals of what an agent does not have: a re-run without it would test nothing.

    Args:
        agent: The agent to re-run; of one without a `spec` nobody can say.
        specs: What is to be left out.
    """
    now: Mapping[str, Any] = getattr(agent, "spec", None) or {}
    has = {kind: set(map(_name, now.get(key, ()))) for kind, key in (("tool", "tools"), ("injection", "context"))}
    return tuple(spec for spec in specs if now and spec.kind in has and not has[spec.kind] & set(spec.ids))


def _difference(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    for what, key in (("tool", "tools"), ("piece of context", "context")):
        if key not in recorded:  # a log of the wire form alone does not say
            continue
        before, after = ([_name(item) for item in side.get(key, ())] for side in (recorded, now))
        gone = [item for item in before if item not in after]
        new = [item for item in after if item not in before]
        if gone:
            return f"its {what} {gone[0]} is gone"
        if new:
            return f"its {what} {new[0]} is new"
    if recorded.get("model") != now.get("model"):
        return f"its model was {recorded.get('model')}"
    if "fingerprint" in recorded and recorded["fingerprint"] != now.get("fingerprint"):
        return "a text of its context, its system prompt or a tool's schema differs"
    return None


def _name(item: str | Mapping[str, Any]) -> str:
    """A tool stands there by its name, a piece of context with its id."""
    return item if isinstance(item, str) else str(item["id"])
