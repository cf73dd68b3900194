"""Chains to check: events made by hand, in several runs, and what an exporter makes of them."""

from __future__ import annotations

import json
from typing import Any

from agentfootprint.events import Event, decode_event
from agentfootprint.observe import AuditExporter

__all__ = ["event", "events", "filled"]


def event(
    action: str = "agent.turn_start",
    payload: Any = None,
    *,
    run: str | None = "run-1-1",
    at: int = 1_700_000_000_000,
    **meta: Any,
) -> Event[Any]:
    """One event, as a file would have it."""
    said = {"turnIndex": 0, "userPrompt": "May Dana return order 4411?"} if payload is None else payload
    known: dict[str, Any] = {
        "wallClockMs": at,
        "runOffsetMs": 0,
        "runtimeStageId": "seed#0",
        "subflowPath": [],
        "compositionPath": [],
    }
    return decode_event(
        json.dumps(
            {
                "type": f"agentfootprint.{action}",
                "payload": said,
                "meta": {**known, **({} if run is None else {"runId": run}), **meta},
            }
        )
    )


def events(count: int, *, run: str = "run-1-1") -> list[Event[Any]]:
    """Events of one run that differ from one another."""
    return [event("shop.basket.filled", {"items": n, "total": n / 3, "of": "é😀"}, run=run, at=n) for n in range(count)]


def filled(count: int, *, run: str = "run-1-1", **options: Any) -> AuditExporter:
    """An exporter that was sent so many events; with the one that opens the run there is a record more."""
    audit = AuditExporter(**options)
    for each in events(count, run=run):
        audit.export(each)
    return audit
