"""Under which names does a conversation travel through a record (NEW-103)?

The list is kept with the loop: whoever adds a place where the words of a person, a model or a tool are recorded adds
its name here, and a marker to the test that drives every view. Texts of the library's own errors are not on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from agentfootprint.flow import RedactionPolicy, union_of

__all__ = ["conversation_redaction"]

_NAMES: Final = (
    # messages and replies, wherever they stand
    "content",
    "args",
    "rawContent",
    "contentSummary",
    "userMessage",
    "userPrompt",
    "finalContent",
    "llmLatestContent",
    "systemPrompt",
    "systemPromptText",
    # what agents of a composition hand on to each other
    "message",
    "current",
    "branchResults",
    "branchErrors",
    "merged",
    "outputs",
    # what tools gave
    "result",
    "modelResult",
    "payload",
    # what was asked and answered
    "question",
    "questionPayload",
    "pauseData",
    "intent",
    "detail",
    "context",
    "supplied",
    "values",
    "resumeInput",
    "pausedToolArgs",
    "pausedCheckInArgs",
    "pausedAskArgs",
    "pausedCredentialArgs",
    "pausedInput",
    "pausedCall",
    "rememberedApprovals",
    # what is quoted of it
    "evidence",
    "why",
    "before",
    "after",
    "messageDeniedReason",
    "tellLLM",
    "policyHaltReason",
    "policyHaltTellLLM",
    "policyHaltArgs",
    "rawOutput",
    "rawOutputPreview",
    "outputAttempts",
    "outputContractUnmet",
    "got",
    "hint",
    "lookedFor",
    "what",
    "witness",
)
_EVENTS: Final = MappingProxyType(
    {
        "agentfootprint.agent.output_schema_validation_failed": ("message", "path"),
        "agentfootprint.agent.output_schema_retry": ("error", "path"),
        "agentfootprint.agent.output_contract_unmet": ("error", "path"),
        "agentfootprint.agent.thinking_parse_failed": ("error",),
        "agentfootprint.agent.evidence_checked": ("unsupported.value", "computed"),
        "agentfootprint.validation.args_invalid": ("issues.path",),
        "agentfootprint.composition.merge_end": ("resultSummary",),
        "agentfootprint.pause.request": ("reason",),
        "agentfootprint.permission.check": ("rationale",),
        "agentfootprint.permission.halt": ("reason",),
        "agentfootprint.resilience.output_canned_used": ("fallbackErrorMessage",),
        "agentfootprint.resilience.output_fallback_triggered": ("primaryErrorMessage",),
    }
)
"""Places whose name alone is too common."""


def conversation_redaction(extra: Sequence[str] | RedactionPolicy = ()) -> RedactionPolicy:
    """A policy that keeps a conversation out of the record: what the person, the model and the tools said.

    What is left is how the run went: which steps, calls and tools, in which order, how long, at what cost. Hashes and
    lengths are left too: who guesses a short text can confirm the guess.

    Args:
        extra: Further names, or a policy whose names are added.

    Example:
        >>> conversation_redaction(["customerId"]).hides("customerId")
        True
    """
    policy = RedactionPolicy(keys=_NAMES, event_fields=_EVENTS)
    if not isinstance(extra, RedactionPolicy):
        if not extra:
            return policy
        extra = RedactionPolicy(keys=extra)
    joined = union_of(policy, extra)
    assert joined is not None  # noqa: S101  two were given
    return joined
