"""What can go wrong with a model call, and how each failure is mended.

Invariants: a message begins with `[<provider>] ` (ERR-1) and never holds a key, a header, tool arguments or the
conversation (ERR-3); what had arrived is an attribute, never a word of the message. The vendor's own error is the
cause. Every error survives pickle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "BrokenPairError",
    "ContextWindowExceededError",
    "DimensionMismatchError",
    "InvalidMessageError",
    "MalformedToolArgsError",
    "MissingCredentialError",
    "ProviderAuthError",
    "ProviderBadRequestError",
    "ProviderConnectionError",
    "ProviderContractError",
    "ProviderError",
    "ProviderModelNotFoundError",
    "ProviderOverloadedError",
    "ProviderPermissionError",
    "ProviderRateLimitError",
    "ProviderServerError",
    "ProviderStreamError",
    "ProviderTimeoutError",
    "ScriptExhaustedError",
    "StreamTruncatedError",
    "UnknownUsageError",
]

_QUOTED_CHARS: Final = 200  # of a vendor's own sentence (ERR-4)

_WIRE_NAMES: Final = {
    "anthropic": "AnthropicProviderError",
    "openai": "OpenAIProviderError",
    "azure-openai": "OpenAIProviderError",
    "bedrock": "BedrockProviderError",
    "gemini": "GeminiProviderError",
    "ollama": "OllamaProviderError",
    "foundry-local": "FoundryLocalProviderError",
    "invoke-model-gateway": "InvokeModelGatewayError",
}


class InvalidMessageError(AgentFootprintError, TypeError):
    """A message can't be built or read (AGT-39); `field` is its wire key, `index` its place in a list, if known."""

    code = "ERR_INVALID_MESSAGE"

    def __init__(self, field: str, wanted: str, *, index: int | None = None) -> None:
        self.field = field
        self.wanted = wanted
        self.index = index
        where = "A message" if index is None else f"Message {index}"
        super().__init__(f"{where} needs {field!r} to be {wanted}.", fix=f"Give such a value for {field!r}.")


class BrokenPairError(AgentFootprintError, ValueError):
    """A tool result in a history has no call to answer (DEC-10).

    Args:
        index: Place of the tool message.
        reason: `no-call`, `before-call` or `duplicate`.
    """

    code = "ERR_BROKEN_PAIR"
    _WORDS: ClassVar[dict[str, str]] = {
        "no-call": "answers a call that no earlier message proposed",
        "before-call": "answers a call that only a later message proposes",
        "duplicate": "answers a call that is answered already",
    }

    def __init__(self, index: int, reason: str) -> None:
        self.index = index
        self.reason = reason
        super().__init__(
            f"The tool message at index {index} {self._WORDS[reason]}.",
            fix="Remove it, or pass repair=True to drop such messages and have them reported.",
        )


class UnknownUsageError(AgentFootprintError, ValueError):
    """Tokens were summed up that nobody reported; unknown is never zero (DEC-6)."""

    code = "ERR_UNKNOWN_USAGE"

    def __init__(self) -> None:
        super().__init__(
            "The provider reported no token usage for this call.", fix="Ask usage.known before usage.totals()."
        )


class DimensionMismatchError(AgentFootprintError, ValueError):
    """Two vectors of different length were compared."""

    code = "ERR_DIMENSION_MISMATCH"

    def __init__(self, left: int, right: int) -> None:
        self.left = left
        self.right = right
        super().__init__(
            f"A vector of length {left} can't be compared with one of length {right}.",
            fix="Embed both texts with the same embedder.",
        )


