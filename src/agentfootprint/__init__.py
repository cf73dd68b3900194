"""The explainable agent framework: trace a wrong answer back to the exact context that caused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.agent import Act as Act
    from agentfootprint.agent import Agent as Agent
    from agentfootprint.agent import Checkpoint as Checkpoint
    from agentfootprint.agent import Decision as Decision
    from agentfootprint.agent import Gates as Gates
    from agentfootprint.agent import Limits as Limits
    from agentfootprint.agent import LLMCall as LLMCall
    from agentfootprint.agent import ModelSettings as ModelSettings
    from agentfootprint.agent import Output as Output
    from agentfootprint.agent import OutputSchemaError as OutputSchemaError
    from agentfootprint.agent import PauseCheckpoint as PauseCheckpoint
    from agentfootprint.agent import Paused as Paused
    from agentfootprint.agent import PolicyHaltError as PolicyHaltError
    from agentfootprint.agent import RecordOptions as RecordOptions
    from agentfootprint.agent import RunCheckpointError as RunCheckpointError
    from agentfootprint.agent import RunOptions as RunOptions
    from agentfootprint.agent import RunPausedError as RunPausedError
    from agentfootprint.agent import RunResult as RunResult
    from agentfootprint.agent import after_tool as after_tool
    from agentfootprint.agent import allow as allow
    from agentfootprint.agent import approve as approve
    from agentfootprint.agent import ask as ask
    from agentfootprint.agent import before_tool as before_tool
    from agentfootprint.agent import decline as decline
    from agentfootprint.agent import deny as deny
    from agentfootprint.agent import on_message as on_message
    from agentfootprint.compose import Conditional as Conditional
    from agentfootprint.compose import Loop as Loop
    from agentfootprint.compose import Parallel as Parallel
    from agentfootprint.compose import Sequence as Sequence
    from agentfootprint.compose import runner as runner
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
    from agentfootprint.tools import ask_human as ask_human
    from agentfootprint.tools import coverage as coverage
    from agentfootprint.tools import tool as tool
else:
    from agentfootprint._lazy import door

    _ROOMS = {
        "agent": (
            "Act Agent Checkpoint Decision Gates LLMCall Limits ModelSettings Output OutputSchemaError PauseCheckpoint "
            "Paused PolicyHaltError RecordOptions RunCheckpointError RunOptions RunPausedError RunResult after_tool "
            "allow approve ask before_tool decline deny on_message"
        ),
        "compose": "Conditional Loop Parallel Sequence runner",
        "context": "Fact Instruction Steering",
        "errors": "AgentFootprintError ConfigError",
        "events": "Event",
        "explain": "Why",
        "identity": "Identity",
        "llm": "LLMMessage Mock ProviderError ToolCall Usage",
        "recording": "Recording",
        "tools": "Tool ToolContext ToolResult absent ask_human coverage tool",
    }
    __getattr__, __dir__ = door(
        __name__, {name: f"{__name__}.{room}" for room, names in _ROOMS.items() for name in names.split()}
    )

__all__ = [
    "Act",
    "Agent",
    "AgentFootprintError",
    "Checkpoint",
    "Conditional",
    "ConfigError",
    "Decision",
    "Event",
    "Fact",
    "Gates",
    "Identity",
    "Instruction",
    "LLMCall",
    "LLMMessage",
    "Limits",
    "Loop",
    "Mock",
    "ModelSettings",
    "Output",
    "OutputSchemaError",
    "Parallel",
    "PauseCheckpoint",
    "Paused",
    "PolicyHaltError",
    "ProviderError",
    "RecordOptions",
    "Recording",
    "RunCheckpointError",
    "RunOptions",
    "RunPausedError",
    "RunResult",
    "Sequence",
    "Steering",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolResult",
    "Usage",
    "Why",
    "absent",
    "after_tool",
    "allow",
    "approve",
    "ask",
    "ask_human",
    "before_tool",
    "coverage",
    "decline",
    "deny",
    "on_message",
    "runner",
    "tool",
]
