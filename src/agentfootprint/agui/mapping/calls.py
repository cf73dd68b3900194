"""Which tool call does a result answer, and how are both sent?

Invariants (AGU-40 to AGU-43): a call is known by where it was made, never by the provider's id alone; what is sent is
what the record shows the model to have read; every result has an id of its own; a result without its call is counted,
and not sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import UNSET

from agentfootprint.agui.ids import AgUiIds
from agentfootprint.agui.mapping.moments import Moment, json_text, label, told
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.mapping.snapshot import Thread
from agentfootprint.agui.scopes import mount_scope
from agentfootprint.trace import PLACEHOLDER, JsonObject, Record, thaw

__all__ = ["Calls", "OpenCall"]

_Sent: TypeAlias = "list[core.Event]"
_NO_ARGS: Final[JsonObject] = {}
_Key: TypeAlias = "tuple[str, int | str]"


class OpenCall(Record, frozen=True, kw_only=True, gc=False):
    """A call that was sent and has no result yet; kept with a paused run (AGU-72)."""

    id: str
    """The AG-UI id."""
    provider_id: str
    """The provider's id as the record has it: perhaps a placeholder, and not unique."""
    n: int
    """The call's ordinal at its address."""
    address: str
    """Of the event that opened it."""
    tool_name: str
    """The tool."""
    ordinal: int | None = None
    """The call's place in its batch, when the events say it."""


