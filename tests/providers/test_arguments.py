"""Tests of agentfootprint.providers.arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.llm import MalformedToolArgsError, ProviderStreamError
from agentfootprint.providers.arguments import CallReader, Proposed, complete_object
from agentfootprint.trace import thaw

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("abc", max_size=3), JSON, max_size=3)


def reader(policy: Any = "report") -> CallReader:
    return CallReader("openai", policy=policy, prefix="m-")


@given(OBJECTS)
def test_arguments_that_are_an_object_come_back_as_they_were(args: dict[str, Any]) -> None:
    for raw in (args, json.dumps(args), f" {json.dumps(args, ensure_ascii=False)}\n"):
        (call,) = reader().read([Proposed("c", "t", raw)])
        assert (thaw(call.args), call.args_error) == (args, None)


@given(OBJECTS, st.data())
def test_arguments_that_were_cut_are_never_arguments(args: dict[str, Any], data: st.DataObject) -> None:
    whole = json.dumps(args)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]

    (call,) = reader().read([Proposed("c", "t", cut, 3)])

    assert call.args_error is not None
    assert (dict(call.args), call.args_error.raw_length, call.args_error.block_index) == ({}, len(cut), 3)
    assert not complete_object(cut)


@pytest.mark.parametrize("raw", [None, "", " \n"])
def test_no_arguments_are_an_empty_object(raw: str | None) -> None:
    (call,) = reader("raise").read([Proposed("c", "t", raw)])

    assert (dict(call.args), call.args_error) == ({}, None)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("secret", "they are not JSON"),
        ('{"secret": NaN}', "they are not JSON"),
        ("[" * 100_000, "they are not"),
        ('"{}"', "they are a text and no object"),
        ('""', "they are a text and no object"),
        ("null", "they are null and no object"),
        ("[1]", "they are a list and no object"),
        ([1], "they are a list and no object"),
        ('{"secret": 1e999}', "not finite"),
        ('{"secret": "\\ud800"}', "surrogate"),
    ],
)
def test_what_was_wrong_is_told_and_the_text_is_not(raw: object, problem: str) -> None:
    (call,) = reader().read([Proposed("c", "t", raw)])
    (emptied,) = reader("empty").read([Proposed("c", "t", raw)])

    assert call.args_error is not None
    assert problem in call.args_error.problem or "nested" in call.args_error.problem
    assert call.args_error.raw_length == (len(raw) if isinstance(raw, str) else 0)
    assert (dict(emptied.args), emptied.args_error) == ({}, None)
    with pytest.raises(MalformedToolArgsError) as caught:
        reader("raise").read([Proposed("c", "t", raw)])
    assert "[1]" not in str(caught.value)


def test_ids_that_are_missing_are_minted_and_ids_that_repeat_are_told_apart() -> None:
    one = reader()

    first = one.read(
        [Proposed("", "t", "{}"), Proposed("x", "t", "{}"), Proposed("x", "t", "{}"), Proposed("x", "t", "")]
    )
    second = one.with_policy("raise").read([Proposed("x", "t", "{}"), Proposed("", "t", "{}")])

    assert [call.id for call in first] == ["m-1", "x", "x-dup1", "x-dup2"]
    assert [call.provider_meta for call in first[2:]] == [{"wireId": "x"}, {"wireId": "x"}]
    assert [call.id for call in second] == ["x", "m-2"]


def test_a_call_without_a_name_is_refused() -> None:
    with pytest.raises(ProviderStreamError, match="name of a tool"):
        reader().read([Proposed("c", "", "{}")])
