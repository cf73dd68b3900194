"""Several exporters as one: each gets what it wants, and none can spoil it for another (SNK-7)."""

from __future__ import annotations

import asyncio
from typing import Any

from agentfootprint.events import Event
from agentfootprint.observe.export.attaching import call_optional, default_tier_of
from agentfootprint.observe.export.failures import Failures
from agentfootprint.observe.export.port import TIERS, Exporter, Tier
from agentfootprint.observe.export.uses import is_used

__all__ = ["combine_exporters"]


def combine_exporters(*exporters: Exporter) -> Exporter:
    """Make one exporter of several; without any it does nothing.

    The options of the subscription hold for all of them: without options the widest tier that one of them asks for.
    Each hears only its own `relevant_types`, and each failure is told to the one that failed, or logged.
    """
    return _Combined(exporters)


class _Combined:
    """What `combine_exporters` makes."""

    def __init__(self, exporters: tuple[Exporter, ...]) -> None:
        self.name = "+".join(each.name for each in exporters) or "nobody"
        self._parts = [(each, _types_of(each), Failures(each)) for each in exporters]
        wanted = [types for _, types, _ in self._parts]
        self.relevant_types: frozenset[str] | None = (
            None if None in wanted else frozenset[str]().union(*(types or () for types in wanted))
        )
        tiers = {tier for each in exporters if (tier := default_tier_of(each)) is not None}
        self.default_tier: Tier | None = next((tier for tier in reversed(TIERS) if tier in tiers), None)

    def validate(self) -> None:
        for exporter, _, _ in self._parts:
            check: object = getattr(exporter, "validate", None)
            if callable(check):
                check()

    def export(self, event: Event[Any]) -> None:
        for exporter, types, failures in self._parts:
            if types is not None and event.type not in types:
                continue
            try:
                exporter.export(event)
            except Exception as error:  # noqa: BLE001  the exporter's code
                failures.add(error, event)

    async def flush(self) -> None:
        await asyncio.gather(*(call_optional(each, "flush", failures) for each, _, failures in self._parts))

    async def stop(self) -> None:
        idle = [(each, failures) for each, _, failures in self._parts if not is_used(each)]
        await asyncio.gather(*(call_optional(each, "stop", failures) for each, failures in idle))


def _types_of(exporter: Exporter) -> frozenset[str] | None:
    types: Any = getattr(exporter, "relevant_types", None)
    return None if types is None else frozenset(types)
