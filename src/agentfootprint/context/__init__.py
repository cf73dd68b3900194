"""What the model is given: pieces of context, the rules that let them in, and the slots they land in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.context.delivery import Deliveries as Deliveries
    from agentfootprint.context.delivery import carried_roles as carried_roles
    from agentfootprint.context.delivery import check_roles as check_roles
    from agentfootprint.context.delivery import delivery_key as delivery_key
    from agentfootprint.context.delivery import placement as placement
    from agentfootprint.context.delivery import without_delivered as without_delivered
    from agentfootprint.context.errors import ContextDefinitionError as ContextDefinitionError
    from agentfootprint.context.errors import DeliveryRoleError as DeliveryRoleError
    from agentfootprint.context.errors import WindowMessageError as WindowMessageError
    from agentfootprint.context.injections import CachePolicy as CachePolicy
    from agentfootprint.context.injections import Content as Content
    from agentfootprint.context.injections import ContextItem as ContextItem
    from agentfootprint.context.injections import Injection as Injection
    from agentfootprint.context.injections import SystemPrompt as SystemPrompt
    from agentfootprint.context.injections import TemplateInjection as TemplateInjection
    from agentfootprint.context.injections import Until as Until
    from agentfootprint.context.pieces import Fact as Fact
    from agentfootprint.context.pieces import Instruction as Instruction
    from agentfootprint.context.pieces import Steering as Steering
    from agentfootprint.context.plan import ContextPlan as ContextPlan
    from agentfootprint.context.plan import Pass as Pass
    from agentfootprint.context.plan import slot_delta as slot_delta
    from agentfootprint.context.projection import ActiveInjection as ActiveInjection
    from agentfootprint.context.projection import piece_text as piece_text
    from agentfootprint.context.projection import piece_tools as piece_tools
    from agentfootprint.context.projection import project as project
    from agentfootprint.context.skill_pieces import Skill as Skill
    from agentfootprint.context.skill_pieces import SkillInjection as SkillInjection
    from agentfootprint.context.skill_pieces import SkillOptions as SkillOptions
    from agentfootprint.context.skill_pieces import SkillStep as SkillStep
    from agentfootprint.context.slots import MESSAGES_CAP as MESSAGES_CAP
    from agentfootprint.context.slots import SYSTEM_PROMPT_CAP as SYSTEM_PROMPT_CAP
    from agentfootprint.context.slots import TOOLS_CAP as TOOLS_CAP
    from agentfootprint.context.slots import compose as compose
    from agentfootprint.context.slots import piece_tool_row as piece_tool_row
    from agentfootprint.context.slots import rows_text as rows_text
    from agentfootprint.context.slots import slot_totals as slot_totals
    from agentfootprint.context.slots import tool_rows as tool_rows
    from agentfootprint.context.templates import missing_facts as missing_facts
    from agentfootprint.context.templates import placeholders as placeholders
    from agentfootprint.context.templates import render as render
    from agentfootprint.context.triggers import Always as Always
    from agentfootprint.context.triggers import OnReadSkill as OnReadSkill
    from agentfootprint.context.triggers import OnToolReturn as OnToolReturn
    from agentfootprint.context.triggers import Predicate as Predicate
    from agentfootprint.context.triggers import ToolReturn as ToolReturn
    from agentfootprint.context.triggers import Trigger as Trigger
    from agentfootprint.context.triggers import TurnContext as TurnContext
    from agentfootprint.context.triggers import When as When
    from agentfootprint.context.triggers import tool_results_of as tool_results_of
    from agentfootprint.context.triggers import trigger_kind as trigger_kind
else:
    from agentfootprint._lazy import door

    _MODULES = {
        "delivery": (
            "Deliveries",
            "carried_roles",
            "check_roles",
            "delivery_key",
            "placement",
            "without_delivered",
        ),
        "errors": ("ContextDefinitionError", "DeliveryRoleError", "WindowMessageError"),
        "injections": (
            "CachePolicy",
            "Content",
            "ContextItem",
            "Injection",
            "SystemPrompt",
            "TemplateInjection",
            "Until",
        ),
        "pieces": ("Fact", "Instruction", "Steering"),
        "plan": ("ContextPlan", "Pass", "slot_delta"),
        "projection": ("ActiveInjection", "piece_text", "piece_tools", "project"),
        "skill_pieces": ("Skill", "SkillInjection", "SkillOptions", "SkillStep"),
        "slots": (
            "MESSAGES_CAP",
            "SYSTEM_PROMPT_CAP",
            "TOOLS_CAP",
            "compose",
            "piece_tool_row",
            "rows_text",
            "slot_totals",
            "tool_rows",
        ),
        "templates": ("missing_facts", "placeholders", "render"),
        "triggers": (
            "Always",
            "OnReadSkill",
            "OnToolReturn",
            "Predicate",
            "ToolReturn",
            "Trigger",
            "TurnContext",
            "When",
            "tool_results_of",
            "trigger_kind",
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