class Calls:
    """The tool calls of one run.

    Args:
        ids: Mints their ids.
        thread: Is told of each call and result.
        waiting: Calls that the run that paused had sent, and that have no result yet.
    """

    def __init__(self, ids: AgUiIds, thread: Thread, waiting: Sequence[OpenCall]) -> None:
        self._ids, self._thread = ids, thread
        self._open: dict[str, OpenCall] = {call.id: call for call in waiting}
        """By AG-UI id, in the order of sending."""
        self._foreign = frozenset(self._open)
        self._by_key: dict[_Key, deque[OpenCall]] = {}
        self._waiting: list[OpenCall] = list(waiting)
        self._made: dict[str, int] = {}
        """How many calls were made at an address."""
        self._taken: set[str] = set()
        """Ids of results that are not those of their calls' places."""
        self.unpaired = 0

    @property
    def open(self) -> tuple[OpenCall, ...]:
        """Those without a result, in the order of sending."""
        return tuple(self._open.values())

    def start(self, moment: Moment, parent: str | None) -> _Sent:
        """A call is taken up: its start, arguments and end are sent together.

        Args:
            moment: The event.
            parent: The message that proposed it.
        """
        payload, address, ordinal = moment.payload, moment.address, moment.ordinal
        call_id, n = self._ids.next("tool-call", address)
        self._made[address] = n + 1
        provider_id = label(payload, "tool_call_id") or ""
        name = label(payload, "tool_name") or ""
        call = OpenCall(id=call_id, provider_id=provider_id, n=n, address=address, tool_name=name, ordinal=ordinal)
        self._open[call_id] = call
        if ordinal is not None:
            self._by_key.setdefault((address, ordinal), deque()).append(call)
        self._by_key.setdefault((address, provider_id), deque()).append(call)
        place = moment.place(toolCallId=provider_id, notDispatched=_mark(payload))
        args = _arguments(payload)
        self._thread.call(
            parent or call_id,
            core.ToolCall(
                id=call_id, type="function", function=core.FunctionCall(name=name, arguments=args), metadata=dict(place)
            ),
        )
        return [
            core.ToolCallStartEvent(
                tool_call_id=call_id, tool_call_name=name, parent_message_id=parent, metadata=place, **moment.stamp
            ),
            core.ToolCallArgsEvent(tool_call_id=call_id, delta=args, **moment.stamp),
            core.ToolCallEndEvent(tool_call_id=call_id, **moment.stamp),
        ]

    def result(self, moment: Moment) -> _Sent:
        """A call has settled."""
        payload = moment.payload
        provider_id = label(payload, "tool_call_id") or ""
        call = self.find(moment, provider_id)
        if call is None:
            self.unpaired += 1
            return []
        del self._open[call.id]
        self._first((call.address, call.provider_id))  # what is settled is not kept, under whatever it was not found
        if call.ordinal is not None:
            self._first((call.address, call.ordinal))
        if call in self._waiting:
            self._waiting.remove(call)
        mark = _mark(payload)
        failed = told(payload, "error") is True and mark is None
        status = told(payload, "status")
        place = moment.place(
            toolCallId=provider_id,
            error=True if failed else None,
            status=status if isinstance(status, str) else None,
            notDispatched=mark,
        )
        content = _content(payload)
        result_id = self._result_id(call, moment.address)
        self._thread.result(core.ToolMessage(id=result_id, tool_call_id=call.id, content=content, metadata=dict(place)))
        return [
            core.ToolCallResultEvent(
                message_id=result_id, tool_call_id=call.id, content=content, role="tool", metadata=place, **moment.stamp
            )
        ]

    def find(self, moment: Moment, provider_id: str) -> OpenCall | None:
        """The open call that an event is about: one of its address, or one of the run that paused (AGU-42)."""
        return self._placed(moment, provider_id) or self._resumed(moment, provider_id)

    def asked(self, scope: str, provider_id: str | None, ordinal: int | None) -> OpenCall | None:
        """The open call that a question is about."""
        near = [call for call in self._open.values() if mount_scope(call.address) == scope]
        if provider_id is None:
            return near[0] if len(near) == 1 else None
        same = [call for call in near if call.provider_id == provider_id]
        if ordinal is not None:
            same = [call for call in same if call.ordinal == ordinal] or same
        return same[0] if same else None

    def resumed(self) -> None:
        """The run goes on after a pause: what is open is answered at another address."""
        self._waiting = list(self._open.values())

    def _placed(self, moment: Moment, provider_id: str) -> OpenCall | None:
        """The open call of an event's address, by its place or its provider's id."""
        ordinal = moment.ordinal
        if ordinal is not None:
            call = self._first((moment.address, ordinal))
            if call is not None:
                return call
        call = self._first((moment.address, provider_id))
        return call if call is None or ordinal is None or call.ordinal is None else None

    def _first(self, key: _Key) -> OpenCall | None:
        queue = self._by_key.get(key)
        while queue:
            if queue[0].id in self._open:
                return queue[0]
            queue.popleft()
        self._by_key.pop(key, None)
        return None

    def _resumed(self, moment: Moment, provider_id: str) -> OpenCall | None:
        """The call of a paused run that an event in the resumed one is about."""
        scope, ordinal = moment.scope, moment.ordinal

        def closeness(call: OpenCall) -> tuple[bool, bool, bool]:
            here = mount_scope(call.address) == scope
            placed = ordinal is not None and call.ordinal == ordinal
            is_hidden = PLACEHOLDER in (call.provider_id, provider_id)
            return call.provider_id == provider_id or (is_hidden and placed and here), here, placed

        best = max(self._waiting, key=closeness, default=None)
        return best if best is not None and closeness(best)[0] else None

    def _result_id(self, call: OpenCall, address: str) -> str:
        """The id at the call's own place (AGU-5); for a call of another run, the next one here that no call needs."""
        if call.id not in self._foreign:
            own = self._ids.at("tool-result", call.n, call.address)
            if own not in self._taken:
                return own
        while True:
            result_id, n = self._ids.next("tool-result", address)
            if n >= self._made.get(address, 0) and result_id not in self._taken:
                self._taken.add(result_id)
                return result_id


def _arguments(payload: object) -> str:
    found: object = told(payload, "args")
    if found is UNSET or found is None:
        found = payload if isinstance(payload, str) else _NO_ARGS
    if isinstance(found, str):  # hidden: a JSON text that says so (AGU-44)
        return json_text([found])[1:-1]
    return json_text(found)


def _content(payload: object) -> str:
    """What the model read (NEW-94)."""
    if isinstance(payload, str):
        return json_text(payload)
    read = told(payload, "model_result")
    return json_text(told(payload, "result") if read is UNSET else read)


def _mark(payload: object) -> object:
    """The mark of a call that never ran (AGU-43)."""
    found = told(payload, "not_dispatched")
    return None if found is UNSET or found is None else thaw(found)
