"""Tests of agentfootprint.identity."""

from __future__ import annotations

import itertools
import pickle
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.identity import (
    IDENTITY_ABSENT,
    Identity,
    IdentityError,
    MemoryIdentity,
    decode_present_identity_field,
    distinct_from_absent,
    encode_identity_field,
    identity_from_wire,
    identity_namespace,
    normalize_scope_root,
    scope_key_prefix,
    scope_segment,
    scope_segments,
)
from agentfootprint.trace import freeze, thaw

# Every text that a past encoding confused with another one.
ADVERSARIAL = [
    "", "_", "__", "%", "%2F", "%2f", "%25", "%5F", "%5f", "%252F", "a/b", "a", "b", "/a", "a/", "/", "..", ".", "*",
    "#", ":", "~", "~~", "~a", "A", "Acme", "acme", "~acme", "ünï", "日本語", "😀", "x" * 4096, " ", "a b", "a%2Fb",
]  # fmt: skip
TEXT = st.text(alphabet=st.sampled_from("_/%25F2f~.aAbB#:é日😀 "), max_size=8) | st.text(max_size=20)
TRIPLE = st.tuples(TEXT, TEXT, TEXT)


def identity(triple: tuple[str, str, str]) -> Identity:
    tenant, principal, conversation = triple
    return Identity(tenant=tenant, principal=principal, conversation_id=conversation)


def test_an_identity_is_named_by_keywords_and_compares_by_content() -> None:
    mine = Identity(tenant="acme", principal="alice", conversation_id="t-42")

    assert mine == MemoryIdentity(conversation_id="t-42", principal="alice", tenant="acme")
    assert len({mine, Identity(tenant="acme", principal="alice", conversation_id="t-42")}) == 1
    assert pickle.loads(pickle.dumps(mine)) == mine


def test_an_identity_stands_in_recorded_state_under_its_wire_keys() -> None:
    frozen = freeze({"runIdentity": Identity(tenant="acme", conversation_id="c")})

    assert thaw(frozen) == {"runIdentity": {"conversationId": "c", "tenant": "acme"}}


def test_there_is_one_spelling_of_absence() -> None:
    empty = Identity(tenant="", principal="", conversation_id="c")

    assert empty == Identity(conversation_id="c")
    assert thaw(empty) == {"conversationId": "c"}
    assert identity_namespace(empty) == "_/_/c"
    assert identity_namespace(identity_from_wire({})) == "_/_/_"


def test_an_identity_is_read_from_the_wire_without_the_keys_of_later_releases() -> None:
    read = identity_from_wire({"conversationId": "c", "principal": "p", "region": "eu"})

    assert read == Identity(conversation_id="c", principal="p")


@pytest.mark.parametrize("value", [0, False, 42, b"secret-corp", ["secret-corp"], {"t": "secret-corp"}, object()])
@pytest.mark.parametrize("field", ["tenant", "principal", "conversation_id"])
def test_a_field_that_is_no_text_is_refused_without_showing_it(field: str, value: Any) -> None:
    with pytest.raises(IdentityError, match="neither text nor left out") as caught:
        Identity(**{"conversation_id": "c", field: value})

    shown = "".join(traceback.format_exception(caught.value))
    assert isinstance(caught.value, TypeError)
    assert "secret-corp" not in shown
    assert "42" not in str(caught.value)


def in_a_conversation(raw: str) -> Identity:
    return Identity(conversation_id=raw)


@pytest.mark.parametrize("make", [in_a_conversation, scope_segment])
def test_half_a_surrogate_pair_is_refused_without_showing_it(make: Any) -> None:
    raw = "secret-corp\ud800"

    with pytest.raises(IdentityError, match="surrogate") as caught:
        make(raw)

    assert caught.value.__context__ is None
    assert "secret-corp" not in "".join(traceback.format_exception(caught.value))


@given(st.text())
def test_a_present_field_decodes_to_itself(raw: str) -> None:
    encoded = encode_identity_field(raw)

    assert "/" not in encoded
    if raw:
        assert decode_present_identity_field(encoded) == raw
    else:
        assert encoded == IDENTITY_ABSENT


@given(st.text(alphabet=st.sampled_from("%25F2fabA_/")))
def test_only_what_the_encoder_writes_is_decoded(encoded: str) -> None:
    try:
        raw = decode_present_identity_field(encoded)
    except IdentityError:
        return

    assert encode_identity_field(raw) == encoded


def test_an_escaped_escape_is_decoded_once() -> None:
    assert decode_present_identity_field("%252F") == "%2F"
    assert decode_present_identity_field("%255F") == "%5F"


@pytest.mark.parametrize("encoded", ["", "_", "a/b", "100%", "a%2fb", "a%5Fb", "%5F%5F", "a%20b", 42, None, b"a"])
def test_a_segment_that_was_never_written_is_refused(encoded: Any) -> None:
    with pytest.raises(IdentityError):
        decode_present_identity_field(encoded)


def test_a_value_that_looks_like_absence_is_kept_apart() -> None:
    assert distinct_from_absent("_") == "%5F"
    assert distinct_from_absent("a_") == "a_"


def test_no_two_adversarial_identities_share_a_namespace_or_a_path() -> None:
    tuples = set(itertools.product(ADVERSARIAL, ADVERSARIAL, ADVERSARIAL))

    namespaces = {identity_namespace(identity(triple)) for triple in tuples}
    paths = {"/".join(scope_segments(identity(triple))).casefold() for triple in tuples}

    assert len(namespaces) == len(tuples)
    assert len(paths) == len(tuples)


@given(TRIPLE, TRIPLE)
def test_the_namespace_is_injective(left: tuple[str, str, str], right: tuple[str, str, str]) -> None:
    namespaces = [identity_namespace(identity(triple)) for triple in (left, right)]

    assert all(namespace.count("/") == 2 for namespace in namespaces)
    assert (namespaces[0] == namespaces[1]) == (left == right)


@given(TRIPLE, TRIPLE)
def test_paths_are_injective_even_where_case_is_folded(left: tuple[str, str, str], right: tuple[str, str, str]) -> None:
    one, two = (scope_key_prefix(identity(triple)) for triple in (left, right))

    assert (one.casefold() == two.casefold()) == (left == right)
    assert one.isascii()
    assert all(segment not in {"", ".", ".."} for segment in one[:-1].split("/"))


def test_a_prefix_stands_below_its_root() -> None:
    who = Identity(tenant="Acme", conversation_id="c")

    assert scope_key_prefix(who) == "~acme/_/c/"
    assert scope_key_prefix(who, root="/stores/artifacts//") == "stores/artifacts/~acme/_/c/"


@pytest.mark.parametrize("root", ["", "  ", "/", "//", "..", "a/../b", None, 3])
def test_a_root_that_leads_nowhere_or_out_is_refused(root: Any) -> None:
    with pytest.raises(IdentityError, match="root folder"):
        normalize_scope_root(root)


def test_a_text_of_a_subclass_counts_as_what_it_reads() -> None:
    class Loud(str):
        __slots__ = ()

        def __str__(self) -> str:
            return self.upper()

    assert identity_namespace(Identity(tenant=Loud("acme"), conversation_id="c")) == "acme/_/c"
    assert type(Identity(tenant=Loud("acme"), conversation_id="c").tenant) is str
