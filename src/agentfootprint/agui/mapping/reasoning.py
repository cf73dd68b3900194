"""What does a client see of the model's thinking?

Invariants (AGU-50, AGU-51): nothing, unless it was asked for; thinking that was streamed is not sent again whole; in
one scope one span is open at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from agentfootprint.agui.ids import AgUiIds
from agentfootprint.agui.mapping.moments import Moment, clean, hidden, label, told, whole
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.mapping.snapshot import Thread

__all__ = ["Reasoning"]

_Sent: TypeAlias = "list[core.Event]"


@dataclass(slots=True)
class _Span:
    span_id: str
    message_id: str
    scope: str
    address: str
    metadata: dict[str, Any]
    last: int = -1
    parts: list[str] = field(default_factory=list[str])
    encrypted: str | None = None

    def message(self) -> core.ReasoningMessage:
        return core.ReasoningMessage(
            id=self.message_id,
            content="".join(self.parts),
            encrypted_value=self.encrypted,
            metadata=dict(self.metadata),
        )


class Reasoning:
    """The reasoning of one run.

    Args:
        ids: Mints its ids.
        thread: Is told of each message.
        encrypted: Whether signatures are sent.
    """

    def __init__(self, ids: AgUiIds, thread: Thread, *, encrypted: bool) -> None:
        self._ids, self._thread, self._encrypted = ids, thread, encrypted
        self._open: dict[str, _Span] = {}
        self._streamed: dict[str, _Span] = {}
        """By scope, what was streamed of the reply whose end has not come."""

    @property
    def is_open(self) -> bool:
        """Whether any span is."""
        return bool(self._open)

    def asked(self, moment: Moment) -> _Sent:
        """A model call begins; what a call before it thought is over, also if it never returned."""
        sent = self.close(moment)
        self._streamed.pop(moment.scope, None)
        return sent

    def delta(self, moment: Moment) -> _Sent:
        """A piece of thinking has come."""
        found = told(moment.payload, "content")
        text = clean(found) if isinstance(found, str) else hidden(moment.payload)
        if not text:
            return []
        index = whole(moment.payload, "token_index")
        span = self._open.get(moment.scope)
        sent: _Sent = []
        if span is not None and (span.address != moment.address or (index is not None and index <= span.last)):
            sent, span = self._finish(span, moment.stamp), None  # an attempt that is made again
        if span is None:
            span, started = self._start(moment)
            sent += started
            self._streamed[moment.scope] = span
        if index is not None:
            span.last = index
        span.parts.append(text)
        sent.append(core.ReasoningMessageContentEvent(message_id=span.message_id, delta=text, **moment.stamp))
        return sent

    def close(self, moment: Moment) -> _Sent:
        """Something else happened in the scope: its thinking is over."""
        span = self._open.get(moment.scope)
        return [] if span is None else self._finish(span, moment.stamp)

    def end(self, moment: Moment) -> _Sent:
        """A reply's thinking was read."""
        sent = self.close(moment)
        blocks = _blocks(moment.payload)
        span = self._streamed.pop(moment.scope, None)
        texts = [] if span is not None else [text for block in blocks if (text := label(block, "content"))]
        sealed = [sign for block in blocks if (sign := _sealed(block))] if self._encrypted else []
        if span is None and not texts and not sealed:
            return sent
        if span is None:
            span, started = self._start(moment)
            sent += started
            if texts:
                text = "\n\n".join(texts)
                span.parts.append(text)
                sent.append(core.ReasoningMessageContentEvent(message_id=span.message_id, delta=text, **moment.stamp))
            sent += self._finish(span, moment.stamp)
        for sign in sealed:
            span.encrypted = sign
            sent.append(
                core.ReasoningEncryptedValueEvent(
                    subtype="message", entity_id=span.message_id, encrypted_value=sign, **moment.stamp
                )
            )
        self._thread.think(span.message())
        return sent

    def close_all(self, stamp: Mapping[str, Any]) -> _Sent:
        """What is open ends: the run does."""
        return [event for span in list(self._open.values()) for event in self._finish(span, stamp)]

    def _start(self, moment: Moment) -> tuple[_Span, _Sent]:
        span = _Span(
            self._ids.next("reasoning", moment.address).id,
            self._ids.next("reasoning-message", moment.address).id,
            moment.scope,
            moment.address,
            moment.place(),
        )
        self._open[moment.scope] = span
        self._thread.think(span.message())  # it stands where it began
        return span, [
            core.ReasoningStartEvent(message_id=span.span_id, **moment.stamp),
            core.ReasoningMessageStartEvent(
                message_id=span.message_id, role="reasoning", metadata=span.metadata, **moment.stamp
            ),
        ]

    def _finish(self, span: _Span, stamp: Mapping[str, Any]) -> _Sent:
        del self._open[span.scope]
        self._thread.think(span.message())
        return [
            core.ReasoningMessageEndEvent(message_id=span.message_id, **stamp),
            core.ReasoningEndEvent(message_id=span.span_id, **stamp),
        ]


def _blocks(payload: object) -> Sequence[object]:
    found = told(payload, "blocks")
    if isinstance(found, Sequence) and not isinstance(found, str):
        return cast("Sequence[object]", found)
    placeholder = found if isinstance(found, str) else hidden(payload)
    return () if placeholder is None else ({"content": placeholder},)


def _sealed(block: object) -> str | None:
    found = told(block, "signature")
    return clean(found) if isinstance(found, str) and found else None
