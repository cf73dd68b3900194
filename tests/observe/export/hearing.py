"""Exporters and events for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from agentfootprint.events import Event, EventBus, RunFacts, Subscription, Token, TurnEnd, TurnStart, UnknownEvent

__all__ = ["Heard", "another", "listen", "run", "token"]


class Heard:
    """Remembers what it was given, and what was asked of it."""

    def __init__(self, name: str = "heard", *, fails: Callable[[Event[Any]], bool] = lambda _: False) -> None:
        self.name = name
        self.events: list[Event[Any]] = []
        self.flushed = 0
        self.stopped = 0
        self._fails = fails

    def export(self, event: Event[Any]) -> None:
        if self._fails(event):
            raise RuntimeError("no room")
        self.events.append(event)

    async def flush(self) -> None:
        self.flushed += 1

    async def stop(self) -> None:
        self.stopped += 1

    @property
    def types(self) -> list[str]:
        return [event.type.removeprefix("agentfootprint.") for event in self.events]


def run(number: int = 1) -> RunFacts:
    return RunFacts(run_id=f"run-1700000000000-{number}", started_at_ms=1_700_000_000_000)


def token(number: int = 1) -> Event[Token]:
    return Event(Token(iteration=1, token_index=0, content="Hi"), "call-llm#1", 0, run(number))


def another(number: int = 1) -> Iterable[Event[Any]]:
    """A turn that begins, streams, tells of something of the application's own, and ends."""
    facts = run(number)
    yield Event(TurnStart(turn_index=0, user_prompt="Hi"), "seed#0", 0, facts)
    yield token(number)
    yield UnknownEvent("shop.filled", {"items": 3}, {"runId": facts.run_id})
    yield Event(
        TurnEnd(
            turn_index=0,
            final_content="Hi",
            total_input_tokens=1,
            total_output_tokens=1,
            iteration_count=1,
            duration_ms=1,
        ),
        "final#1",
        1_000_000,
        facts,
    )


def listen(bus: EventBus) -> Callable[..., Subscription]:
    """The `subscribe` of a bare bus, which has one form."""

    def subscribe(pattern: str, listener: Callable[[Event[Any]], object], *, form: str = "native") -> Subscription:
        assert form == "native"
        return bus.on(pattern, listener)

    return subscribe
