"""What a client shows: a small port of how AG-UI's own client applies events, for tests."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from ag_ui import core

__all__ = ["Client", "wire_of"]

Wire = dict[str, Any]


def wire_of(events: Iterable[core.Event | core.Message]) -> list[Wire]:
    """The events, or messages, as they are sent."""
    return [event.model_dump(mode="json", by_alias=True) for event in events]


class Client:
    """Applies events to messages and state; snapshots replace what it has."""

    def __init__(self, events: Iterable[Wire] = (), messages: Iterable[Wire] = ()) -> None:
        self.messages: list[Wire] = [copy.deepcopy(message) for message in messages]
        self.state: Any = {}
        self.interrupts: list[Wire] = []
        for event in events:
            self.apply(event)

    def apply(self, event: Wire) -> None:
        """Apply one event."""
        name = str(event["type"]).lower()
        apply = getattr(self, f"_{name}", None)
        if apply is not None:
            apply(event)

    def _find(self, id: str) -> Wire | None:
        return next((message for message in self.messages if message["id"] == id), None)

    def _add(self, event: Wire, message: Wire) -> None:
        if "metadata" in event:
            message["metadata"] = copy.deepcopy(event["metadata"])
        self.messages.append(message)

    def _text_message_start(self, event: Wire) -> None:
        assert self._find(event["messageId"]) is None
        self._add(event, {"id": event["messageId"], "role": event["role"], "content": ""})

    def _text_message_content(self, event: Wire) -> None:
        message = self._find(event["messageId"])
        assert message is not None
        message["content"] += event["delta"]

    def _text_message_end(self, event: Wire) -> None:
        message = self._find(event["messageId"])
        assert message is not None
        message.setdefault("metadata", {}).update(copy.deepcopy(event.get("metadata", {})))

    _reasoning_message_start = _text_message_start
    _reasoning_message_content = _text_message_content

    def _reasoning_encrypted_value(self, event: Wire) -> None:
        message = self._find(event["entityId"])
        assert message is not None
        message["encryptedValue"] = event["encryptedValue"]

    def _tool_call_start(self, event: Wire) -> None:
        parent = event.get("parentMessageId", event["toolCallId"])
        message = self._find(parent)
        if message is None:
            message = Wire(id=parent, role="assistant")
            self.messages.append(message)
        assert message["role"] == "assistant"
        function = {"name": event["toolCallName"], "arguments": ""}
        call: Wire = {"id": event["toolCallId"], "type": "function", "function": function}
        if "metadata" in event:
            call["metadata"] = copy.deepcopy(event["metadata"])
        message.setdefault("toolCalls", []).append(call)

    def _tool_call_args(self, event: Wire) -> None:
        for message in self.messages:
            for call in message.get("toolCalls", ()):
                if call["id"] == event["toolCallId"]:
                    call["function"]["arguments"] += event["delta"]
                    return
        raise AssertionError(event["toolCallId"])

    def _tool_call_result(self, event: Wire) -> None:
        assert self._find(event["messageId"]) is None
        self._add(event, {key: event[key] for key in ("toolCallId", "content", "role")} | {"id": event["messageId"]})

    def _messages_snapshot(self, event: Wire) -> None:
        self.messages = copy.deepcopy(event["messages"])

    def _state_snapshot(self, event: Wire) -> None:
        self.state = copy.deepcopy(event["snapshot"])

    def _state_delta(self, event: Wire) -> None:
        for change in event["delta"]:
            *path, last = change["path"].removeprefix("/").split("/")
            place = self.state
            for part in path:
                place = place[part]
            assert (last in place) == (change["op"] != "add")
            if change["op"] == "remove":
                del place[last]
            else:
                place[last] = copy.deepcopy(change["value"])

    def _run_finished(self, event: Wire) -> None:
        outcome = event.get("outcome", {})
        self.interrupts = outcome.get("interrupts", [])
