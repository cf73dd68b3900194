"""What happens between the agent and a model or a tool: calls begin, stream and end."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from agentfootprint.events.payloads.base import Many, Number, Object, Payload
from agentfootprint.trace import Record, Value

__all__ = [
    "BrainChoice",
    "LLMEnd",
    "LLMStart",
    "OfferedTool",
    "RecordedThinking",
    "Restarted",
    "ThinkingDelta",
    "ThinkingEnd",
    "Token",
    "TokenCounts",
    "ToolEnd",
    "ToolProgress",
    "ToolStart",
]


class OfferedTool(Record, frozen=True, kw_only=True, gc=False):
    """One tool that a model call was offered."""

    name: str
    """The tool's name."""
    description: str | None = None
    """What the model reads about it."""


class BrainChoice(Record, frozen=True, kw_only=True, gc=False):
    """Why another model than the agent's own answers (BRN-5)."""

    via: Literal["skill", "escalation"]
    """Which rung won."""
    skill_id: str | None = None
    """The skill that declared it."""


class LLMStart(Payload, frozen=True, kw_only=True, gc=False):
    """A model call is about to be made."""

    type = "agentfootprint.stream.llm_start"

    iteration: int
    """The iteration, from 1."""
    provider: str
    """The effective provider's name."""
    model: str
    """The effective model's name."""
    system_prompt_chars: int
    """Length of the system text in UTF-16 units."""
    system_prompt_text: str | None = None
    """The text itself, only under `RecordOptions(system_prompt=True)`."""
    messages_count: int
    """Messages in the request."""
    tools_count: int
    """Tools in the request."""
    tools: Many[OfferedTool] | None = None
    """The same tools by name; absent when there are none."""
    estimated_prompt_tokens: int | None = None
    """An estimate made before the call."""
    temperature: Number | None = None
    """As sent."""
    provider_request_ref: str | None = None
    """The provider's name for the request."""
    brain: BrainChoice | None = None
    """Absent when the agent's own model answers."""


class TokenCounts(Record, frozen=True, kw_only=True, gc=False):
    """What a model call used, in the vendor's own numbers (DEC-42)."""

    input: int
    """Input tokens; 0 when nothing was reported."""
    output: int
    """Output tokens; 0 when nothing was reported."""
    cache_read: int | None = None
    """Input tokens read from a cache."""
    cache_write: int | None = None
    """Input tokens written to a cache."""
    thinking: int | None = None
    """Reasoning tokens."""
    usage_reported: Literal[False] | None = None
    """False when the reply held no usage: the counts are then unknown, not zero (DEC-6)."""
    input_includes_cache: Literal[True] | None = None
    """`input` counts the cached tokens too."""
    output_includes_thinking: Literal[True] | None = None
    """`output` counts the reasoning tokens too."""


class LLMEnd(Payload, frozen=True, kw_only=True, gc=False):
    """A model call returned; a failed one sends no end."""

    type = "agentfootprint.stream.llm_end"

    iteration: int
    """The iteration, from 1."""
    content: str
    """The reply's text."""
    tool_call_count: int
    """Calls that the reply proposes."""
    usage: TokenCounts
    """What the call used."""
    stop_reason: str
    """Why the model stopped, as normalised."""
    duration_ms: Number
    """Since `llm_start`."""
    provider_response_ref: str | None = None
    """The provider's name for the response."""
    provider_request_id: str | None = None
    """The provider's id for the exchange."""
    content_withheld: Literal[True] | None = None
    """The text is kept out until an output rule accepts it (NEW-108)."""


class Token(Payload, frozen=True, kw_only=True, gc=False):
    """A piece of the answer has arrived; empty pieces send none."""

    type = "agentfootprint.stream.token"

    iteration: int
    """The iteration, from 1."""
    token_index: int
    """The piece's place in its call, from 0."""
    content: str
    """The text."""


class ThinkingDelta(Payload, frozen=True, kw_only=True, gc=False):
    """A piece of the model's reasoning has arrived (EVT-33)."""

    type = "agentfootprint.stream.thinking_delta"

    iteration: int
    """The iteration, from 1."""
    token_index: int
    """The piece's place in its call, from 0."""
    content: str
    """The text."""


class RecordedThinking(Record, frozen=True, kw_only=True, gc=False):
    """One block of reasoning, without what only its provider can read."""

    type: Literal["thinking", "redacted_thinking"]
    """Whether the vendor hid its text."""
    content: str
    """The text; empty when hidden."""
    signature: str | None = None
    """The vendor's signature, needed to send the block back."""
    summary: Literal[True] | None = None
    """The text is the vendor's summary."""


class ThinkingEnd(Payload, frozen=True, kw_only=True, gc=False):
    """A reply's reasoning was read; after its `llm_end`, also when there was none (THK-4)."""

    type = "agentfootprint.stream.thinking_end"

    iteration: int
    """The iteration, from 1."""
    block_count: int
    """Blocks of reasoning."""
    total_chars: int
    """Length of their texts in UTF-16 units."""
    tokens: int | None = None
    """Reasoning tokens, when reported."""
    blocks: tuple[RecordedThinking, ...] | None = None
    """The blocks; absent when there are none."""


class ToolStart(Payload, frozen=True, kw_only=True, gc=False):
    """A proposed call is taken up, before its gates."""

    type = "agentfootprint.stream.tool_start"

    tool_name: str
    """The tool that is asked for."""
    tool_call_id: str
    """The provider's id; not unique (AGT-58), pair by `meta.tool_ordinal`."""
    args: Object
    """The model's own arguments."""
    parallel_count: int | None = None
    """Calls of the batch, when there are several."""
    protocol: Literal["native", "mcp", "http", "python-fn"] | None = None
    """How the tool is reached."""
    not_dispatched: Value = None
    """The marker of a call that is settled without being run (AGT-90)."""


class ToolProgress(Payload, frozen=True, kw_only=True, gc=False):
    """A running tool reports; between its start and its end."""

    type = "agentfootprint.stream.tool_progress"

    tool_call_id: str
    """As on the start."""
    tool_name: str
    """The tool that runs."""
    iteration: int
    """The iteration, from 1."""
    payload: Value
    """What the tool said, word for word."""


class ToolEnd(Payload, frozen=True, kw_only=True, gc=False):
    """A tool call has settled, well or badly; it does not repeat the tool's name."""

    type = "agentfootprint.stream.tool_end"

    tool_call_id: str
    """As on the start."""
    result: Value | UnsetType = UNSET
    """What the tool gave; `None` is a value and is written as null, absent means no value (DEC-28)."""
    error: Literal[True] | None = None
    """Absent unless the call failed; a denied call did not fail."""
    duration_ms: Number
    """Since the start."""
    status: Literal["success", "failure", "denied", "invalid", "partial", "pending", "absent", "unknown"] | None = None
    """Only when the tool declared one."""
    not_dispatched: Value = None
    """The marker of a call that neither ran nor failed (AGT-90)."""
    model_result: Value | UnsetType = UNSET
    """What the model read, when a rule, a cap or a projection changed it (NEW-94)."""
    changed_arg_keys: tuple[str, ...] | None = None
    """Arguments that a rule rewrote, names only (NEW-94)."""
    not_executed: Literal[True] | None = None
    """A policy or a rule refused the call; its absence proves nothing (NEW-94)."""


class Restarted(Payload, frozen=True, kw_only=True, gc=False):
    """A streamed reply begins again: drop the partial text of this address (DEC-43)."""

    type = "agentfootprint.stream.restarted"

    reason: str
    """Why, in words."""
