"""Tests of agentfootprint.hosting.sessions.owning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.hosting import (
    SessionNotFoundError,
    SessionOwnershipConflictError,
    owner_key,
    require_owner,
    resolve_session_owner,
)

# what the encoding treats in a special way comes up often
NAMES = st.text(st.sampled_from("%/_ab2F5") | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
TENANTS = st.none() | NAMES


@given(one=st.tuples(NAMES, TENANTS), other=st.tuples(NAMES, TENANTS))
def test_two_users_never_share_a_key(one: tuple[str, str | None], other: tuple[str, str | None]) -> None:
    """OWN-6: injective over pairs of tenant and user."""
    keys = owner_key(one[0], tenant=one[1]), owner_key(other[0], tenant=other[1])

    assert (keys[0] == keys[1]) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("%/acme/alice", None), ("alice", "acme")),
        (("acme/alice", None), ("alice", "acme")),
        (("b/c", "a"), ("c", "a/b")),
        (("_", "_"), ("_", None)),
        (("%/_/alice", None), ("alice", None)),
    ],
)
def test_look_alikes_are_kept_apart(one: tuple[str, str | None], other: tuple[str, str | None]) -> None:
    assert owner_key(one[0], tenant=one[1]) != owner_key(other[0], tenant=other[1])


def test_a_user_without_a_tenant_is_written_as_another_implementation_writes_it() -> None:
    assert owner_key("alice@example.org/team") == "alice@example.org/team"
    assert owner_key("alice", tenant="") == "alice"


def test_nobody_has_no_key() -> None:
    with pytest.raises(ValueError, match="nobody is None"):
        owner_key("")


@given(owners=st.lists(st.none() | st.sampled_from(["", "alice", "bob"]), max_size=6))
def test_an_owner_once_filled_in_stays_whoever_comes(owners: list[str | None]) -> None:
    owner: str | None = None

    for incoming in owners:
        before = owner
        try:
            owner = resolve_session_owner("s", owner, incoming)
        except SessionOwnershipConflictError:
            assert before is not None
        assert before is None or owner == before
        assert owner != ""


@pytest.mark.parametrize(
    ("stored", "caller", "is_open"),
    [
        (None, None, True),
        ("", None, True),
        ("alice", "alice", True),
        ("alice", "bob", False),
        ("alice", None, False),
        (None, "alice", False),
    ],
)
def test_only_the_owner_opens_a_session_and_the_anonymous_only_what_is_nobodys(
    stored: str | None, caller: str | None, is_open: bool
) -> None:
    """OWN-5."""
    if is_open:
        require_owner("s-1", stored, caller)
        return
    with pytest.raises(SessionNotFoundError) as caught:
        require_owner("s-1", stored, caller)

    assert str(caught.value) == str(SessionNotFoundError("s-1"))
    assert not {"alice", "bob"} & set(str(caught.value).split())
