"""What a run had done by a certain moment: state, log, tree, mounts, each made when it is asked for (LIN-25)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Protocol, cast

from agentfootprint.flow.redaction import report_of
from agentfootprint.flow.watch.failure import name_of
from agentfootprint.flow.watch.recorder import id_of
from agentfootprint.trace import (
    CommitBundle,
    FrozenDict,
    Journal,
    JsonObject,
    Record,
    project_commit_log,
    project_snapshot,
    project_state,
    project_subflow_results,
    project_tree,
    thaw,
)

__all__ = ["FlowSnapshot", "HasObserverStats"]


class HasObserverStats(Protocol):
    """What can say how deferred observers are doing."""

    def stats(self) -> Record:
        """How they are doing now."""
        ...


class FlowSnapshot:
    """A view of a run at one moment. It copies nothing and does not change when the run goes on.

    Args:
        journal: The run's rows; the snapshot looks at those there are now.
        recorders: Observers whose `to_snapshot()` belongs to it.
        observers: The deferred ones, when there are any: how they are doing belongs to it too.
        redact: Whether its state is the redacted mirror. Log, tree and mounts are redacted in any case.
    """

    def __init__(
        self,
        journal: Journal,
        recorders: Iterable[object] = (),
        observers: HasObserverStats | None = None,
        *,
        redact: bool = False,
    ) -> None:
        self._live = journal.shown() if redact else journal
        self._report = report_of(journal.veil.policy, journal.veil) if redact and journal.veil is not None else None
        self._end = len(journal.rows)
        self._recorders = tuple(recorders)
        self._observers = observers
        self.run_id = journal.run_id
        """Id of the run or resume that produced it."""

    @cached_property
    def _journal(self) -> Journal:
        return self._live.until(self._end)

    @cached_property
    def shared_state(self) -> FrozenDict:
        """Committed state of the top: the real values, or those of the mirror."""
        return FrozenDict(project_state(self._journal))

    @cached_property
    def commit_log(self) -> list[CommitBundle]:
        """Commit log of the top."""
        return project_commit_log(self._journal)

    @cached_property
    def execution_tree(self) -> JsonObject | None:
        """What ran after what, in wire form; None when nothing ran."""
        return project_tree(self._journal)

    @cached_property
    def subflow_results(self) -> dict[str, dict[str, Any]]:
        """What each mount left behind, in wire form, by path (the last execution) and by runtime stage id."""
        return project_subflow_results(self._journal)

    @cached_property
    def recorders(self) -> list[dict[str, Any]]:
        """What the observers have to show: `{id, name, data, ...}` of each that can be asked."""
        out: dict[str, dict[str, Any]] = {}
        for recorder in self._recorders:
            ask = getattr(recorder, "to_snapshot", None)
            if callable(ask):
                out.setdefault(id_of(recorder), {"id": id_of(recorder), **_asked(recorder, ask)})
        return list(out.values())

    @cached_property
    def observer_stats(self) -> Record | None:
        """How the deferred observers are doing; None without any (FLOW-OBS-10)."""
        return None if self._observers is None else self._observers.stats()

    def to_wire(self) -> dict[str, Any]:
        """The snapshot as plain JSON that the caller owns (2.3)."""
        wire = project_snapshot(self._journal)
        shown = [thaw(entry) for entry in self.recorders]
        if self._report is not None:  # so that a reader takes a placeholder for what it is (NEW-105)
            shown.append({"id": "agentfootprint.redaction", "name": "Redaction", "data": self._report})
        if shown:
            wire["recorders"] = shown
        if self.observer_stats is not None:
            wire["observerStats"] = thaw(self.observer_stats)
        return wire

    def __repr__(self) -> str:
        return f"FlowSnapshot(run_id={self.run_id!r}, rows={self._end})"


def _asked(recorder: object, ask: Callable[[], object]) -> dict[str, Any]:
    """What an observer has to show; one that can't say it is in the snapshot with its error's name."""
    try:
        return dict(cast("dict[str, Any]", ask()))
    except Exception as raised:  # noqa: BLE001  the observer's bug, not the run's
        return {"name": type(recorder).__name__, "data": None, "meta": {"error": name_of(raised)}}
