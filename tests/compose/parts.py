"""What the tests of compositions are made of: runners that shout and fail, agents that ask, and who hears what."""

from __future__ import annotations

import asyncio
from typing import Any

from agentfootprint import Agent, Mock, ask_human, tool
from agentfootprint.compose import Composed, runner
from agentfootprint.events import Event

__all__ = ["Gate", "asking", "boom", "brackets", "ex", "heard_by", "up"]


@runner
async def up(message: str) -> str:
    """Say it louder."""
    return message.upper()


@runner
def ex(message: str) -> str:
    return message + "!"


@runner
async def boom(message: str) -> str:
    raise TypeError("kaput")


class Gate:
    """A runner that says what it is given once somebody lets it; it notes whether it was stopped before."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.begun = asyncio.Event()
        self.was_stopped = False

        async def wait(message: str) -> str:
            self.begun.set()
            try:
                await self.opened.wait()
            except asyncio.CancelledError:
                self.was_stopped = True
                raise
            return message

        self.runner = runner(wait)


def heard_by(composition: Composed[Any]) -> list[Event[Any]]:
    """What a listener of all events hears, from now on."""
    heard: list[Event[Any]] = []
    composition.on("*", heard.append)
    return heard


def brackets(heard: list[Event[Any]]) -> list[tuple[str, str, str]]:
    """Enters and exits: which, of what, at which address or with which status."""
    told: list[tuple[str, str, str]] = []
    for event in heard:
        action = event.type.removeprefix("agentfootprint.composition.")
        if action == "enter":
            told.append((action, event.payload.id, event.meta.runtime_stage_id))
        elif action == "exit":
            told.append((action, event.payload.id, event.payload.status))
    return told


def asking(ran: list[str], *, id: str = "asker") -> Agent[object, str]:
    """An agent that looks something up, asks a person, and then answers."""

    @tool
    async def look() -> str:
        """Look it up."""
        ran.append(f"{id}.look")
        return "found"

    @tool
    async def confirm(amount: int) -> object:
        """Ask a person."""
        ran.append(f"{id}.confirm")
        return ask_human(f"Refund {amount}?")

    script = [Mock.call("look"), Mock.call("confirm", amount=5), f"{id} refunded"]
    return Agent(Mock(script, cursor="history"), tools=[look, confirm], id=id)
