"""Behind a wire: sessions that wait between requests, callers that are proven, dialects that are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.hosting.cases.case import ConformanceCase as ConformanceCase
    from agentfootprint.hosting.cases.case import ConformanceError as ConformanceError
    from agentfootprint.hosting.cases.case import EnvironmentFailedError as EnvironmentFailedError
    from agentfootprint.hosting.conformance import CaseOutcome as CaseOutcome
    from agentfootprint.hosting.conformance import SessionStoreHarness as SessionStoreHarness
    from agentfootprint.hosting.conformance import format_outcomes as format_outcomes
    from agentfootprint.hosting.conformance import run_case as run_case
    from agentfootprint.hosting.conformance import run_session_store_conformance as run_session_store_conformance
    from agentfootprint.hosting.conformance import session_store_cases as session_store_cases
    from agentfootprint.hosting.errors import IdentityFailure as IdentityFailure
    from agentfootprint.hosting.errors import IdentityNotVerifiedError as IdentityNotVerifiedError
    from agentfootprint.hosting.errors import InvalidEnvelopeError as InvalidEnvelopeError
    from agentfootprint.hosting.errors import InvalidSessionIdError as InvalidSessionIdError
    from agentfootprint.hosting.errors import SessionFileProblem as SessionFileProblem
    from agentfootprint.hosting.errors import SessionNotFoundError as SessionNotFoundError
    from agentfootprint.hosting.errors import SessionOwnershipConflictError as SessionOwnershipConflictError
    from agentfootprint.hosting.errors import SessionRetentionUnavailableError as SessionRetentionUnavailableError
    from agentfootprint.hosting.errors import SessionStoreBusyError as SessionStoreBusyError
    from agentfootprint.hosting.errors import SessionStoreClosedError as SessionStoreClosedError
    from agentfootprint.hosting.errors import SessionStoreError as SessionStoreError
    from agentfootprint.hosting.errors import StaleVersionError as StaleVersionError
    from agentfootprint.hosting.errors import UnknownEnvelopeFormatError as UnknownEnvelopeFormatError
    from agentfootprint.hosting.errors import UnreadableEnvelopeError as UnreadableEnvelopeError
    from agentfootprint.hosting.errors import UnreadableSessionFileError as UnreadableSessionFileError
    from agentfootprint.hosting.errors import VerifierConfigError as VerifierConfigError
    from agentfootprint.hosting.errors import VerifierUnavailableError as VerifierUnavailableError
    from agentfootprint.hosting.sessions.envelope import CONVERSATION as CONVERSATION
    from agentfootprint.hosting.sessions.envelope import FLOWCHART as FLOWCHART
    from agentfootprint.hosting.sessions.envelope import Envelope as Envelope
    from agentfootprint.hosting.sessions.envelope import PausedSession as PausedSession
    from agentfootprint.hosting.sessions.envelope import check_envelope as check_envelope
    from agentfootprint.hosting.sessions.envelope import envelope_owner as envelope_owner
    from agentfootprint.hosting.sessions.envelope import envelope_transcript as envelope_transcript
    from agentfootprint.hosting.sessions.envelope import envelope_user as envelope_user
    from agentfootprint.hosting.sessions.envelope import read_conversation as read_conversation
    from agentfootprint.hosting.sessions.envelope import read_paused as read_paused
    from agentfootprint.hosting.sessions.in_memory import InMemorySessions as InMemorySessions
    from agentfootprint.hosting.sessions.owning import owner_key as owner_key
    from agentfootprint.hosting.sessions.owning import require_owner as require_owner
    from agentfootprint.hosting.sessions.owning import resolve_session_owner as resolve_session_owner
    from agentfootprint.hosting.sessions.port import ExpiryPolicy as ExpiryPolicy
    from agentfootprint.hosting.sessions.port import ForgetOlder as ForgetOlder
    from agentfootprint.hosting.sessions.port import Forgotten as Forgotten
    from agentfootprint.hosting.sessions.port import SessionPage as SessionPage
    from agentfootprint.hosting.sessions.port import SessionRow as SessionRow
    from agentfootprint.hosting.sessions.port import SessionStore as SessionStore
    from agentfootprint.hosting.sessions.port import SupportsForget as SupportsForget
    from agentfootprint.hosting.sessions.port import SupportsListing as SupportsListing
    from agentfootprint.hosting.sessions.port import SupportsRetention as SupportsRetention
    from agentfootprint.hosting.sessions.port import SupportsWake as SupportsWake
    from agentfootprint.hosting.sessions.port import Sweep as Sweep
    from agentfootprint.hosting.sessions.port import WakeReason as WakeReason
    from agentfootprint.hosting.sessions.port import session_retention as session_retention
    from agentfootprint.hosting.sessions.port import stored_owner as stored_owner
    from agentfootprint.hosting.sessions.port import wake_session as wake_session
    from agentfootprint.hosting.sessions.sqlite import SqliteSessions as SqliteSessions
    from agentfootprint.hosting.verifying.jwks import Jwks as Jwks
    from agentfootprint.hosting.verifying.jwks import JwksOptions as JwksOptions
    from agentfootprint.hosting.verifying.port import IdentityVerifier as IdentityVerifier
    from agentfootprint.hosting.verifying.port import SupportsRequestProof as SupportsRequestProof
    from agentfootprint.hosting.verifying.port import VerifiedIdentity as VerifiedIdentity
    from agentfootprint.hosting.verifying.port import bearer_token as bearer_token
    from agentfootprint.hosting.verifying.port import verify_request as verify_request
    from agentfootprint.hosting.wires.encoding import encode_sse as encode_sse
    from agentfootprint.hosting.wires.port import MountedWire as MountedWire
    from agentfootprint.hosting.wires.port import ReadRequest as ReadRequest
    from agentfootprint.hosting.wires.port import RequestFacts as RequestFacts
    from agentfootprint.hosting.wires.port import SupportsAwaiting as SupportsAwaiting
    from agentfootprint.hosting.wires.port import SupportsConversations as SupportsConversations
    from agentfootprint.hosting.wires.port import SupportsMount as SupportsMount
    from agentfootprint.hosting.wires.port import Wire as Wire
    from agentfootprint.hosting.wires.responding import EventStreamResponse as EventStreamResponse
    from agentfootprint.hosting.wires.streaming import sse as sse
else:
    from agentfootprint._lazy import door

    _MODULES = {
        "cases.case": ("ConformanceCase", "ConformanceError", "EnvironmentFailedError"),
        "conformance": (
            "CaseOutcome",
            "SessionStoreHarness",
            "format_outcomes",
            "run_case",
            "run_session_store_conformance",
            "session_store_cases",
        ),
        "errors": (
            "IdentityFailure",
            "IdentityNotVerifiedError",
            "InvalidEnvelopeError",
            "InvalidSessionIdError",
            "SessionFileProblem",
            "SessionNotFoundError",
            "SessionOwnershipConflictError",
            "SessionRetentionUnavailableError",
            "SessionStoreBusyError",
            "SessionStoreClosedError",
            "SessionStoreError",
            "StaleVersionError",
            "UnknownEnvelopeFormatError",
            "UnreadableEnvelopeError",
            "UnreadableSessionFileError",
            "VerifierConfigError",
            "VerifierUnavailableError",
        ),
        "sessions.envelope": (
            "CONVERSATION",
            "FLOWCHART",
            "Envelope",
            "PausedSession",
            "check_envelope",
            "envelope_owner",
            "envelope_transcript",
            "envelope_user",
            "read_conversation",
            "read_paused",
        ),
        "sessions.in_memory": ("InMemorySessions",),
        "sessions.owning": ("owner_key", "require_owner", "resolve_session_owner"),
        "sessions.port": (
            "ExpiryPolicy",
            "ForgetOlder",
            "Forgotten",
            "SessionPage",
            "SessionRow",
            "SessionStore",
            "SupportsForget",
            "SupportsListing",
            "SupportsRetention",
            "SupportsWake",
            "Sweep",
            "WakeReason",
            "session_retention",
            "stored_owner",
            "wake_session",
        ),
        "sessions.sqlite": ("SqliteSessions",),
        "verifying.jwks": ("Jwks", "JwksOptions"),
        "verifying.port": (
            "IdentityVerifier",
            "SupportsRequestProof",
            "VerifiedIdentity",
            "bearer_token",
            "verify_request",
        ),
        "wires.encoding": ("encode_sse",),
        "wires.port": (
            "MountedWire",
            "ReadRequest",
            "RequestFacts",
            "SupportsAwaiting",
            "SupportsConversations",
            "SupportsMount",
            "Wire",
        ),
        "wires.responding": ("EventStreamResponse",),
        "wires.streaming": ("sse",),
    }
    __getattr__, __dir__ = door(
        __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
    )

__all__ = ["Envelope", "IdentityVerifier", "InMemorySessions", "Jwks", "SessionStore", "SqliteSessions", "Wire", "sse"]
