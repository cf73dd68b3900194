"""Tests of agentfootprint.tools.sessions."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest

from agentfootprint import Identity
from agentfootprint.tools import ToolContext, ToolSessions, tool_session_key


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Door:
    """Keeps things in a tier, and hears what becomes of them."""

    def __init__(self, **options: Any) -> None:
        self.clock = Clock()
        self.closed: list[str] = []
        self.told: list[Any] = []
        self.tier = ToolSessions(clock=self.clock, **options)

    def keep(
        self,
        name: str,
        *,
        owner: str = "t=_/p=_/s=1",
        session_id: str | None = "1",
        scope: Literal["session", "shutdown"] = "session",
    ) -> str:
        def cleanup() -> None:
            self.closed.append(name)

        payload = self.tier.keep(
            "shell", name, cleanup, scope=scope, owner=owner, session_id=session_id, tell=self.told.append
        )
        return payload.type.rpartition("_")[2]

    async def settle(self) -> None:
        """Let the closings that were begun end."""
        while len(asyncio.all_tasks()) > 1:
            await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})

    def reasons(self) -> list[str]:
        return [each.reason for each in self.told]


async def test_a_second_use_keeps_the_first_cleanup_and_counts() -> None:
    door = Door()

    kinds = [door.keep("a"), door.keep("a"), door.keep("a", owner="t=_/p=_/s=2")]

    assert kinds == ["started", "reused", "started"]
    assert len(door.tier) == 2


async def test_what_was_not_used_for_long_is_cleaned_up_when_something_is_kept() -> None:
    door = Door(idle=900.0)
    door.keep("old")
    door.keep("used")
    door.clock.now = 600.0
    door.keep("used")
    door.clock.now = 900.0

    door.keep("new")
    await door.settle()

    assert door.closed == ["old"]
    assert door.reasons() == ["idle"]
    assert len(door.tier) == 2


async def test_the_coldest_makes_room_for_one_too_many() -> None:
    door = Door(most=2)
    for name in ("a", "b", "a", "c"):
        door.clock.now += 1
        door.keep(name)
    await door.settle()

    assert door.closed == ["b"]
    assert door.reasons() == ["evicted"]


async def test_a_session_is_closed_without_the_others_and_without_what_outlives_it() -> None:
    door = Door()
    door.keep("mine")
    door.keep("theirs", owner="t=_/p=_/s=2", session_id="2")
    door.keep("for all", scope="shutdown", owner="", session_id="1")

    counts = [await door.tier.close("1"), await door.tier.close("1"), await door.tier.close_all()]

    assert counts == [1, 0, 2]
    assert door.closed[0] == "mine"
    assert door.reasons() == ["session-end", "shutdown", "shutdown"]


async def test_a_cleanup_that_fails_is_told_and_holds_up_no_other() -> None:
    door = Door()

    def fails() -> None:
        raise OSError("busy")

    door.tier.keep("shell", "x", fails, scope="session", owner="o", session_id="1", tell=door.told.append)
    door.keep("a")
    await door.tier.close()

    failed = next(each for each in door.told if each.type.endswith("close_failed"))
    assert (failed.error, failed.error_class) == ("busy", "OSError")
    assert door.closed == ["a"]


async def test_closing_all_waits_for_what_is_being_closed_already() -> None:
    door = Door(most=1)
    door.keep("a")
    door.keep("b")

    await door.tier.close_all()

    assert sorted(door.closed) == ["a", "b"]


@pytest.mark.parametrize("scope", ["call", "run", "session", "shutdown"])
def test_a_context_without_a_run_belongs_to_no_session(scope: Any) -> None:
    assert tool_session_key(ToolContext(), scope) is None


def test_identities_never_share_a_key() -> None:
    class Caller:
        tool_call_id = "c"
        run_id = "r"
        session_id = "s"

        def __init__(self, tenant: str, principal: str) -> None:
            self.identity = Identity(tenant=tenant, principal=principal, conversation_id="x")

    keys = {tool_session_key(Caller(*who), "session") for who in (("a/p", "b"), ("a", "p/b"), ("a", "p=b"))}

    assert len(keys) == 3
