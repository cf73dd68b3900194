"""What tests may use: a strict vendor on the loopback, a check of the order of events, the suites of ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.hosting import CaseOutcome as CaseOutcome
    from agentfootprint.hosting import ConformanceCase as ConformanceCase
    from agentfootprint.hosting import SessionStoreHarness as SessionStoreHarness
    from agentfootprint.hosting import format_outcomes as format_outcomes
    from agentfootprint.hosting import run_case as run_case
    from agentfootprint.hosting import run_session_store_conformance as run_session_store_conformance
    from agentfootprint.hosting import session_store_cases as session_store_cases
    from agentfootprint.testing.anthropic_wire import AnthropicWire as AnthropicWire
    from agentfootprint.testing.event_order import EventOrderChecker as EventOrderChecker
    from agentfootprint.testing.event_order import EventOrderError as EventOrderError
    from agentfootprint.testing.event_order import OrderViolation as OrderViolation
    from agentfootprint.testing.ollama_wire import OllamaWire as OllamaWire
    from agentfootprint.testing.openai_wire import OpenAIWire as OpenAIWire
    from agentfootprint.testing.script import Call as Call
    from agentfootprint.testing.script import Failure as Failure
    from agentfootprint.testing.script import Manner as Manner
    from agentfootprint.testing.script import Received as Received
    from agentfootprint.testing.script import Refusal as Refusal
    from agentfootprint.testing.script import Reply as Reply
    from agentfootprint.testing.script import Wire as Wire
    from agentfootprint.testing.server import FakeVendor as FakeVendor
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            "AnthropicWire": "agentfootprint.testing.anthropic_wire",
            "CaseOutcome": "agentfootprint.hosting",
            "Call": "agentfootprint.testing.script",
            "ConformanceCase": "agentfootprint.hosting",
            "EventOrderChecker": "agentfootprint.testing.event_order",
            "EventOrderError": "agentfootprint.testing.event_order",
            "Failure": "agentfootprint.testing.script",
            "FakeVendor": "agentfootprint.testing.server",
            "Manner": "agentfootprint.testing.script",
            "OllamaWire": "agentfootprint.testing.ollama_wire",
            "OpenAIWire": "agentfootprint.testing.openai_wire",
            "OrderViolation": "agentfootprint.testing.event_order",
            "Received": "agentfootprint.testing.script",
            "Refusal": "agentfootprint.testing.script",
            "Reply": "agentfootprint.testing.script",
            "SessionStoreHarness": "agentfootprint.hosting",
            "Wire": "agentfootprint.testing.script",
            "format_outcomes": "agentfootprint.hosting",
            "run_case": "agentfootprint.hosting",
            "run_session_store_conformance": "agentfootprint.hosting",
            "session_store_cases": "agentfootprint.hosting",
        },
    )

__all__ = ["ConformanceCase", "session_store_cases"]
