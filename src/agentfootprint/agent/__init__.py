"""The loop: one turn as a chart, what it is given, what it hands back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.agent.agent import Agent as Agent
    from agentfootprint.agent.agent import provider_and_model as provider_and_model
    from agentfootprint.agent.call import token_counts as token_counts
    from agentfootprint.agent.composing.budgets import ContextBudget as ContextBudget
    from agentfootprint.agent.ending import EndedBecause as EndedBecause
    from agentfootprint.agent.errors import CheckpointFormatError as CheckpointFormatError
    from agentfootprint.agent.errors import ConversationMismatchError as ConversationMismatchError
    from agentfootprint.agent.errors import DeadlineExceededError as DeadlineExceededError
    from agentfootprint.agent.errors import DecisionRequiredError as DecisionRequiredError
    from agentfootprint.agent.errors import InvalidRunInputError as InvalidRunInputError
    from agentfootprint.agent.errors import MessageDeniedError as MessageDeniedError
    from agentfootprint.agent.errors import NoConversationError as NoConversationError
    from agentfootprint.agent.errors import OpenQuestionsError as OpenQuestionsError
    from agentfootprint.agent.errors import OutputSchemaError as OutputSchemaError
    from agentfootprint.agent.errors import PauseAnswerRequiredError as PauseAnswerRequiredError
    from agentfootprint.agent.errors import PendingQuestionError as PendingQuestionError
    from agentfootprint.agent.errors import PolicyHaltError as PolicyHaltError
    from agentfootprint.agent.errors import ReplayRefusedError as ReplayRefusedError
    from agentfootprint.agent.errors import RunCancelledError as RunCancelledError
    from agentfootprint.agent.errors import RunCheckpointError as RunCheckpointError
    from agentfootprint.agent.errors import RunInFlightError as RunInFlightError
    from agentfootprint.agent.errors import RunPausedError as RunPausedError
    from agentfootprint.agent.errors import StaleDecisionError as StaleDecisionError
    from agentfootprint.agent.gating.outcomes import RuleOutcome as RuleOutcome
    from agentfootprint.agent.gating.outcomes import allow as allow
    from agentfootprint.agent.gating.outcomes import ask as ask
    from agentfootprint.agent.gating.outcomes import deny as deny
    from agentfootprint.agent.gating.rules import Act as Act
    from agentfootprint.agent.gating.rules import MessageRule as MessageRule
    from agentfootprint.agent.gating.rules import ToolRule as ToolRule
    from agentfootprint.agent.gating.rules import after_tool as after_tool
    from agentfootprint.agent.gating.rules import before_tool as before_tool
    from agentfootprint.agent.gating.rules import on_message as on_message
    from agentfootprint.agent.gating.views import MessageView as MessageView
    from agentfootprint.agent.gating.views import ToolCallView as ToolCallView
    from agentfootprint.agent.gating.views import ToolResultView as ToolResultView
    from agentfootprint.agent.handle import RunHandle as RunHandle
    from agentfootprint.agent.handle import RunStream as RunStream
    from agentfootprint.agent.judging.answers import is_schema_check_message as is_schema_check_message
    from agentfootprint.agent.keeping.checkpoint import Checkpoint as Checkpoint
    from agentfootprint.agent.keeping.checkpoint import FailurePoint as FailurePoint
    from agentfootprint.agent.keeping.conversing import Conversation as Conversation
    from agentfootprint.agent.keeping.failing import guess_phase as guess_phase
    from agentfootprint.agent.keeping.recovering import can_resume as can_resume
    from agentfootprint.agent.llm_call import LLMCall as LLMCall
    from agentfootprint.agent.mounting.outer import OuterRun as OuterRun
    from agentfootprint.agent.mounting.part import AgentPart as AgentPart
    from agentfootprint.agent.mounting.part import run_part as run_part
    from agentfootprint.agent.mounting.part import within_deadline as within_deadline
    from agentfootprint.agent.options import Gates as Gates
    from agentfootprint.agent.options import Limits as Limits
    from agentfootprint.agent.options import Mode as Mode
    from agentfootprint.agent.options import ModelSettings as ModelSettings
    from agentfootprint.agent.options import Output as Output
    from agentfootprint.agent.options import RecordOptions as RecordOptions
    from agentfootprint.agent.options import RunOptions as RunOptions
    from agentfootprint.agent.options import check_group as check_group
    from agentfootprint.agent.options import check_id as check_id
    from agentfootprint.agent.options import merged as merged
    from agentfootprint.agent.pausing.checkpoint import LiveParts as LiveParts
    from agentfootprint.agent.pausing.checkpoint import PartFacts as PartFacts
    from agentfootprint.agent.pausing.checkpoint import PauseCheckpoint as PauseCheckpoint
    from agentfootprint.agent.pausing.checkpoint import PauseFacts as PauseFacts
    from agentfootprint.agent.pausing.decisions import Decision as Decision
    from agentfootprint.agent.pausing.decisions import DecisionValue as DecisionValue
    from agentfootprint.agent.pausing.decisions import approve as approve
    from agentfootprint.agent.pausing.decisions import decline as decline
    from agentfootprint.agent.pausing.decisions import pause_demands_decision as pause_demands_decision
    from agentfootprint.agent.pausing.entering import MISSING as MISSING
    from agentfootprint.agent.pausing.entering import Resumption as Resumption
    from agentfootprint.agent.pausing.entering import accept_answer as accept_answer
    from agentfootprint.agent.pausing.evidence import CheckInOptions as CheckInOptions
    from agentfootprint.agent.pausing.following import RunReader as RunReader
    from agentfootprint.agent.pausing.following import resume_stream as resume_stream
    from agentfootprint.agent.pausing.following import with_context as with_context
    from agentfootprint.agent.pausing.leaving import leave as leave
    from agentfootprint.agent.pausing.paused import Paused as Paused
    from agentfootprint.agent.pausing.paused import Question as Question
    from agentfootprint.agent.pausing.paused import paused_of as paused_of
    from agentfootprint.agent.pausing.rebuilding import rebuilt as rebuilt
    from agentfootprint.agent.pausing.rebuilding import system_text as system_text
    from agentfootprint.agent.redacting.conversing import conversation_redaction as conversation_redaction
    from agentfootprint.agent.replaying.comparing import ReplayDifference as ReplayDifference
    from agentfootprint.agent.replaying.feeding import Replay as Replay
    from agentfootprint.agent.result import ContractUnmet as ContractUnmet
    from agentfootprint.agent.result import RunResult as RunResult
    from agentfootprint.agent.result import StoppedEarly as StoppedEarly
    from agentfootprint.agent.result import ToolCallRecord as ToolCallRecord
    from agentfootprint.agent.running.accepting import fresh_run_id as fresh_run_id
    from agentfootprint.agent.running.accepting import read_message as read_message
    from agentfootprint.agent.running.barrier import PendingWrite as PendingWrite
    from agentfootprint.agent.running.barrier import awaiting_writes as awaiting_writes
    from agentfootprint.agent.running.closing import Closing as Closing
    from agentfootprint.agent.running.framing import RecordedRun as RecordedRun
    from agentfootprint.agent.running.watching import observers_of as observers_of
    from agentfootprint.agent.shaping.configuring import ConfigureContext as ConfigureContext
    from agentfootprint.agent.shaping.configuring import Configured as Configured
    from agentfootprint.agent.shaping.schemas import Schema as Schema
    from agentfootprint.agent.texts import SCHEMA_CHECK_FRAME_PREFIX as SCHEMA_CHECK_FRAME_PREFIX
    from agentfootprint.agent.texts import WRAP_UP_INSTRUCTION as WRAP_UP_INSTRUCTION
    from agentfootprint.tools import AskComponent as AskComponent
    from agentfootprint.tools import InputField as InputField
    from agentfootprint.tools import InputRequestError as InputRequestError
    from agentfootprint.tools import InvalidAskComponentError as InvalidAskComponentError
    from agentfootprint.tools import request_input as request_input
else:
    from agentfootprint._lazy import door

    _MODULES = {
        "agent": ("Agent", "provider_and_model"),
        "call": ("token_counts",),
        "composing.budgets": ("ContextBudget",),
        "ending": ("EndedBecause",),
        "errors": (
            "CheckpointFormatError",
            "ConversationMismatchError",
            "DeadlineExceededError",
            "DecisionRequiredError",
            "InvalidRunInputError",
            "MessageDeniedError",
            "NoConversationError",
            "OpenQuestionsError",
            "OutputSchemaError",
            "PauseAnswerRequiredError",
            "PendingQuestionError",
            "PolicyHaltError",
            "ReplayRefusedError",
            "RunCancelledError",
            "RunCheckpointError",
            "RunInFlightError",
            "RunPausedError",
            "StaleDecisionError",
        ),
        "gating.outcomes": ("RuleOutcome", "allow", "ask", "deny"),
        "gating.rules": ("Act", "MessageRule", "ToolRule", "after_tool", "before_tool", "on_message"),
        "gating.views": ("MessageView", "ToolCallView", "ToolResultView"),
        "handle": ("RunHandle", "RunStream"),
        "keeping.checkpoint": ("Checkpoint", "FailurePoint"),
        "keeping.conversing": ("Conversation",),
        "keeping.failing": ("guess_phase",),
        "keeping.recovering": ("can_resume",),
        "llm_call": ("LLMCall",),
        "options": (
            *("Gates", "Limits", "Mode", "ModelSettings", "Output", "RecordOptions", "RunOptions"),
            *("check_group", "check_id", "merged"),
        ),
        "mounting.outer": ("OuterRun",),
        "mounting.part": ("AgentPart", "run_part", "within_deadline"),
        "running.accepting": ("fresh_run_id", "read_message"),
        "running.closing": ("Closing",),
        "running.framing": ("RecordedRun",),
        "running.watching": ("observers_of",),
        "pausing.checkpoint": ("LiveParts", "PartFacts", "PauseCheckpoint", "PauseFacts"),
        "pausing.entering": ("MISSING", "Resumption", "accept_answer"),
        "pausing.leaving": ("leave",),
        "pausing.rebuilding": ("rebuilt", "system_text"),
        "pausing.decisions": ("Decision", "DecisionValue", "approve", "decline", "pause_demands_decision"),
        "pausing.evidence": ("CheckInOptions",),
        "pausing.following": ("RunReader", "resume_stream", "with_context"),
        "pausing.paused": ("Paused", "Question", "paused_of"),
        "redacting.conversing": ("conversation_redaction",),
        "replaying.comparing": ("ReplayDifference",),
        "replaying.feeding": ("Replay",),
        "result": ("ContractUnmet", "RunResult", "StoppedEarly", "ToolCallRecord"),
        "shaping.configuring": ("Configured", "ConfigureContext"),
        "judging.answers": ("is_schema_check_message",),
        "shaping.schemas": ("Schema",),
        "running.barrier": ("PendingWrite", "awaiting_writes"),
        "texts": ("SCHEMA_CHECK_FRAME_PREFIX", "WRAP_UP_INSTRUCTION"),
    }
    _OF_TOOLS = ("AskComponent", "InputField", "InputRequestError", "InvalidAskComponentError", "request_input")
    _ELSEWHERE = dict.fromkeys(_OF_TOOLS, "agentfootprint.tools")
    __getattr__, __dir__ = door(
        __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names} | _ELSEWHERE
    )

__all__ = [
    "Act",
    "Agent",
    "AskComponent",
    "CheckInOptions",
    "Checkpoint",
    "CheckpointFormatError",
    "ConfigureContext",
    "Configured",
    "ContextBudget",
    "Conversation",
    "ConversationMismatchError",
    "DeadlineExceededError",
    "Decision",
    "DecisionRequiredError",
    "DecisionValue",
    "FailurePoint",
    "Gates",
    "InputField",
    "InputRequestError",
    "InvalidAskComponentError",
    "InvalidRunInputError",
    "LLMCall",
    "Limits",
    "MessageDeniedError",
    "MessageRule",
    "MessageView",
    "Mode",
    "ModelSettings",
    "NoConversationError",
    "Output",
    "OutputSchemaError",
    "PauseAnswerRequiredError",
    "PauseCheckpoint",
    "Paused",
    "PendingQuestionError",
    "PolicyHaltError",
    "RecordOptions",
    "RuleOutcome",
    "RunCancelledError",
    "RunCheckpointError",
    "RunHandle",
    "RunInFlightError",
    "RunOptions",
    "RunPausedError",
    "RunResult",
    "Schema",
    "StaleDecisionError",
    "ToolCallView",
    "ToolResultView",
    "ToolRule",
    "after_tool",
    "allow",
    "approve",
    "ask",
    "before_tool",
    "can_resume",
    "decline",
    "deny",
    "on_message",
    "request_input",
]
