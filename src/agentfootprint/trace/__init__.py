"""Questions to a log: what was written where, by whom, from what."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.trace.values import ABSENT as ABSENT
    from agentfootprint.trace.values import Absent as Absent
    from agentfootprint.trace.values import FrozenDict as FrozenDict
    from agentfootprint.trace.values import FrozenList as FrozenList
    from agentfootprint.trace.values import Json as Json
    from agentfootprint.trace.values import JsonObject as JsonObject
    from agentfootprint.trace.values import Record as Record
    from agentfootprint.trace.values import Value as Value
    from agentfootprint.trace.values import ValueRefusedError as ValueRefusedError
    from agentfootprint.trace.values import deep_equal as deep_equal
    from agentfootprint.trace.values import freeze as freeze
    from agentfootprint.trace.values import thaw as thaw
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            name: "agentfootprint.trace.values"
            for name in (
                "ABSENT", "Absent", "FrozenDict", "FrozenList", "Json", "JsonObject", "Record", "Value",
                "ValueRefusedError", "deep_equal", "freeze", "thaw",
            )
        },
    )

__all__: list[str] = []
