"""Whom does a piece of state belong to, and under which key or path does that stand?

Invariants: every mapping here is injective over the tuples (tenant, principal, conversation), so two identities never
share a key or a path, also on a file system that folds case; the encodings are stable for ever, since stores keep them
as long-lived keys; no error names a value (07 s.1, s.13).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from msgspec.structs import force_setattr

from agentfootprint.errors import AgentFootprintError
from agentfootprint.trace import Record

__all__ = [
    "IDENTITY_ABSENT",
    "Identity",
    "MemoryIdentity",
    "decode_present_identity_field",
    "distinct_from_absent",
    "encode_identity_field",
    "identity_namespace",
    "scope_key_prefix",
    "scope_segments",
]

IDENTITY_ABSENT: Final = "_"
"""The one spelling of an absent field in keys and paths (ID-1)."""

_ESCAPED_ABSENT: Final = "%5F"
_ESCAPES: Final = {"%25": "%", "%2F": "/", _ESCAPED_ABSENT: IDENTITY_ABSENT}
_ANY_ESCAPE: Final = re.compile("%25|%2F|%5F")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_UPPER: Final = re.compile("[A-Z]")
_KEPT_IN_PATHS: Final = "-_!~*'()"  # beside letters and digits; "." too, which is then escaped by hand


class IdentityError(AgentFootprintError, TypeError):
    """A field of an identity, or an encoded one, can't be used; the message never shows it (ID-4)."""

    code = "ERR_IDENTITY"


def _not_text() -> IdentityError:
    return IdentityError(
        "A field of an identity is neither text nor left out.",
        fix="Convert it to text where the identity is made.",
    )


def _not_unicode() -> IdentityError:
    return IdentityError(
        "A field of an identity holds half of a surrogate pair, which no store can write.",
        fix="Decode it as UTF-8 where the identity is made.",
    )


def _plain_text(raw: object) -> str:
    """The exact text of a field, `""` when it is absent; whether it can be written is not asked."""
    if raw is None:
        return ""
    if not isinstance(raw, str):
        raise _not_text()
    return str.__str__(raw)  # a subclass may print otherwise than it reads


class Identity(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """Whose state this is. One type serves memory, artifacts, sessions and credentials.

    Two identities are equal exactly when their namespaces are. An empty text counts as left out (ID-1).

    Args:
        conversation_id: The conversation; the only field that is required.
        principal: The person or service that speaks.
        tenant: The customer the principal belongs to.

    Raises:
        IdentityError: A field is not text, or holds half of a surrogate pair. The message never shows it.

    Example:
        >>> identity_namespace(Identity(tenant="acme", principal="alice", conversation_id="t-42"))
        'acme/alice/t-42'
    """

    conversation_id: str
    principal: str | None = None
    tenant: str | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "conversation_id", _writable_text(self.conversation_id))
        force_setattr(self, "principal", _writable_text(self.principal) or None)
        force_setattr(self, "tenant", _writable_text(self.tenant) or None)


MemoryIdentity = Identity
"""The older name of `Identity`, kept as an alias."""


def _writable_text(raw: object) -> str:
    text = _plain_text(raw)
    if not text.isascii() and _SURROGATE.search(text):  # asked beforehand: UnicodeEncodeError carries the value
        raise _not_unicode()
    return text


def identity_from_wire(raw: Mapping[str, Any]) -> Identity:
    """Read `{"tenant"?, "principal"?, "conversationId"}`; unknown keys are ignored.

    Raises:
        IdentityError: A field is not text.
    """
    return Identity(
        conversation_id=raw.get("conversationId", ""),
        principal=raw.get("principal"),
        tenant=raw.get("tenant"),
    )


def distinct_from_absent(escaped: str) -> str:
    """Keep a present value apart from the mark of absence (ID-3).

    Args:
        escaped: A text whose `%` are escaped already; otherwise the result would not be injective.
    """
    return _ESCAPED_ABSENT if escaped == IDENTITY_ABSENT else escaped


def encode_identity_field(raw: str | None) -> str:
    """One segment of a key: absent gives `_`; `%`, `/` and a lone `_` are escaped, nothing else is touched (ID-2).

    Raises:
        IdentityError: `raw` is neither text nor `None`.
    """
    text = _plain_text(raw)
    if not text:
        return IDENTITY_ABSENT
    return distinct_from_absent(text.replace("%", "%25").replace("/", "%2F"))


def decode_present_identity_field(encoded: str) -> str:
    """The value that a segment stands for: the strict inverse of `encode_identity_field` (ID-5).

    Raises:
        IdentityError: The segment says "absent", or is not exactly what the encoder writes.
    """
    if not isinstance(encoded, str) or not encoded or encoded == IDENTITY_ABSENT:  # pyright: ignore[reportUnnecessaryIsInstance]  segments come from stores
        raise IdentityError(
            "This segment of a namespace is not that of a present field.",
            fix="Decode only segments that encode_identity_field wrote for a value.",
        )
    raw = _ANY_ESCAPE.sub(lambda escape: _ESCAPES[escape.group()], encoded)  # one pass: %252F is %2F, not a slash
    if encode_identity_field(raw) != encoded:
        raise IdentityError(
            "This segment of a namespace is spelt in a way that the encoder never writes.",
            fix="Decode only segments that encode_identity_field wrote.",
        )
    return raw


def identity_namespace(identity: Identity) -> str:
    """The key of everything an identity owns: `tenant/principal/conversation`, each encoded (ID-6).

    It is a key, not a path: for file systems and object stores use `scope_segments` (ID-9).
    """
    return "/".join(
        (
            encode_identity_field(identity.tenant),
            encode_identity_field(identity.principal),
            encode_identity_field(identity.conversation_id),
        )
    )


def scope_segment(raw: str | None) -> str:
    """One segment of a path: safe in file systems and object keys, and injective where case is folded (ART-12).

    Raises:
        IdentityError: `raw` is neither text nor `None`, or holds half of a surrogate pair.
    """
    text = _writable_text(raw)
    if not text:
        return IDENTITY_ABSENT
    unfolded = _UPPER.sub(lambda letter: "~" + letter.group().lower(), text.replace("~", "~~"))
    return distinct_from_absent(quote(unfolded, safe=_KEPT_IN_PATHS).replace(".", "%2E"))


def scope_segments(identity: Identity) -> tuple[str, str, str]:
    """Tenant, principal and conversation as three segments of a path (ART-12)."""
    return (
        scope_segment(identity.tenant),
        scope_segment(identity.principal),
        scope_segment(identity.conversation_id),
    )


def scope_key_prefix(identity: Identity, *, root: str | None = None) -> str:
    """The prefix of all object keys of an identity: `[root/]tenant/principal/conversation/`.

    Args:
        identity: The owner.
        root: A folder above, without `..`; slashes around it are dropped.

    Raises:
        IdentityError: The root is blank or holds `..`.
    """
    segments = "/".join(scope_segments(identity)) + "/"
    return segments if root is None else f"{normalize_scope_root(root)}/{segments}"


def normalize_scope_root(root: str) -> str:
    """A root folder without slashes around it.

    Raises:
        IdentityError: It is not text, is blank, or holds `..`.
    """
    trimmed = root.strip("/") if isinstance(root, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance]  it comes from settings
    if not trimmed.strip() or ".." in trimmed:
        raise IdentityError(
            "The root folder of a store is blank, or leads out of itself with '..'.",
            fix="Give a relative folder such as 'artifacts'.",
        )
    return trimmed
