"""Tests of agentfootprint.hosting.errors."""

from __future__ import annotations

import copy
import pickle
from typing import get_args

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.hosting import (
    IdentityFailure,
    IdentityNotVerifiedError,
    InvalidEnvelopeError,
    SessionNotFoundError,
    SessionOwnershipConflictError,
    StaleVersionError,
    UnreadableEnvelopeError,
    UnreadableSessionFileError,
    VerifierUnavailableError,
)

ERRORS: list[AgentFootprintError] = [
    IdentityNotVerifiedError("expired", claimed_user=True),
    VerifierUnavailableError("Jwks"),
    SessionNotFoundError("s-1"),
    SessionOwnershipConflictError("s-1"),
    StaleVersionError("s-1"),
    UnreadableEnvelopeError("s-1", "the secret", "a text of 10 characters"),
    InvalidEnvelopeError("data", "The data is none.", fix="Give some."),
    UnreadableSessionFileError("sessions.db", "newer-schema"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_a_process(error: AgentFootprintError) -> None:
    revived = pickle.loads(pickle.dumps(error))

    assert str(revived) == str(error) == str(copy.copy(error))
    assert vars(revived) == vars(error)


def test_every_failure_has_one_sentence_that_says_what_to_do() -> None:
    said = {failure: str(IdentityNotVerifiedError(failure)) for failure in get_args(IdentityFailure)}

    assert len(said) == len(set(said.values())) == 7
    assert all("[ERR_IDENTITY_NOT_VERIFIED]" in words for words in said.values())


def test_what_is_stored_is_kept_out_of_the_message() -> None:
    error = UnreadableEnvelopeError("s-1", "the secret", "a text of 10 characters")

    assert error.stored_preview == "the secret"
    assert "secret" not in str(error)
    assert "'s-1'" in str(error)
    assert "a text of 10 characters" in str(error)
