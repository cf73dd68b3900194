"""The model port: what every model is asked and answers, and a scripted model to work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.llm.embedding import Embedder as Embedder
    from agentfootprint.llm.embedding import EmbedKind as EmbedKind
    from agentfootprint.llm.embedding import SupportsEmbedBatch as SupportsEmbedBatch
    from agentfootprint.llm.embedding import cosine_similarity as cosine_similarity
    from agentfootprint.llm.embedding import mock_embedder as mock_embedder
    from agentfootprint.llm.errors import BrokenPairError as BrokenPairError
    from agentfootprint.llm.errors import ContextWindowExceededError as ContextWindowExceededError
    from agentfootprint.llm.errors import DimensionMismatchError as DimensionMismatchError
    from agentfootprint.llm.errors import InvalidMessageError as InvalidMessageError
    from agentfootprint.llm.errors import MalformedToolArgsError as MalformedToolArgsError
    from agentfootprint.llm.errors import MissingCredentialError as MissingCredentialError
    from agentfootprint.llm.errors import ProviderAuthError as ProviderAuthError
    from agentfootprint.llm.errors import ProviderBadRequestError as ProviderBadRequestError
    from agentfootprint.llm.errors import ProviderConnectionError as ProviderConnectionError
    from agentfootprint.llm.errors import ProviderContractError as ProviderContractError
    from agentfootprint.llm.errors import ProviderError as ProviderError
    from agentfootprint.llm.errors import ProviderModelNotFoundError as ProviderModelNotFoundError
    from agentfootprint.llm.errors import ProviderOverloadedError as ProviderOverloadedError
    from agentfootprint.llm.errors import ProviderPermissionError as ProviderPermissionError
    from agentfootprint.llm.errors import ProviderRateLimitError as ProviderRateLimitError
    from agentfootprint.llm.errors import ProviderServerError as ProviderServerError
    from agentfootprint.llm.errors import ProviderStreamError as ProviderStreamError
    from agentfootprint.llm.errors import ProviderTimeoutError as ProviderTimeoutError
    from agentfootprint.llm.errors import ScriptExhaustedError as ScriptExhaustedError
    from agentfootprint.llm.errors import StreamTruncatedError as StreamTruncatedError
    from agentfootprint.llm.errors import UnknownUsageError as UnknownUsageError
    from agentfootprint.llm.faults import ErrorBucket as ErrorBucket
    from agentfootprint.llm.faults import ErrorFacts as ErrorFacts
    from agentfootprint.llm.faults import ErrorKind as ErrorKind
    from agentfootprint.llm.faults import classify_error as classify_error
    from agentfootprint.llm.faults import error_bucket as error_bucket
    from agentfootprint.llm.faults import facts_of as facts_of
    from agentfootprint.llm.faults import humanize_llm_error as humanize_llm_error
    from agentfootprint.llm.faults import parse_retry_after as parse_retry_after
    from agentfootprint.llm.messages import ArgsError as ArgsError
    from agentfootprint.llm.messages import CallRef as CallRef
    from agentfootprint.llm.messages import InjectedBy as InjectedBy
    from agentfootprint.llm.messages import LLMMessage as LLMMessage
    from agentfootprint.llm.messages import NotDispatched as NotDispatched
    from agentfootprint.llm.messages import Role as Role
    from agentfootprint.llm.messages import ThinkingBlock as ThinkingBlock
    from agentfootprint.llm.messages import ToolCall as ToolCall
    from agentfootprint.llm.messages import ToolSchema as ToolSchema
    from agentfootprint.llm.messages import whole_text as whole_text
    from agentfootprint.llm.mock import Mock as Mock
    from agentfootprint.llm.mock import MockScript as MockScript
    from agentfootprint.llm.overflow import context_window_error as context_window_error
    from agentfootprint.llm.overflow import looks_like_context_window_exceeded as looks_like_context_window_exceeded
    from agentfootprint.llm.pairing import BrokenPair as BrokenPair
    from agentfootprint.llm.pairing import CallPosition as CallPosition
    from agentfootprint.llm.pairing import Pairing as Pairing
    from agentfootprint.llm.pairing import PairingFold as PairingFold
    from agentfootprint.llm.pairing import PairReport as PairReport
    from agentfootprint.llm.pairing import verify_pairs as verify_pairs
    from agentfootprint.llm.port import CURRENT_HOOKS as CURRENT_HOOKS
    from agentfootprint.llm.port import CallHooks as CallHooks
    from agentfootprint.llm.port import LLMProvider as LLMProvider
    from agentfootprint.llm.port import SupportsSeed as SupportsSeed
    from agentfootprint.llm.port import SupportsStream as SupportsStream
    from agentfootprint.llm.request import CacheMarker as CacheMarker
    from agentfootprint.llm.request import LLMChunk as LLMChunk
    from agentfootprint.llm.request import LLMRequest as LLMRequest
    from agentfootprint.llm.request import LLMResponse as LLMResponse
    from agentfootprint.llm.request import WireToolManifest as WireToolManifest
    from agentfootprint.llm.reruns import provider_for_run as provider_for_run
    from agentfootprint.llm.reruns import rerun_seed as rerun_seed
    from agentfootprint.llm.thinking import THINKING_HANDLERS as THINKING_HANDLERS
    from agentfootprint.llm.thinking import ThinkingHandler as ThinkingHandler
    from agentfootprint.llm.thinking import find_thinking_handler as find_thinking_handler
    from agentfootprint.llm.usage import Usage as Usage
    from agentfootprint.llm.view import RequestMessages as RequestMessages
    from agentfootprint.llm.wire import message_from_wire as message_from_wire
    from agentfootprint.llm.wire import messages_from_wire as messages_from_wire
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            name: f"agentfootprint.llm.{module}"
            for module, names in {
                "embedding": "Embedder EmbedKind SupportsEmbedBatch cosine_similarity mock_embedder",
                "errors": (
                    "BrokenPairError ContextWindowExceededError DimensionMismatchError InvalidMessageError "
                    "MalformedToolArgsError MissingCredentialError ProviderAuthError ProviderBadRequestError "
                    "ProviderConnectionError ProviderContractError ProviderError ProviderModelNotFoundError "
                    "ProviderOverloadedError ProviderPermissionError ProviderRateLimitError ProviderServerError "
                    "ProviderStreamError ProviderTimeoutError ScriptExhaustedError StreamTruncatedError "
                    "UnknownUsageError"
                ),
                "faults": (
                    "ErrorBucket ErrorFacts ErrorKind classify_error error_bucket facts_of humanize_llm_error "
                    "parse_retry_after"
                ),
                "messages": (
                    "ArgsError CallRef InjectedBy LLMMessage NotDispatched Role ThinkingBlock ToolCall ToolSchema "
                    "whole_text"
                ),
                "mock": "Mock MockScript",
                "overflow": "context_window_error looks_like_context_window_exceeded",
                "pairing": "BrokenPair CallPosition Pairing PairingFold PairReport verify_pairs",
                "port": "CURRENT_HOOKS CallHooks LLMProvider SupportsSeed SupportsStream",
                "request": "CacheMarker LLMChunk LLMRequest LLMResponse WireToolManifest",
                "reruns": "provider_for_run rerun_seed",
                "thinking": "THINKING_HANDLERS ThinkingHandler find_thinking_handler",
                "usage": "Usage",
                "view": "RequestMessages",
                "wire": "message_from_wire messages_from_wire",
            }.items()
            for name in names.split()
        },
    )

__all__ = [
    "CacheMarker",
    "ContextWindowExceededError",
    "Embedder",
    "LLMChunk",
    "LLMMessage",
    "LLMProvider",
    "LLMRequest",
    "LLMResponse",
    "MalformedToolArgsError",
    "MissingCredentialError",
    "Mock",
    "ProviderAuthError",
    "ProviderBadRequestError",
    "ProviderConnectionError",
    "ProviderError",
    "ProviderModelNotFoundError",
    "ProviderOverloadedError",
    "ProviderPermissionError",
    "ProviderRateLimitError",
    "ProviderServerError",
    "ProviderStreamError",
    "ProviderTimeoutError",
    "StreamTruncatedError",
    "SupportsEmbedBatch",
    "SupportsStream",
    "ThinkingBlock",
    "ThinkingHandler",
    "ToolCall",
    "ToolSchema",
    "Usage",
    "WireToolManifest",
    "cosine_similarity",
    "mock_embedder",
]
