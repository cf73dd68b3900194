"""What the model is given: pieces of context, the rules that let them in, and the slots they land in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.context.errors import ContextDefinitionError as ContextDefinitionError
    from agentfootprint.context.pieces import CachePolicy as CachePolicy
    from agentfootprint.context.pieces import Content as Content
    from agentfootprint.context.pieces import ContextItem as ContextItem
    from agentfootprint.context.pieces import Fact as Fact
    from agentfootprint.context.pieces import Injection as Injection
    from agentfootprint.context.pieces import Instruction as Instruction
    from agentfootprint.context.pieces import Steering as Steering
    from agentfootprint.context.pieces import SystemPrompt as SystemPrompt
    from agentfootprint.context.pieces import Until as Until
    from agentfootprint.context.plan import ActiveInjection as ActiveInjection
    from agentfootprint.context.plan import ContextPlan as ContextPlan
    from agentfootprint.context.plan import Pass as Pass
    from agentfootprint.context.plan import slot_delta as slot_delta
    from agentfootprint.context.slots import MESSAGES_CAP as MESSAGES_CAP
    from agentfootprint.context.slots import SYSTEM_PROMPT_CAP as SYSTEM_PROMPT_CAP
    from agentfootprint.context.slots import TOOLS_CAP as TOOLS_CAP
    from agentfootprint.context.slots import compose as compose
    from agentfootprint.context.slots import rows_text as rows_text
    from agentfootprint.context.slots import slot_totals as slot_totals
    from agentfootprint.context.slots import tool_rows as tool_rows
    from agentfootprint.context.triggers import Always as Always
    from agentfootprint.context.triggers import OnReadSkill as OnReadSkill
    from agentfootprint.context.triggers import OnToolReturn as OnToolReturn
    from agentfootprint.context.triggers import Predicate as Predicate
    from agentfootprint.context.triggers import ToolReturn as ToolReturn
    from agentfootprint.context.triggers import Trigger as Trigger
    from agentfootprint.context.triggers import TurnContext as TurnContext
    from agentfootprint.context.triggers import When as When
else:
    from agentfootprint._lazy import door

    _MODULES = {
        "errors": ("ContextDefinitionError",),
        "pieces": (
            "CachePolicy",
            "Content",
            "ContextItem",
            "Fact",
            "Injection",
            "Instruction",
            "Steering",
            "SystemPrompt",
            "Until",
        ),
        "plan": ("ActiveInjection", "ContextPlan", "Pass", "slot_delta"),
        "slots": (
            "MESSAGES_CAP",
            "SYSTEM_PROMPT_CAP",
            "TOOLS_CAP",
            "compose",
            "rows_text",
            "slot_totals",
            "tool_rows",
        ),
        "triggers": (
            "Always",
            "OnReadSkill",
            "OnToolReturn",
            "Predicate",
            "ToolReturn",
            "Trigger",
            "TurnContext",
            "When",
        ),
    }
    __getattr__, __dir__ = door(
        __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
    )

__all__ = [
    "Always",
    "Content",
    "ContextDefinitionError",
    "Fact",
    "Injection",
    "Instruction",
    "OnReadSkill",
    "OnToolReturn",
    "Steering",
    "SystemPrompt",
    "When",
]
