"""The loop: one turn as a chart, what it is given, what it hands back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.agent.agent import Agent as Agent
    from agentfootprint.agent.ending import EndedBecause as EndedBecause
    from agentfootprint.agent.errors import DeadlineExceededError as DeadlineExceededError
    from agentfootprint.agent.errors import InvalidRunInputError as InvalidRunInputError
    from agentfootprint.agent.errors import OutputSchemaError as OutputSchemaError
    from agentfootprint.agent.errors import RunCancelledError as RunCancelledError
    from agentfootprint.agent.handle import RunHandle as RunHandle
    from agentfootprint.agent.options import Gates as Gates
    from agentfootprint.agent.options import Limits as Limits
    from agentfootprint.agent.options import ModelSettings as ModelSettings
    from agentfootprint.agent.options import Output as Output
    from agentfootprint.agent.options import RecordOptions as RecordOptions
    from agentfootprint.agent.options import RunOptions as RunOptions
    from agentfootprint.agent.result import ContractUnmet as ContractUnmet
    from agentfootprint.agent.result import RunResult as RunResult
    from agentfootprint.agent.result import StoppedEarly as StoppedEarly
    from agentfootprint.agent.result import ToolCallRecord as ToolCallRecord
    from agentfootprint.agent.texts import SCHEMA_CHECK_FRAME_PREFIX as SCHEMA_CHECK_FRAME_PREFIX
    from agentfootprint.agent.texts import WRAP_UP_INSTRUCTION as WRAP_UP_INSTRUCTION
else:
    from agentfootprint._lazy import door

    _MODULES = {
        "agent": ("Agent",),
        "ending": ("EndedBecause",),
        "errors": (
            "DeadlineExceededError",
            "InvalidRunInputError",
            "OutputSchemaError",
            "RunCancelledError",
        ),
        "handle": ("RunHandle",),
        "options": ("Gates", "Limits", "ModelSettings", "Output", "RecordOptions", "RunOptions"),
        "result": ("ContractUnmet", "RunResult", "StoppedEarly", "ToolCallRecord"),
        "texts": ("SCHEMA_CHECK_FRAME_PREFIX", "WRAP_UP_INSTRUCTION"),
    }
    __getattr__, __dir__ = door(
        __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
    )

__all__ = [
    "Agent",
    "DeadlineExceededError",
    "Gates",
    "InvalidRunInputError",
    "Limits",
    "ModelSettings",
    "Output",
    "OutputSchemaError",
    "RecordOptions",
    "RunCancelledError",
    "RunHandle",
    "RunOptions",
    "RunResult",
]
