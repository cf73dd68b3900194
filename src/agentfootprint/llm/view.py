"""What does a model see of a history, without copying it?

Invariants: a view reads like the list it stands for and costs O(1) to make; an item costs a lookup, and an item that
must be stripped is stripped once (01b LIN-6). Library bookkeeping never leaves: fields are taken off, never a message,
so positions stay (AGT-38).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import msgspec

from agentfootprint.llm.messages import LLMMessage
from agentfootprint.trace import FrozenList, deep_equal

__all__ = ["RequestMessages"]


class RequestMessages(Sequence[LLMMessage]):
    """A history as a request holds it: the same messages without `injected_by` and `not_dispatched`.

    A later view of the same run is made with `over`: it meets the same stripped messages again, which an adapter may
    then know by identity. It pickles as a list.

    Args:
        history: A list of messages.
    """

    __slots__ = ("_stripped", "history")

    def __init__(self, history: FrozenList) -> None:
        self.history = history
        """The list behind the view, with the bookkeeping."""
        self._stripped: dict[int, tuple[LLMMessage, LLMMessage]] = {}

    def over(self, history: FrozenList) -> RequestMessages:
        """The view of another history of the same run."""
        view = RequestMessages.__new__(RequestMessages)
        view.history = history
        view._stripped = self._stripped  # noqa: SLF001  a view as this one
        return view

    def __len__(self) -> int:
        return self.history.n

    @overload
    def __getitem__(self, index: int) -> LLMMessage: ...
    @overload
    def __getitem__(self, index: slice) -> RequestMessages: ...
    def __getitem__(self, index: int | slice) -> LLMMessage | RequestMessages:
        if isinstance(index, slice):
            return self.over(self.history[index])
        return self._strip(self.history[index])

    def __iter__(self) -> Iterator[LLMMessage]:
        return map(self._strip, self.history)

    def __reversed__(self) -> Iterator[LLMMessage]:
        return map(self._strip, reversed(self.history))

    def __eq__(self, other: object) -> bool:
        return deep_equal(self, other)

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not a key

    def __repr__(self) -> str:
        return repr(list(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)

    def _strip(self, message: LLMMessage) -> LLMMessage:
        if message.injected_by is None and message.not_dispatched is None:
            return message
        known = self._stripped.get(id(message))  # the entry holds the message, so its id is not given away again
        if known is None:
            bare = msgspec.structs.replace(message, injected_by=None, not_dispatched=None)
            known = self._stripped[id(message)] = (message, bare)
        return known[1]