class ProviderError(AgentFootprintError):
    """Base of everything that a model call raises.

    Args:
        problem: One sentence, without the provider's name.
        provider: Name of the provider.
        fix: What to do; by default what the class says.
        status: HTTP status, where there was one.
        retryable: Whether the same call may succeed later; by default what the class says, `None` when unknown.
        retry_after: Seconds the server asked to wait (DEC-3).
        request_id: The vendor's id of the call.
        vendor_code: The vendor's own code or type.
        phase: `connect`, `headers`, `stream` or `decode`.
    """

    code = "ERR_PROVIDER"
    quotes_others: ClassVar[bool] = True
    """Whether its message may quote what others said, such as the vendor; a record with a redaction policy then
    withholds it."""
    default_fix: ClassVar[str] = "See the cause of this error."
    default_retryable: ClassVar[bool | None] = None

    def __init__(
        self,
        problem: str,
        *,
        provider: str,
        fix: str | None = None,
        status: int | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        vendor_code: str | None = None,
        phase: str = "headers",
    ) -> None:
        self.provider = provider
        self.status = status
        self.retryable = self.default_retryable if retryable is None else retryable
        self.retry_after = retry_after
        self.request_id = request_id
        self.vendor_code = vendor_code
        self.phase = phase
        super().__init__(f"[{provider}] {problem}", fix=fix or self.default_fix)

    @property
    def wire_name(self) -> str:
        """The name under which recordings hold this error, the same in all implementations (ERR-1)."""
        inner = self.provider.partition("|")[0].partition("+")[0]
        return _WIRE_NAMES.get(inner, type(self).__name__)


class ProviderAuthError(ProviderError):
    """The key was refused (401)."""

    code = "ERR_PROVIDER_AUTH"
    default_fix = "Check the provider's API key."
    default_retryable = False


class ProviderPermissionError(ProviderError):
    """The key is known but may not do this (403)."""

    code = "ERR_PROVIDER_AUTH"
    default_fix = "Ask for access to this model, or use another one."
    default_retryable = False


class ProviderBadRequestError(ProviderError):
    """The provider refused the request as such (other 4xx)."""

    code = "ERR_PROVIDER_BAD_REQUEST"
    default_fix = "Change the request; sending it again fails the same way."
    default_retryable = False


class ProviderModelNotFoundError(ProviderError):
    """The provider has no such model (404)."""

    code = "ERR_PROVIDER_MODEL"
    default_fix = "Check the model's name."
    default_retryable = False


class ProviderRateLimitError(ProviderError):
    """Too many calls or tokens (429); `retry_after` says how long to wait, if the server did."""

    code = "ERR_PROVIDER_RATE_LIMIT"
    default_fix = "Wait and call again, or ask the provider for a higher limit."
    default_retryable = True


class ProviderOverloadedError(ProviderError):
    """The provider has no capacity at the moment (503, 529)."""

    code = "ERR_PROVIDER_OVERLOADED"
    default_fix = "Wait and call again, or use another model."
    default_retryable = True


class ProviderServerError(ProviderError):
    """The provider failed (other 5xx)."""

    code = "ERR_PROVIDER_SERVER"
    default_fix = "Call again; if it goes on, see the provider's status page."
    default_retryable = True


class ProviderTimeoutError(ProviderError):
    """No answer came in time."""

    code = "ERR_PROVIDER_TIMEOUT"
    default_fix = "Call again, or allow more time."
    default_retryable = True


class ProviderConnectionError(ProviderError):
    """No connection could be made, or it broke."""

    code = "ERR_PROVIDER_CONNECTION"
    default_fix = "Check the network and the provider's address."
    default_retryable = True


class ProviderStreamError(ProviderError):
    """A reply contradicts itself or can't be read."""

    code = "ERR_PROVIDER_STREAM"
    default_fix = "Call again."
    default_retryable = True


class StreamTruncatedError(ProviderStreamError):
    """A stream ended without the vendor's end signal (DEC-15).

    Args:
        provider: Name of the provider.
        text: The text that had arrived; never taken for an answer.
        calls: The fragments of calls that had arrived, as the adapter holds them.
    """

    def __init__(self, provider: str, *, text: str = "", calls: Sequence[Any] = ()) -> None:
        self.text = text
        self.calls = tuple(calls)
        arrived = f"{len(text)} characters of text and {len(self.calls)} pieces of calls"
        super().__init__(
            f"The stream ended without its end signal, after {arrived}.", provider=provider, phase="stream"
        )


