"""The explainable agent framework: trace a wrong answer back to the exact context that caused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.agent import Agent as Agent
    from agentfootprint.agent import Gates as Gates
    from agentfootprint.agent import Limits as Limits
    from agentfootprint.agent import ModelSettings as ModelSettings
    from agentfootprint.agent import Output as Output
    from agentfootprint.agent import OutputSchemaError as OutputSchemaError
    from agentfootprint.agent import RecordOptions as RecordOptions
    from agentfootprint.agent import RunOptions as RunOptions
    from agentfootprint.agent import RunResult as RunResult
    from agentfootprint.context import Fact as Fact
    from agentfootprint.context import Instruction as Instruction
    from agentfootprint.context import Steering as Steering
    from agentfootprint.errors import AgentFootprintError as AgentFootprintError
    from agentfootprint.errors import ConfigError as ConfigError
    from agentfootprint.events import Event as Event
    from agentfootprint.explain import Why as Why
    from agentfootprint.identity import Identity as Identity
    from agentfootprint.llm import LLMMessage as LLMMessage
    from agentfootprint.llm import Mock as Mock
    from agentfootprint.llm import ProviderError as ProviderError
    from agentfootprint.llm import ToolCall as ToolCall
    from agentfootprint.llm import Usage as Usage
    from agentfootprint.recording import Recording as Recording
    from agentfootprint.tools import Tool as Tool
    from agentfootprint.tools import ToolContext as ToolContext
    from agentfootprint.tools import ToolResult as ToolResult
    from agentfootprint.tools import absent as absent
    from agentfootprint.tools import coverage as coverage
    from agentfootprint.tools import tool as tool
else:
    from agentfootprint._lazy import door

    _ROOMS = {
        "agent": ("Agent Gates Limits ModelSettings Output OutputSchemaError RecordOptions RunOptions RunResult"),
        "context": "Fact Instruction Steering",
        "errors": "AgentFootprintError ConfigError",
        "events": "Event",
        "explain": "Why",
        "identity": "Identity",
        "llm": "LLMMessage Mock ProviderError ToolCall Usage",
        "recording": "Recording",
        "tools": "Tool ToolContext ToolResult absent coverage tool",
    }
    __getattr__, __dir__ = door(
        __name__, {name: f"{__name__}.{room}" for room, names in _ROOMS.items() for name in names.split()}
    )

__all__ = [
    "Agent",
    "AgentFootprintError",
    "ConfigError",
    "Event",
    "Fact",
    "Gates",
    "Identity",
    "Instruction",
    "LLMMessage",
    "Limits",
    "Mock",
    "ModelSettings",
    "Output",
    "OutputSchemaError",
    "ProviderError",
    "RecordOptions",
    "Recording",
    "RunOptions",
    "RunResult",
    "Steering",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolResult",
    "Usage",
    "Why",
    "absent",
    "coverage",
    "tool",
]
