"""Turning the logs of other frameworks into recordings: one format a file, all into the same form."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.explain.importing.errors import AlreadyRecordingError as AlreadyRecordingError
    from agentfootprint.explain.importing.errors import BrokenTraceError as BrokenTraceError
    from agentfootprint.explain.importing.errors import ImportTraceError as ImportTraceError
    from agentfootprint.explain.importing.errors import NotJsonError as NotJsonError
    from agentfootprint.explain.importing.errors import UnknownTraceError as UnknownTraceError
    from agentfootprint.explain.importing.opening import ImportedTrace as ImportedTrace
    from agentfootprint.explain.importing.opening import TraceCounts as TraceCounts
    from agentfootprint.explain.importing.opening import import_trace as import_trace
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            "AlreadyRecordingError": "agentfootprint.explain.importing.errors",
            "BrokenTraceError": "agentfootprint.explain.importing.errors",
            "ImportTraceError": "agentfootprint.explain.importing.errors",
            "ImportedTrace": "agentfootprint.explain.importing.opening",
            "NotJsonError": "agentfootprint.explain.importing.errors",
            "TraceCounts": "agentfootprint.explain.importing.opening",
            "UnknownTraceError": "agentfootprint.explain.importing.errors",
            "import_trace": "agentfootprint.explain.importing.opening",
        },
    )

__all__: list[str] = []