class ContextWindowExceededError(ProviderError):
    """The prompt did not fit into the model's context window; sending it again fails the same way.

    Args:
        provider: Name of the provider.
        limit_tokens: The window, if the vendor said it.
        actual_tokens: The prompt, if the vendor said it.
        status: HTTP status, where there was one.
        vendor_text: The vendor's sentence; at most 200 characters are quoted.
    """

    code = "ERR_CONTEXT_WINDOW_EXCEEDED"
    default_retryable = False

    def __init__(
        self,
        provider: str,
        *,
        limit_tokens: int | None = None,
        actual_tokens: int | None = None,
        status: int | None = None,
        vendor_text: str = "",
    ) -> None:
        self.limit_tokens = limit_tokens
        self.actual_tokens = actual_tokens
        sizes = [
            f"the prompt has {actual_tokens:,} tokens" if actual_tokens is not None else "",
            f"the limit is {limit_tokens:,}" if limit_tokens is not None else "",
        ]
        said = ", ".join(size for size in sizes if size)
        quoted = f" The provider said: {vendor_text[:_QUOTED_CHARS]}" if vendor_text else ""
        super().__init__(
            "The prompt did not fit into the context window, so the model never saw it"
            f"{f' ({said})' if said else ''}; sending it again fails the same way.{quoted}",
            provider=provider,
            fix="First cap oversized tool results where they are made; else use a sliding window; else compact the "
            "history, which can't help when a single round is larger than the window.",
            status=status,
        )

    @property
    def wire_name(self) -> str:
        """This failure has one name for all providers."""
        return type(self).__name__


class MalformedToolArgsError(ProviderError):
    """The arguments of a call are not a JSON object; only their length is told (ADP-10).

    Args:
        provider: Name of the provider.
        tool: Name of the tool.
        call_id: The provider's id of the call.
        raw_length: Characters that arrived.
        block_index: The vendor's index of the block, if it has one.
    """

    code = "ERR_MALFORMED_TOOL_ARGS"
    default_fix = "Call again; if the reply was cut, allow more tokens."
    default_retryable = True

    def __init__(
        self, provider: str, *, tool: str, call_id: str, raw_length: int, block_index: int | None = None
    ) -> None:
        self.tool = tool
        self.call_id = call_id
        self.raw_length = raw_length
        self.block_index = block_index
        block = "" if block_index is None else f", block {block_index}"
        super().__init__(
            f"The arguments of the call {call_id!r} to {tool!r} are not a JSON object "
            f"({raw_length} characters{block}).",
            provider=provider,
            phase="decode",
        )


class MissingCredentialError(ProviderError):
    """A provider was asked for without its key (ADP-3).

    Args:
        provider: Name of the provider.
        variable: The environment variable that would hold the key.
        label: The vendor's name as people write it.
    """

    code = "ERR_NO_CREDENTIAL"
    default_retryable = False

    def __init__(self, provider: str, *, variable: str, label: str | None = None) -> None:
        self.variable = variable
        super().__init__(
            "",
            provider=provider,
            fix='Set it, or go on without a model: Agent(Mock(["..."]), ...).',
            phase="connect",
        )
        self.args = (f"No key for {label or provider}: {variable} is not set.",)  # before any call: no prefix


class ProviderContractError(ProviderError, TypeError):
    """A provider gave something that the port does not know, such as a chunk without text (PRT-4, AGT-45)."""

    code = "ERR_PROVIDER_CONTRACT"
    default_fix = (
        "A chunk needs content as text; the last one is LLMChunk(token_index=n, content='', done=True, response=...)."
    )
    default_retryable = False


class ScriptExhaustedError(ProviderError):
    """A `Mock` was asked more often than its script has replies (MOK-3).

    Args:
        provider: Name of the mock.
        scripted: How many replies there are.
        number: Which request came, counted from 1.
    """

    code = "ERR_SCRIPT_EXHAUSTED"
    default_retryable = False

    def __init__(self, provider: str, *, scripted: int, number: int) -> None:
        self.scripted = scripted
        self.number = number
        super().__init__(
            f"The script has {scripted} {'reply' if scripted == 1 else 'replies'}, and request number {number} came.",
            provider=provider,
            fix="Add a reply, call reset() between runs, or script a function of the request.",
        )
