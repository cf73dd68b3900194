"""What a run had done by a certain moment: state, log, tree, mounts, each made when it is asked for (LIN-25)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, cast

from agentfootprint.trace import (
    CommitBundle,
    FrozenDict,
    Journal,
    JsonObject,
    project_commit_log,
    project_snapshot,
    project_state,
    project_subflow_results,
    project_tree,
    thaw,
)

__all__ = ["FlowSnapshot"]


class FlowSnapshot:
    """A view of a run at one moment. It copies nothing and does not change when the run goes on.

    Args:
        journal: The run's rows; the snapshot looks at those there are now.
        recorders: Observers whose `to_snapshot()` belongs to it.
    """

    def __init__(self, journal: Journal, recorders: Iterable[object] = ()) -> None:
        self._live = journal
        self._end = len(journal.rows)
        self._recorders = tuple(recorders)
        self.run_id = journal.run_id
        """Id of the run or resume that produced it."""

    @cached_property
    def _journal(self) -> Journal:
        return self._live.until(self._end)

    @cached_property
    def shared_state(self) -> FrozenDict:
        """Committed state of the top."""
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
        out: list[dict[str, Any]] = []
        for recorder in self._recorders:
            ask = getattr(recorder, "to_snapshot", None)
            if callable(ask):
                shown = cast("dict[str, Any]", ask())
                out.append({"id": str(getattr(recorder, "id", type(recorder).__name__)), **shown})
        return out

    def to_wire(self) -> dict[str, Any]:
        """The snapshot as plain JSON that the caller owns (2.3)."""
        wire = project_snapshot(self._journal)
        if self.recorders:
            wire["recorders"] = [thaw(entry) for entry in self.recorders]
        return wire

    def __repr__(self) -> str:
        return f"FlowSnapshot(run_id={self.run_id!r}, rows={self._end})"
