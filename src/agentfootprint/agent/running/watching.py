"""Does anybody watch this run beside listeners, or is anybody told later? Most runs answer no and load nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agentfootprint.agent.options import RecordOptions, RunOptions
    from agentfootprint.agent.running.observing import RunObservers
    from agentfootprint.events import EventBus, RunFacts

__all__ = ["observers_of"]


class Runner(Protocol):
    """What an agent and a model call have."""

    bus: EventBus
    wire_bus: EventBus
    recorders: tuple[object, ...]


def observers_of(runner: Runner, record: RecordOptions, options: RunOptions, facts: RunFacts) -> RunObservers | None:
    """Who watches a run that is about to begin.

    Args:
        runner: Has the recorders of all its runs.
        record: The run's.
        options: The run's; has recorders of its own.
        facts: The run's.
    """
    if not runner.recorders and not options.recorders and record.delivery == "inline":
        return None
    from agentfootprint.agent.running.observing import RunObservers, with_recorder

    recorders = runner.recorders
    for recorder in options.recorders:
        recorders = with_recorder(recorders, recorder)
    return RunObservers(recorders, record, bus=runner.bus, wire_bus=runner.wire_bus, facts=facts)
