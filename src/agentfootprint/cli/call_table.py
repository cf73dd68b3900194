"""What happened in a run, one line a step? The calls of models and tools as a table, short for any length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.explain import counted, display_width, escaped, folded, quoted
from agentfootprint.trace import compact_json

if TYPE_CHECKING:
    from agentfootprint.recording import ModelCall, ToolUse

__all__ = ["CallRow", "call_rows", "table_text"]

SHOWN_WHOLE: Final = 40
"""Up to so many model calls the table has a line for each."""
_AT_AN_END: Final = 5
_STEP_COLUMN: Final = 15
_NARROWEST: Final = 13
"""What is left for "what happened" beside long step ids."""
_RIGHT: Final = (("system", 8), ("messages", 10), ("tools", 7))
"""The columns at the right and their widths; a star may follow a number. Left of them stand the tokens."""
_TOKENS: Final = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One model call with the tool calls it led to."""

    call: ModelCall
    uses: tuple[ToolUse, ...]
    changed: tuple[str, ...]
    """Which of system, messages and tools differ from the call before."""
    settled: tuple[ToolUse, ...] = ()
    """Tool calls that came to an end before it, and whose model call is in the record of the run that paused."""
    waits: bool = False
    """Whether a tool call without an end waits for a person."""

    @property
    def tokens(self) -> str:
        """`70 in/0 out`, or that it is not known."""
        usage = self.call.usage
        if usage is None or not usage.known:
            return "unknown"
        taken, given = usage.totals()
        return f"{taken:,} in/{given:,}"

    @property
    def said(self) -> str:
        """What the model did."""
        asked = [escaped(tool.name) for tool in self.call.tool_calls]
        if asked:
            return f"asked for {', '.join(asked)}"
        return "answered" if self.call.finished else "did not answer"

    def to_wire(self) -> dict[str, Any]:
        """The row as JSON; what is not known has no key."""
        call = self.call
        wire: dict[str, Any] = {
            "step": call.step,
            "iteration": call.iteration,
            "askedFor": [tool.name for tool in call.tool_calls],
            "answered": call.finished,
            "system": system_records(call),
            "messages": len(call.messages),
            "tools": len(call.tools),
            "changed": list(self.changed),
            "toolCalls": [_use_to_wire(use, waits=self.waits) for use in self.uses],
        }
        if self.settled:
            wire["settledBefore"] = [_use_to_wire(use, waits=False) for use in self.settled]
        if call.usage is not None and call.usage.known:
            wire["tokensIn"], wire["tokensOut"] = call.usage.totals()
        return wire


def _use_to_wire(use: ToolUse, *, waits: bool) -> dict[str, Any]:
    wire: dict[str, Any] = {"step": use.step, "tool": use.tool_name, "ok": use.ok}
    if use.denied:
        wire["denied"] = True
    if not use.dispatched:
        wire["dispatched"] = False
    if waits and not use.finished:
        wire["waits"] = True
    return wire if use.result is None else {**wire, "resultCharacters": len(use.result)}


def call_rows(calls: Sequence[ModelCall], uses: Sequence[ToolUse], *, waits: bool = False) -> list[CallRow]:
    """The rows of a run, in order.

    Args:
        calls: Its model calls.
        uses: Its tool calls.
        waits: Whether the run waits for a person.
    """
    by_iteration: dict[int | None, list[ToolUse]] = {}
    for use in uses:
        by_iteration.setdefault(use.iteration, []).append(use)
    known = {call.iteration for call in calls}
    settled = tuple(use for use in uses if use.iteration is not None and use.iteration not in known)
    rows: list[CallRow] = []
    before: ModelCall | None = None
    for call in calls:
        led_to = tuple(by_iteration.pop(call.iteration, ()))
        changed = tuple(_changed(before, call))
        rows.append(CallRow(call=call, uses=led_to, changed=changed, settled=() if rows else settled, waits=waits))
        before = call
    return rows


def system_records(call: ModelCall) -> int:
    """How many pieces the system prompt had; one whose parts are not recorded is one."""
    return len(call.pieces) or (1 if call.system_text else 0)


def _changed(before: ModelCall | None, call: ModelCall) -> Iterator[str]:
    if before is None or before.system_text != call.system_text:
        yield "system"
    if before is None or len(before.messages) != len(call.messages) or before.messages != call.messages:
        yield "messages"
    if before is None or list(before.tools) != list(call.tools):
        yield "tools"


