"""Who may do what, and what was done so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.security.permissions import PermissionChecker as PermissionChecker
    from agentfootprint.security.permissions import PermissionDecision as PermissionDecision
    from agentfootprint.security.permissions import PermissionRequest as PermissionRequest
    from agentfootprint.security.permissions import checker_governs as checker_governs
    from agentfootprint.security.permissions import skill_id_of as skill_id_of
    from agentfootprint.security.permissions import skill_target as skill_target
    from agentfootprint.security.policy import PermissionPolicy as PermissionPolicy
    from agentfootprint.security.policy import PermissionRules as PermissionRules
    from agentfootprint.security.sequence import SYNTHETIC_DENY_PREFIX as SYNTHETIC_DENY_PREFIX
    from agentfootprint.security.sequence import SequenceFold as SequenceFold
    from agentfootprint.security.sequence import ToolCallEntry as ToolCallEntry
    from agentfootprint.security.sequence import extract_sequence as extract_sequence
    from agentfootprint.security.sequence import settled_proposals as settled_proposals
else:
    from agentfootprint._lazy import door

    _MODULES = {
        "permissions": (
            "PermissionChecker", "PermissionDecision", "PermissionRequest", "checker_governs", "skill_id_of",
            "skill_target",
        ),
        "policy": ("PermissionPolicy", "PermissionRules"),
        "sequence": ("SYNTHETIC_DENY_PREFIX", "SequenceFold", "ToolCallEntry", "extract_sequence", "settled_proposals"),
    }  # fmt: skip
    __getattr__, __dir__ = door(
        __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
    )

__all__ = [
    "PermissionChecker",
    "PermissionDecision",
    "PermissionPolicy",
    "PermissionRequest",
    "PermissionRules",
    "ToolCallEntry",
    "extract_sequence",
]
