"""What does a chart look like after a run: with what only that run had, and how often it went back (FLOW-SPC-3)?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from agentfootprint.flow.out.spec import spec_nodes
from agentfootprint.flow.parts import Part
from agentfootprint.trace import CHILD, Execution, Journal, StageInfo

__all__ = ["runtime_spec"]

Spec: TypeAlias = "dict[str, Any]"


def runtime_spec(journal: Journal, parts: Sequence[Part | None], known: int) -> Spec:
    """The structure of a chart, completed by what a run added to it.

    Args:
        journal: The run's rows.
        parts: What the chart's own stages were made from, by number.
        known: How many stages the chart itself has.
    """
    stages = journal.stages
    specs = spec_nodes(stages, parts)
    executions = journal.executions()
    _count_loops(executions.values(), specs)
    linked = {number for info in stages for number in (info.entry, info.next, *info.children)}
    firsts: dict[int, Execution] = {}
    for step in executions.values():
        firsts.setdefault(step.info.number, step)
    for info in stages[known:]:
        if info.kind == "mount":
            specs[info.number]["type"] = "subflow"
        if info.number not in linked:
            _attach(info, firsts.get(info.number), executions, stages, specs)
    for info in stages[:known]:
        if info.kind == "mount" and info.entry >= known:  # a lazy mount that was made
            specs[info.number] |= {"type": "subflow", "isLazy": True}
    return specs[0]


def _count_loops(executions: Any, specs: Sequence[Spec]) -> None:  # noqa: ANN401  the values of a dict
    """Say of each stage how often a loop led to it, over all runtimes."""
    counts: dict[tuple[int, int], int] = {}
    for step in executions:
        if step.loop:
            place = step.info.number, step.mount
            counts[place] = max(counts.get(place, 0), step.loop)
    for (number, _), count in counts.items():
        specs[number]["iterationCount"] = specs[number].get("iterationCount", 0) + count


def _attach(
    info: StageInfo,
    first: Execution | None,
    executions: Mapping[int, Execution],
    stages: Sequence[StageInfo],
    specs: list[Spec],
) -> None:
    """Hang what a run added on the stage that started it: as a branch of it, or as what followed."""
    before = None if first is None else executions.get(first.parent)
    owner = info.branch_of if info.branch_of >= 0 else -1 if before is None else before.info.number
    if owner < 0:
        return
    spec = specs[owner]
    if info.branch_of < 0 and first is not None and first.link != CHILD and "next" not in spec:
        spec["next"] = specs[info.number]
        return
    children = cast("list[Spec]", spec.setdefault("children", []))
    same = next((place for place, child in enumerate(children) if child["id"] == info.local_id), None)
    if same is None:
        children.append(specs[info.number])
    else:  # another visit made it anew
        children[same] = specs[info.number]
    if stages[owner].kind not in ("decider", "selector"):
        specs[info.number] |= {"isParallelChild": True, "parallelGroupId": stages[owner].local_id}
