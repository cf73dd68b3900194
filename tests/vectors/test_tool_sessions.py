"""The vectors about sessions of tools: whose a session is, and what is told of it."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Identity
from agentfootprint.tools import key_hash, tool_session_key
from tests.vectors.harness import Case, load


class Caller:
    """A tool's context, from a vector."""

    def __init__(self, ctx: dict[str, Any]) -> None:
        who = ctx.get("identity")
        self.tool_call_id: str = ctx.get("toolCallId", "")
        self.run_id: str | None = ctx.get("runId")
        self.session_id: str | None = ctx.get("sessionId")
        self.identity = (
            None
            if who is None
            else Identity(
                tenant=who.get("tenant"),
                principal=who.get("principal"),
                conversation_id=who.get("conversationId", "x"),
            )
        )


@pytest.mark.parametrize(
    "case", [*load("tools").cases("tool_session_keys"), *load("providers").cases("tool_session_key")]
)
def test_tool_session_key(case: Case) -> None:
    """CTX-5, AGT-159."""
    key = tool_session_key(Caller(case.input["ctx"]), case.input["scope"])
    expected: dict[str, Any] = case.expected

    assert key == expected["key"]
    if key is not None:
        assert key_hash(key) == expected.get("keyHash", expected.get("hash"))
