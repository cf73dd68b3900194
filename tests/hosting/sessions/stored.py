"""Envelopes for tests of stores."""

from __future__ import annotations

from typing import Any

from agentfootprint.hosting import CONVERSATION, FLOWCHART, Envelope

__all__ = ["paused", "said", "text_of"]


def said(text: str = "hi", *, by: str | None = None, tenant: str | None = None, saved_at: int = 1000) -> Envelope:
    """A conversation of one message."""
    return Envelope(format=CONVERSATION, data=_data(text, by, tenant), saved_at=saved_at)


def paused(text: str = "hi", *, by: str | None = None, saved_at: int = 1000) -> Envelope:
    """A turn that asked."""
    checkpoint: dict[str, Any] = {"pausedStageId": "tool-calls", "sharedState": {}, "subflowPath": []}
    data = {"checkpoint": checkpoint, "conversation": _data(text, by, None), "pending": {"question": "Sure?"}}
    return Envelope(format=FLOWCHART, data=data, saved_at=saved_at)


def _data(text: str, by: str | None, tenant: str | None) -> dict[str, Any]:
    identity = {"identity": {"conversationId": "c", "principal": by, **({"tenant": tenant} if tenant else {})}}
    return {
        "version": 1,
        "runId": "run-1",
        "history": [{"role": "user", "content": text}],
        "lastCompletedIteration": 0,
        "originalInput": {"message": text},
        **(identity if by else {}),
    }


def text_of(envelope: Envelope | None) -> str | None:
    """What was said in it."""
    if envelope is None:
        return None
    data = envelope.to_wire()["data"]
    return str(data.get("conversation", data)["history"][0]["content"])
