"""What does a chart do, in numbered lines (FLOW-BLD-25).

The lines of a mounted chart stand once, below its mount and indented; nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentfootprint.flow.out.spec import local_name, spec_branches
from agentfootprint.flow.parts import ForEach, Part
from agentfootprint.trace import StageInfo

__all__ = ["described"]

_INDENT = "   "


def described(stages: Sequence[StageInfo], parts: Sequence[Part | None]) -> str:
    """The description of a chart.

    Args:
        stages: Its stages by number; the first is its start.
        parts: What they were made from.
    """
    lines = [_title(stages[0]), "Steps:"]
    open_lines = [_Lines(stages, parts).of(0)]
    while open_lines:
        found = next(open_lines[-1], None)
        if found is None:
            open_lines.pop()
        elif isinstance(found, str):
            lines.append(_INDENT * (len(open_lines) - 1) + found)
        else:
            open_lines.append(_Lines(stages, parts).of(found))
    return "\n".join(lines)


def _title(root: StageInfo) -> str:
    return f"FlowChart: {local_name(root)}"


class _Lines:
    """The lines of one chart, and at each mount the number of the first stage inside."""

    def __init__(self, stages: Sequence[StageInfo], parts: Sequence[Part | None]) -> None:
        self.stages = stages
        self.parts = parts
        self.count = 0
        self.steps: dict[str, int] = {}
        """Step numbers by display name: what a loop is told by."""

    def of(self, number: int) -> Iterator[str | int]:
        while number >= 0:
            info = self.stages[number]
            branches = self._branches(info)
            if info.kind in ("decider", "selector"):
                for branch in branches:
                    if branch.loop_to >= 0:
                        target = self.stages[branch.loop_to].local_id
                        yield f"{_INDENT}→ branch '{branch.branch_id}' loops back to {target}"
            if info.kind == "mount":
                yield from self._mount(info)
            else:
                yield self._step(info, self._words(info))
            if info.kind in ("decider", "selector"):
                for branch in branches:
                    if branch.description is not None:
                        yield f"{_INDENT}→ {branch.branch_id}: {branch.description}"
            else:
                yield from self._fork(branches)
            if info.loop_to >= 0:
                target = self.stages[info.loop_to].local_id
                step = self.steps.get(target)
                yield f"→ loops back to {target if step is None else f'step {step}'}"
            number = info.next

    def _branches(self, info: StageInfo) -> list[StageInfo]:
        return [self.stages[number] for number in spec_branches(info, self.parts[info.number])]

    def _step(self, info: StageInfo, words: str) -> str:
        name = local_name(info)
        line = f"{self._number()}. {name}" + (f" — {words}" if words else "")
        self.steps[name] = self.count
        return line

    def _number(self) -> int:
        self.count += 1
        return self.count

    def _words(self, info: StageInfo) -> str:
        said = info.description or ""
        if info.kind == "decider":
            ids = ", ".join(branch.branch_id for branch in self._branches(info))
            return f"{said} (branches: {ids})" if said else f"Decides between: {ids}"
        if info.kind == "selector":
            return said or f"Selects from: {', '.join(branch.branch_id for branch in self._branches(info))}"
        part = self.parts[info.number]
        if isinstance(part, ForEach) and not said:
            return f"Runs one branch per item into '{part.into}'"
        return said

    def _mount(self, info: StageInfo) -> Iterator[str | int]:
        name = local_name(info)
        if info.entry < 0:
            yield f"{self._number()}. [Lazy Sub-Execution: {name}]"
        else:
            summary = info.description or _title(self.stages[info.entry])
            yield f"{self._number()}. [Sub-Execution: {name}] — {summary}"
            yield info.entry
        self.steps[name] = self.count

    def _fork(self, children: Sequence[StageInfo]) -> Iterator[str | int]:
        """The children of a fork: plain ones together, mounts each with its own lines."""
        plain: list[str] = []
        for child in children:
            if child.kind == "mount":
                yield from self._together(plain)
                plain = []
                yield from self._mount(child)
            else:
                plain.append(local_name(child))
        yield from self._together(plain)

    def _together(self, names: Sequence[str]) -> Iterator[str]:
        if names:
            yield f"{self._number()}. Runs in parallel: {', '.join(names)}"
