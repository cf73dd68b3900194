"""Would a client accept this stream?

Invariants (AGU-84): one event costs the same however many came before; what is kept is what is open; an event that is
refused changes nothing, so the rest can still be checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, cast

from agentfootprint._optional import optional
from agentfootprint.agui.errors import AgUiSequenceError
from agentfootprint.agui.verifying.shapes import shape_fault
from agentfootprint.trace import wire_key

with optional("ag_ui", extra="agui", needed_by="verify_events"):
    from ag_ui import core

__all__ = ["EventVerifier", "verify_events"]


class _Kind(NamedTuple):
    """What an event type does to one sort of thing that can be open."""

    sort: str
    key: str
    does: str
    """`start`, `part` or `end`."""


_KINDS: Final[Mapping[str, _Kind]] = {
    "TEXT_MESSAGE_START": _Kind("message", "message_id", "start"),
    "TEXT_MESSAGE_CONTENT": _Kind("message", "message_id", "part"),
    "TEXT_MESSAGE_END": _Kind("message", "message_id", "end"),
    "TOOL_CALL_START": _Kind("call", "tool_call_id", "start"),
    "TOOL_CALL_ARGS": _Kind("call", "tool_call_id", "part"),
    "TOOL_CALL_END": _Kind("call", "tool_call_id", "end"),
    "REASONING_START": _Kind("reasoning", "message_id", "start"),
    "REASONING_END": _Kind("reasoning", "message_id", "end"),
    "REASONING_MESSAGE_START": _Kind("reasoning-message", "message_id", "start"),
    "REASONING_MESSAGE_CONTENT": _Kind("reasoning-message", "message_id", "part"),
    "REASONING_MESSAGE_END": _Kind("reasoning-message", "message_id", "end"),
    "STEP_STARTED": _Kind("step", "step_name", "start"),
    "STEP_FINISHED": _Kind("step", "step_name", "end"),
}
_SORTS: Final = tuple(dict.fromkeys(kind.sort for kind in _KINDS.values()))


class EventVerifier:
    """Checks a stream as it is made: give it every event in order, then tell it that there are no more.

    A thread's runs may follow one another in one stream. Not for several threads at once.
    """

    def __init__(self) -> None:
        self._open: dict[str, set[str]] = {sort: set() for sort in _SORTS}
        self._last = ""
        """`started`, `finished` or `failed`; empty before the first event."""
        self._count = 0

    def check(self, event: core.Event | Mapping[str, Any]) -> None:
        """Check the next event.

        Args:
            event: An `ag_ui.core` event, or the object that is sent.

        Raises:
            AgUiSequenceError: A client would refuse it.
        """
        index, self._count = self._count, self._count + 1
        if isinstance(event, Mapping):
            fault = shape_fault(event)
            if fault is not None:
                raise AgUiSequenceError(index, str(event.get("type")), *fault)
            name, kind = str(event["type"]), _KINDS.get(str(event["type"]))
            key = "" if kind is None else str(event[wire_key(kind.key)])
        else:
            name = event.type.value
            kind = _KINDS.get(name)
            key = "" if kind is None else cast("str", getattr(event, kind.key))
        fault = self._order_fault(name) or (None if kind is None else self._pair_fault(kind, key))
        if fault is not None:
            raise AgUiSequenceError(index, name, *fault)
        self._take(name, kind, key)

    def finish(self) -> None:
        """Check that the stream may end here.

        Raises:
            AgUiSequenceError: The run has no terminal event.
        """
        if self._last not in ("finished", "failed"):
            raise AgUiSequenceError(self._count, "the end", "unfinished", "comes before RUN_FINISHED or RUN_ERROR")

    def _order_fault(self, name: str) -> tuple[str, str] | None:
        if not self._last:
            if name not in ("RUN_STARTED", "RUN_ERROR"):
                return "first", "stands first, where only RUN_STARTED and RUN_ERROR may"
        elif self._last == "started":
            if name == "RUN_STARTED":
                return "running", "begins a run while another goes on"
            if name == "RUN_FINISHED":
                return self._left_open()
        elif self._last == "finished":
            if name not in ("RUN_STARTED", "RUN_ERROR"):
                return "after-finished", "comes after RUN_FINISHED"
        elif name != "RUN_STARTED":
            return "after-error", "comes after RUN_ERROR"
        return None

    def _left_open(self) -> tuple[str, str] | None:
        sort = next((sort for sort in _SORTS if self._open[sort]), None)
        return None if sort is None else ("left-open", f"ends the run while a {sort} is open")

    def _pair_fault(self, kind: _Kind, key: str) -> tuple[str, str] | None:
        is_open = key in self._open[kind.sort]
        if kind.does == "start":
            return (f"{kind.sort}-open", f"begins a {kind.sort} that is open already") if is_open else None
        return None if is_open else (f"{kind.sort}-not-open", f"is about a {kind.sort} that is not open")

    def _take(self, name: str, kind: _Kind | None, key: str) -> None:
        if kind is not None:
            if kind.does == "start":
                self._open[kind.sort].add(key)
            elif kind.does == "end":
                self._open[kind.sort].discard(key)
        elif name == "RUN_STARTED":
            self._last = "started"
        elif name in ("RUN_FINISHED", "RUN_ERROR"):
            self._last = "finished" if name == "RUN_FINISHED" else "failed"
            for keys in self._open.values():
                keys.clear()


def verify_events(events: Iterable[core.Event | Mapping[str, Any]]) -> None:
    """Check a whole stream: would a client accept it?

    Args:
        events: `ag_ui.core` events, or the objects that are sent.

    Raises:
        AgUiSequenceError: It would not; names the first event at fault.
        MissingExtraError: The package `ag-ui-protocol` is not installed.

    Example:
        >>> started = {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r-1"}
        >>> finished = {"type": "RUN_FINISHED", "threadId": "t-1", "runId": "r-1"}
        >>> verify_events([started, finished])
    """
    verifier = EventVerifier()
    for event in events:
        verifier.check(event)
    verifier.finish()