def table_text(rows: Sequence[CallRow], *, width: int, whole: bool) -> str:
    """The table.

    Args:
        rows: The rows to show.
        width: Columns.
        whole: Whether a long line is continued on the next one instead of cut with `...`.
    """
    first, middle, last = _parts(rows)
    shown = [*first, *last]
    it_width = max([4, *(len(str(row.call.iteration)) + 2 for row in shown)])
    longest = max([_STEP_COLUMN, *(display_width(step) + 2 for row in shown for step in _steps(row))])
    tokens = max([_TOKENS, *(len(row.tokens) + 2 for row in shown)])
    step_width = min(longest, width - it_width - _NARROWEST - tokens - sum(size for _, size in _RIGHT))
    layout = _Layout(it_width, step_width, tokens, width, whole)
    lines = [layout.header(), *(line for row in first for line in layout.row(row))]
    if middle:
        lines += _summary(middle, width)
    lines += [line for row in last for line in layout.row(row)]
    note = "* changed since the call before"
    return "\n".join([*lines, note.rjust(layout.width)])


def _parts(rows: Sequence[CallRow]) -> tuple[Sequence[CallRow], Sequence[CallRow], Sequence[CallRow]]:
    if len(rows) <= SHOWN_WHOLE:
        return rows, (), ()
    return rows[:_AT_AN_END], rows[_AT_AN_END:-_AT_AN_END], rows[-_AT_AN_END:]


def _steps(row: CallRow) -> Iterator[str]:
    yield escaped(row.call.step)
    for use in (*row.settled, *row.uses):
        yield escaped(use.step)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the columns of the table stand."""

    it_width: int
    step_width: int
    tokens: int
    width: int
    whole: bool

    @property
    def _left(self) -> int:
        return self.it_width + self.step_width

    @property
    def _middle(self) -> int:
        return self.width - self._left - self.tokens - sum(size for _, size in _RIGHT)

    def header(self) -> str:
        left = "it".ljust(self.it_width) + "step".ljust(self.step_width) + "what happened".ljust(self._middle)
        left += " " * self.tokens
        return left + "".join(name.rjust(size) for name, size in _RIGHT)

    def row(self, row: CallRow) -> Iterator[str]:
        for use in row.settled:
            yield from self._use(use, start=str(use.iteration).ljust(self.it_width))
        call = row.call
        counts = (("system", system_records(call)), ("messages", len(call.messages)), ("tools", len(call.tools)))
        cells = [f"{number:,}{'*' if name in row.changed else ' '}" for name, number in counts]
        right = f"{row.tokens} ".rjust(self.tokens)
        right = (right + "".join(cell.rjust(size) for cell, (_, size) in zip(cells, _RIGHT, strict=True))).rstrip()
        start = str(call.iteration).ljust(self.it_width)
        step = escaped(call.step)
        yield from self._long(start, step)
        start = self._start(start, step)
        said = folded(row.said, self._left + self._middle, start=start, rest=" " * self._left)
        yield said[0] + " " * (self._left + self._middle - display_width(said[0])) + right
        yield from said[1:]
        for use in row.uses:
            yield from self._use(use, waits=row.waits)

    def _fits(self, step: str) -> bool:
        return display_width(step) + 2 <= self.step_width

    def _long(self, start: str, step: str) -> Iterator[str]:
        """A step id that is too long for its column has a line of its own, whole."""
        if not self._fits(step):
            yield from folded(step, self.width, start=start, rest=" " * self.it_width)

    def _start(self, start: str, step: str) -> str:
        return start + step + " " * (self.step_width - display_width(step)) if self._fits(step) else " " * self._left

    def _use(self, use: ToolUse, *, start: str = "", waits: bool = False) -> Iterator[str]:
        blank = start or " " * self.it_width
        step, name = escaped(use.step), escaped(use.tool_name)
        yield from self._long(blank, step)
        start = self._start(blank, step)
        args = escaped(compact_json(use.args))
        end = f" -> {_came_to(use, waits=waits)}"
        if not self.whole:
            room = self.width - self._left - display_width(name) - len(end) - 2
            if display_width(args) > room:
                args = quoted(args, max(5, room) + 2)[1:-1]
        yield from folded(f"{name}({args}){end}", self.width, start=start, rest=" " * self._left)


def _came_to(use: ToolUse, *, waits: bool) -> str:
    if not use.finished:
        return "waits for a person" if waits else "not settled"
    if use.denied:
        return "denied"
    if not use.dispatched:
        return "not run"
    if use.result is None:
        return "nothing recorded"
    size = counted(len(use.result), "character")
    return size if use.ok else f"an error, {size}"


def _summary(rows: Sequence[CallRow], width: int) -> list[str]:
    """One line for a block of calls: how many, which tools, and what changed."""
    tools = Counter(use.tool_name for row in rows for use in row.uses)
    changes = Counter(name for row in rows for name in row.changed)
    used = ", ".join(f"{escaped(name)} {count:,}" for name, count in tools.most_common()) or "none"
    changed = ", ".join(
        f"{name} {'every call' if count == len(rows) else 'in ' + counted(count, 'call')}"
        for name, count in changes.items()
    )
    span = f"{rows[0].call.iteration:,}-{rows[-1].call.iteration:,}"
    said = f"{span}  {counted(len(rows), 'call')}  tools: {used}  changed: {changed or 'nothing'}"
    return folded(said, width, rest=" " * 4)
