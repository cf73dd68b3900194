"""What should the client show of the thread now?

Invariants (AGU-60): a message keeps the id it was sent under; a reply whose text is not known yet is not shown; what
the thread had before is never changed in place. Adding a message costs its own size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agentfootprint.agui.mapping.protocol import core

__all__ = ["Thread"]

_TWO: Final = 2


@dataclass(slots=True)
class _Said:
    """An assistant's message of this run."""

    text: str | None = None
    """`None` while it is not known, and when there is none."""
    metadata: Mapping[str, Any] | None = None
    calls: list[core.ToolCall] = field(default_factory=list[core.ToolCall])
    is_sent: bool = False
    """Whether the client has seen any of its text."""

    def message(self, id: str) -> core.AssistantMessage | None:
        if self.text is None and not self.calls:
            return None
        return core.AssistantMessage(
            id=id, content=self.text, tool_calls=list(self.calls) or None, metadata=_owned(self.metadata)
        )


class Thread:
    """The messages of a thread, those before the run and those of the run.

    Args:
        history: The messages before the run's own; `None` when nobody keeps the thread.
    """

    def __init__(self, history: Iterable[core.Message] | None) -> None:
        self._rows: dict[str, core.Message | _Said] = {message.id: message for message in history or ()}
        self.is_kept = history is not None
        """Whether somebody keeps the thread, and said what was in it."""
        self._begins_here = False
        self.is_wrong = False
        """Whether the client shows what was taken back, or has become something else."""

    @property
    def is_stale(self) -> bool:
        """Whether it shows that, or a reply that never came to its end; asked once, at the end."""
        return self.is_wrong or any(
            row.is_sent and row.text is None for row in self._rows.values() if isinstance(row, _Said)
        )

    @property
    def is_whole(self) -> bool:
        """Whether nothing that came before is missing; a snapshot must never be partial."""
        return self.is_kept or self._begins_here

    def ask(self, id: str, text: str) -> None:
        """The user's message of this turn, where nobody keeps the thread: as far as is known, it begins here."""
        self._begins_here = not self._rows
        self._rows[id] = core.UserMessage(id=id, content=text)

    def heard_of_more(self) -> None:
        """The model was given more than one message: more than the user's, if nothing else has been said yet."""
        if len(self._rows) < _TWO:
            self._begins_here = False

    def open(self, id: str) -> None:
        """A reply begins to be sent; it stands where it began."""
        row = self._said(id)
        if row is not None:
            row.is_sent = True

    def say(self, id: str, text: str, metadata: Mapping[str, Any], *, is_as_sent: bool) -> None:
        """A reply is complete, and is what was sent of it or something else."""
        row = self._said(id)
        if row is not None:
            row.text, row.metadata = text or None, metadata
        self.is_wrong = self.is_wrong or not is_as_sent

    def call(self, parent: str, call: core.ToolCall) -> None:
        """A call is shown under the message that proposed it."""
        row = self._rows.get(parent)
        if isinstance(row, core.AssistantMessage):
            self._rows[parent] = row.model_copy(update={"tool_calls": [*(row.tool_calls or ()), call]})
            return
        said = self._said(parent)
        if said is not None:
            said.calls.append(call)

    def result(self, message: core.ToolMessage) -> None:
        """A call was answered."""
        self._rows[message.id] = message

    def think(self, message: core.ReasoningMessage) -> None:
        """Reasoning was shown."""
        self._rows[message.id] = message

    def drop(self, id: str | None) -> None:
        """A reply counts no more; one that has tool calls stays."""
        if id is not None and isinstance(row := self._rows.get(id), _Said) and not row.calls:
            del self._rows[id]
            self.is_wrong = self.is_wrong or row.is_sent

    def revise(self, id: str, text: str) -> None:
        """What was committed under an id is this text (AGU-36)."""
        row = self._said(id)
        if row is not None and (row.text or "") != text:
            row.text = text or None
            self.is_wrong = True

    def text_of(self, id: str) -> str | None:
        """The text of a message of this run."""
        row = self._rows.get(id)
        return row.text if isinstance(row, _Said) else None

    def messages(self) -> list[core.Message]:
        """All of it, in order."""
        shown = (row.message(each) if isinstance(row, _Said) else row for each, row in self._rows.items())
        return [message for message in shown if message is not None]

    def _said(self, id: str) -> _Said | None:
        row = self._rows.setdefault(id, _Said())
        return row if isinstance(row, _Said) else None


def _owned(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if metadata is None else dict(metadata)
