"""Where a value already stands on record: as every log has it, and views of messages by what they are made from."""

from __future__ import annotations

from typing import Any

from agentfootprint.recording.derived import HiddenRows, MessageRows
from agentfootprint.trace import SHORT_TEXT, Address, View, is_plain
from agentfootprint.trace import ValueWriter as PlainWriter

__all__ = ["SHORT_TEXT", "Address", "ValueWriter", "is_plain"]


class ValueWriter(PlainWriter):
    """Turns frozen values into JSON that refers to what was written before, derived values by name (LIN-12)."""

    def view(self, value: View, at: Address | None) -> Any:  # noqa: ANN401  JSON
        """The JSON of a list that computes its elements."""
        if not isinstance(value, MessageRows):
            return super().view(value, at)
        self.keep(value, at)
        window = self.nested(value.of)
        of = [window, list(value.names), value.word] if isinstance(value, HiddenRows) else window
        return {"$fn": value.fn, "of": of}
