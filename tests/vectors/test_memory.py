"""Tests of the pure functions of `vectors/memory`: identity keys and paths, cosine, the mock embedder."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Any, cast

import pytest

from agentfootprint.identity import (
    decode_present_identity_field,
    encode_identity_field,
    identity_from_wire,
    identity_namespace,
    normalize_scope_root,
    scope_key_prefix,
    scope_segments,
)
from agentfootprint.llm import cosine_similarity, mock_embedder
from agentfootprint.trace import fnv1a
from tests.vectors.harness import Case, assert_same, load

MEMORY = load("memory")
COVERED = (
    "artifact-scope-segments",
    "cosine",
    "identity-decode-field",
    "identity-encode-field",
    "identity-namespace",
    "mock-embedder-fnv1a",
)


def answer_or_refusal(expected: Any, call: Callable[[], Any]) -> Any:
    """What the call gives, or what the vector says of its refusal, once that is checked."""
    refusal = cast("dict[str, Any]", expected) if isinstance(expected, dict) else {}
    if "error" not in refusal:
        return call()
    kind = TypeError if refusal["error"] == "TypeError" else ValueError
    with pytest.raises(kind) as caught:
        call()
    shown = traceback.format_exception_only(caught.value)
    for secret in refusal.get("messageMustNotContain", ()):
        assert secret not in repr(caught.value)
        assert secret not in "".join(shown)
    return refusal


@pytest.mark.parametrize("case", MEMORY.cases("identity-encode-field"))
def test_encode_identity_field(case: Case) -> None:
    answer = answer_or_refusal(case.expected, lambda: {"segment": encode_identity_field(case.input["value"])})

    assert_same(answer, case.expected)


@pytest.mark.parametrize("case", MEMORY.cases("identity-decode-field"))
def test_decode_present_identity_field(case: Case) -> None:
    answer = answer_or_refusal(case.expected, lambda: {"value": decode_present_identity_field(case.input["encoded"])})

    assert_same(answer, case.expected)


@pytest.mark.parametrize("case", MEMORY.cases("identity-namespace"))
def test_identity_namespace(case: Case) -> None:
    assert_same(identity_namespace(identity_from_wire(case.input)), case.expected)


@pytest.mark.parametrize("case", MEMORY.cases("artifact-scope-segments"))
def test_scope_segments(case: Case) -> None:
    given = case.input

    def answer() -> Any:
        if "normalizeRoot" in given:
            return {"root": normalize_scope_root(given["normalizeRoot"])}
        scope = identity_from_wire(given["scope"])
        return {"segments": scope_segments(scope), "prefix": scope_key_prefix(scope, root=given["root"])}

    assert_same(answer_or_refusal(case.expected, answer), case.expected)


@pytest.mark.parametrize("case", MEMORY.cases("cosine"))
def test_cosine_similarity(case: Case) -> None:
    answer = answer_or_refusal(case.expected, lambda: cosine_similarity(case.input["a"], case.input["b"]))

    assert answer == pytest.approx(case.expected, abs=1e-12)


@pytest.mark.parametrize("case", MEMORY.cases("mock-embedder-fnv1a"))
def test_mock_embedder(case: Case) -> None:
    vector = asyncio.run(mock_embedder(case.input["dimensions"]).embed(case.input["text"]))

    assert_same(vector, case.expected["vector"])


@pytest.mark.parametrize("case", MEMORY.cases("mock-embedder-fnv1a"))
def test_fnv1a(case: Case) -> None:
    assert fnv1a(case.input["text"]) == case.expected["fnv1a"]


@pytest.mark.parametrize("file", MEMORY.not_built(*COVERED))
def test_the_topic_is_built(file: str) -> None:
    pytest.fail(f"{file} is neither covered nor skipped")
