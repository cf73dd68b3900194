"""What does an agent say, message by message?

Invariants (AGU-30 to AGU-36): a piece of text costs the same however long the message is, and nothing of it is kept; in
one scope one message is open at a time; a reply that is tried again, or rejected, is no longer in the thread.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from agentfootprint.agui.ids import AgUiIds
from agentfootprint.agui.mapping.moments import Moment, clean, hidden, told, whole
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.mapping.snapshot import Thread

__all__ = ["Texts"]

_Sent: TypeAlias = "list[core.Event]"
_NOT_THE_ANSWER: Final = frozenset(("output-retry", "evidence-recheck"))
"""Branches on which the reply before is rejected, and asked for again."""


@dataclass(slots=True)
class _Open:
    """A message that is being sent; of its text only what tells whether another text is the same."""

    id: str
    address: str
    scope: str
    place: Mapping[str, Any]
    last: int = -1
    size: int = 0
    sum: int = 0

    def hear(self, text: str) -> None:
        self.size += len(text)
        self.sum = zlib.crc32(text.encode(), self.sum)

    def is_same(self, text: str) -> bool:
        return self.size == len(text) and self.sum == zlib.crc32(text.encode())


class Texts:
    """The text messages of one run.

    Args:
        ids: Mints their ids.
        thread: Is told of each.
        message_ids: By scope, the latest assistant message of the run that paused.
    """

    def __init__(self, ids: AgUiIds, thread: Thread, message_ids: Mapping[str, str]) -> None:
        self._ids, self._thread = ids, thread
        self._open: dict[str, _Open] = {}
        """By address."""
        self._in_scope: dict[str, _Open] = {}
        self.latest: dict[str, str] = dict(message_ids)
        """By scope, the id of the latest message, also of one without text."""
        self._replies: dict[str, tuple[str, str]] = {}
        """By scope, address and id of the latest reply."""
        self._unsaid: dict[str, _Open] = {}
        """By scope, a message that ended before its reply was whole."""
        self._committed: dict[str, tuple[str, str]] = {}
        """By scope, the answer and where it was committed."""
        self.closed_at: str | None = None
        """Where the outermost composition ended last."""

    def asked(self, moment: Moment) -> None:
        """A model call begins: calls that come now belong to its own reply."""
        self.latest.pop(moment.scope, None)

    def token(self, moment: Moment, text: str | None) -> _Sent:
        """A piece of text has come."""
        if text is None:
            found = told(moment.payload, "content")
            text = found if isinstance(found, str) else hidden(moment.payload)
        if not text:
            return []
        text = clean(text)
        index = whole(moment.payload, "token_index")
        message = self._open.get(moment.address)
        sent: _Sent = []
        if message is None or (index is not None and index <= message.last):
            sent = list(self._start(moment))
            message = self._open[moment.address]
        if index is not None:
            message.last = index
        message.hear(text)
        sent.append(core.TextMessageContentEvent(message_id=message.id, delta=text, **moment.stamp))
        return sent

    def begins(self, moment: Moment) -> bool:
        """Whether a piece of text at this place would begin a message."""
        return moment.address not in self._open

    def reply(self, moment: Moment, text: str | None) -> _Sent:
        """A model call has returned."""
        payload = moment.payload
        sent: _Sent = []
        if text is None:
            found = told(payload, "content")
            text = found if isinstance(found, str) else hidden(payload) or ""
        text = clean(text)
        message = self._open.get(moment.address)
        if message is None and text:
            sent.extend(self._start(moment))
            message = self._open[moment.address]
            message.hear(text)
            sent.append(core.TextMessageContentEvent(message_id=message.id, delta=text, **moment.stamp))
        if message is None:
            sent.extend(self._give_up(moment))
            if (whole(payload, "tool_call_count") or 0) > 0:
                self._mint(moment)  # so that its calls stand together (AGU-34)
            return sent
        place = moment.place(iteration=told(payload, "iteration"), stopReason=told(payload, "stop_reason"))
        self._forget(message)
        self._thread.say(message.id, text, place, is_as_sent=message.is_same(text))
        sent.append(core.TextMessageEndEvent(message_id=message.id, metadata=place, **moment.stamp))
        return sent

    def restarted(self, moment: Moment) -> _Sent:
        """A streamed reply begins again (DEC-43)."""
        message = self._open.get(moment.address)
        return [] if message is None else [self._give_up_one(message, moment.stamp)]

    def routed(self, moment: Moment) -> None:
        """The loop has chosen its way; on some of them the reply is rejected."""
        if told(moment.payload, "chosen") in _NOT_THE_ANSWER:
            self._thread.drop(self.latest.get(moment.scope))

    def committed(self, moment: Moment) -> None:
        """A turn has its answer."""
        found = told(moment.payload, "final_content")
        text = found if isinstance(found, str) else hidden(moment.payload)
        if text is not None:
            self._committed[moment.scope] = clean(text), moment.address

    @property
    def answer(self) -> str | None:
        """The committed answer of the outermost agent."""
        found = self._committed.get("")
        return None if found is None else found[0]

    def close_scope(self, moment: Moment) -> _Sent:
        """What is open in a scope ends, complete as it is: its iteration is over."""
        message = self._in_scope.get(moment.scope)
        if message is None:
            return []
        self._unsaid[moment.scope] = message
        return [self._end(message, moment.stamp)]

    def close_all(self, stamp: Mapping[str, Any]) -> _Sent:
        """What is open ends: the run does."""
        return [self._end(message, stamp) for message in list(self._open.values())]

    def settle(self, text: str | None) -> None:
        """Put what was committed into the thread, under the ids it was sent with (AGU-36).

        Args:
            text: The answer as it is handed to the caller, where that is known.
        """
        for scope, (committed, address) in self._committed.items():
            said = text if text is not None and not scope else committed
            self._commit(scope, self.latest.get(scope), said, address)
        if text is None or "" in self._committed:
            return
        if self.closed_at is None:
            if "" in self.latest:
                self._commit("", self.latest[""], text, "")
        elif all(self._thread.text_of(each) != text for each in self.latest.values()):
            self._commit("", None, text, self.closed_at)

    def _commit(self, scope: str, id: str | None, text: str, address: str) -> None:
        unsaid = self._unsaid.get(scope)
        if unsaid is not None and unsaid.id == id and unsaid.is_same(text):
            self._thread.say(unsaid.id, text, unsaid.place, is_as_sent=True)
            return
        if id is None:
            if not text:
                return
            id = self.latest[scope] = self._ids.next("message", address).id  # noqa: A001  an answer that no model gave
        self._thread.revise(id, text)
        if not text:
            self._thread.drop(id)

    def _start(self, moment: Moment) -> Iterator[core.Event]:
        yield from self._give_up(moment)
        message_id = self._mint(moment)
        self._thread.open(message_id)
        place = moment.place(iteration=told(moment.payload, "iteration"))
        message = _Open(message_id, moment.address, moment.scope, place)
        self._open[moment.address] = self._in_scope[moment.scope] = message
        yield core.TextMessageStartEvent(message_id=message_id, role="assistant", metadata=place, **moment.stamp)

    def _give_up(self, moment: Moment) -> _Sent:
        """What was said before in this scope by the same call, or by one that never returned, counts no more."""
        scope = moment.scope
        before = self._in_scope.get(scope)
        if before is not None:
            return [self._give_up_one(before, moment.stamp)]
        address, before_id = self._replies.get(scope, ("", ""))
        if address == moment.address:
            self._thread.drop(before_id)
        return []

    def _give_up_one(self, message: _Open, stamp: Mapping[str, Any]) -> core.Event:
        self._forget(message)
        self._thread.drop(message.id)
        return core.TextMessageEndEvent(message_id=message.id, **stamp)

    def _end(self, message: _Open, stamp: Mapping[str, Any]) -> core.Event:
        self._forget(message)
        return core.TextMessageEndEvent(message_id=message.id, **stamp)

    def _forget(self, message: _Open) -> None:
        del self._open[message.address]
        if self._in_scope.get(message.scope) is message:
            del self._in_scope[message.scope]

    def _mint(self, moment: Moment) -> str:
        message_id = self._ids.next("message", moment.address).id
        self.latest[moment.scope] = message_id
        self._replies[moment.scope] = moment.address, message_id
        return message_id
