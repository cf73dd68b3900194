"""What the model may do: tools, their arguments, their results, and one call of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.tools.arguments import refused_args_text as refused_args_text
    from agentfootprint.tools.arguments import validate_args as validate_args
    from agentfootprint.tools.asking import PersonAsked as PersonAsked
    from agentfootprint.tools.asking import ask_human as ask_human
    from agentfootprint.tools.asking import asked_in as asked_in
    from agentfootprint.tools.boundaries import Coverage as Coverage
    from agentfootprint.tools.boundaries import CoverageReading as CoverageReading
    from agentfootprint.tools.boundaries import DeclaredCoverage as DeclaredCoverage
    from agentfootprint.tools.boundaries import Ground as Ground
    from agentfootprint.tools.boundaries import absent as absent
    from agentfootprint.tools.boundaries import coverage as coverage
    from agentfootprint.tools.boundaries import read_coverage as read_coverage
    from agentfootprint.tools.call_context import CallContext as CallContext
    from agentfootprint.tools.call_context import EmitHook as EmitHook
    from agentfootprint.tools.call_context import ProgressHook as ProgressHook
    from agentfootprint.tools.call_context import ToolContext as ToolContext
    from agentfootprint.tools.call_context import ToolRun as ToolRun
    from agentfootprint.tools.cassette import Cassette as Cassette
    from agentfootprint.tools.cassette import Replayed as Replayed
    from agentfootprint.tools.cassette import UnrecordedToolCall as UnrecordedToolCall
    from agentfootprint.tools.cassette import current_cassette as current_cassette
    from agentfootprint.tools.cassette import questions_are_answered as questions_are_answered
    from agentfootprint.tools.cassette import replaying as replaying
    from agentfootprint.tools.components import AskComponent as AskComponent
    from agentfootprint.tools.components import check_component as check_component
    from agentfootprint.tools.components import read_component as read_component
    from agentfootprint.tools.consent import CheckInContext as CheckInContext
    from agentfootprint.tools.consent import CheckInPredicate as CheckInPredicate
    from agentfootprint.tools.consent import trips as trips
    from agentfootprint.tools.declare import Capability as Capability
    from agentfootprint.tools.declare import Tool as Tool
    from agentfootprint.tools.declare import ToolRules as ToolRules
    from agentfootprint.tools.declare import tool as tool
    from agentfootprint.tools.dispatch import CheckedArgs as CheckedArgs
    from agentfootprint.tools.dispatch import check_args as check_args
    from agentfootprint.tools.dispatch import execute_tool as execute_tool
    from agentfootprint.tools.errors import CoverageRefusedError as CoverageRefusedError
    from agentfootprint.tools.errors import InputRequestError as InputRequestError
    from agentfootprint.tools.errors import InvalidAskComponentError as InvalidAskComponentError
    from agentfootprint.tools.errors import TeardownScopeError as TeardownScopeError
    from agentfootprint.tools.errors import ToolDefinitionError as ToolDefinitionError
    from agentfootprint.tools.errors import ToolTeardownTimeoutError as ToolTeardownTimeoutError
    from agentfootprint.tools.errors import ToolTimeoutError as ToolTimeoutError
    from agentfootprint.tools.idempotency import DispatchedCalls as DispatchedCalls
    from agentfootprint.tools.idempotency import idempotency_key as idempotency_key
    from agentfootprint.tools.inputs import InputField as InputField
    from agentfootprint.tools.inputs import InputReply as InputReply
    from agentfootprint.tools.inputs import read_reply as read_reply
    from agentfootprint.tools.inputs import request_input as request_input
    from agentfootprint.tools.offer import ToolLike as ToolLike
    from agentfootprint.tools.offer import ToolListContext as ToolListContext
    from agentfootprint.tools.offer import ToolProvider as ToolProvider
    from agentfootprint.tools.offer import assert_valid_tool_name as assert_valid_tool_name
    from agentfootprint.tools.offer import collect_tools as collect_tools
    from agentfootprint.tools.offer import static_tools as static_tools
    from agentfootprint.tools.offer import tool_schema as tool_schema
    from agentfootprint.tools.repeats import RepeatedCallKey as RepeatedCallKey
    from agentfootprint.tools.repeats import RepeatedCalls as RepeatedCalls
    from agentfootprint.tools.repeats import RepeatMode as RepeatMode
    from agentfootprint.tools.repeats import fingerprint as fingerprint
    from agentfootprint.tools.repeats import repeated_call_key as repeated_call_key
    from agentfootprint.tools.repeats import repeated_call_note as repeated_call_note
    from agentfootprint.tools.results import NO_VALUE as NO_VALUE
    from agentfootprint.tools.results import NO_VALUE_TEXT as NO_VALUE_TEXT
    from agentfootprint.tools.results import Executed as Executed
    from agentfootprint.tools.results import ToolResult as ToolResult
    from agentfootprint.tools.results import ToolStatus as ToolStatus
    from agentfootprint.tools.results import read_result as read_result
    from agentfootprint.tools.results import result_text as result_text
    from agentfootprint.tools.semantics import SemanticFault as SemanticFault
    from agentfootprint.tools.semantics import is_counter_aggregation as is_counter_aggregation
    from agentfootprint.tools.semantics import semantic_faults as semantic_faults
    from agentfootprint.tools.sessions import ToolSessions as ToolSessions
    from agentfootprint.tools.sessions import tool_session_key as tool_session_key
    from agentfootprint.tools.teardown import Cleanup as Cleanup
    from agentfootprint.tools.teardown import CloseReason as CloseReason
    from agentfootprint.tools.teardown import SessionHook as SessionHook
    from agentfootprint.tools.teardown import Teardown as Teardown
    from agentfootprint.tools.teardown import TeardownScope as TeardownScope
    from agentfootprint.tools.teardown import key_hash as key_hash
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            name: f"agentfootprint.tools.{module}"
            for module, names in {
                "arguments": ("refused_args_text", "validate_args"),
                "asking": ("PersonAsked", "ask_human", "asked_in"),
                "boundaries": (
                    "Coverage", "CoverageReading", "DeclaredCoverage", "Ground", "absent", "coverage", "read_coverage",
                ),
                "call_context": ("CallContext", "EmitHook", "ProgressHook", "ToolContext", "ToolRun"),
                "cassette": (
                    "Cassette", "Replayed", "UnrecordedToolCall", "current_cassette", "questions_are_answered",
                    "replaying",
                ),
                "components": ("AskComponent", "check_component", "read_component"),
                "consent": ("CheckInContext", "CheckInPredicate", "trips"),
                "declare": ("Capability", "Tool", "ToolRules", "tool"),
                "dispatch": ("CheckedArgs", "check_args", "execute_tool"),
                "errors": (
                    "CoverageRefusedError", "InputRequestError", "InvalidAskComponentError", "TeardownScopeError",
                    "ToolDefinitionError", "ToolTeardownTimeoutError", "ToolTimeoutError",
                ),
                "idempotency": ("DispatchedCalls", "idempotency_key"),
                "inputs": ("InputField", "InputReply", "read_reply", "request_input"),
                "offer": (
                    "ToolLike", "ToolListContext", "ToolProvider", "assert_valid_tool_name", "collect_tools",
                    "static_tools", "tool_schema",
                ),
                "repeats": (
                    "RepeatMode", "RepeatedCallKey", "RepeatedCalls", "fingerprint", "repeated_call_key",
                    "repeated_call_note",
                ),
                "results": (
                    "NO_VALUE", "NO_VALUE_TEXT", "Executed", "ToolResult", "ToolStatus", "read_result", "result_text",
                ),
                "semantics": ("SemanticFault", "is_counter_aggregation", "semantic_faults"),
                "sessions": ("ToolSessions", "tool_session_key"),
                "teardown": ("Cleanup", "CloseReason", "SessionHook", "Teardown", "TeardownScope", "key_hash"),
            }.items()
            for name in names
        },
    )  # fmt: skip

__all__ = [
    "Capability",
    "Ground",
    "TeardownScope",
    "Tool",
    "ToolContext",
    "ToolLike",
    "ToolListContext",
    "ToolProvider",
    "ToolResult",
    "ToolRules",
    "ToolStatus",
    "absent",
    "ask_human",
    "coverage",
    "static_tools",
    "tool",
]
