"""Tests of agentfootprint.recording.embeddings."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given

from agentfootprint.recording import summarize_embeddings
from agentfootprint.trace import freeze
from tests.events.strategies import json_values


@given(json_values)
def test_nothing_given_is_changed_and_a_second_time_changes_nothing(value: Any) -> None:
    before = copy.deepcopy(value)

    once = summarize_embeddings(value)

    assert value == before
    assert summarize_embeddings(once) == once


def test_what_holds_no_vector_is_handed_back_itself() -> None:
    plain: dict[str, Any] = {"a": [1, 2, 3], "b": {"embedding": "none", "embeddings": [1, 2]}, "c": {"embedding": []}}

    assert summarize_embeddings(plain) is plain


def test_a_shared_node_is_summarised_once() -> None:
    node = {"embedding": [3, 4]}

    one, two = summarize_embeddings([node, node])

    assert one is two
    assert one == {"embedding": {"dims": 2, "norm": 5}}


def test_a_value_that_holds_itself_ends() -> None:
    value: dict[str, Any] = {"embedding": [3.0, 4.0]}
    value["self"] = value

    assert summarize_embeddings(value)["embedding"] == {"dims": 2, "norm": 5}


def test_frozen_values_are_read_too() -> None:
    assert summarize_embeddings(freeze({"x": {"embedding": [1, 2]}}))["x"]["embedding"]["norm"] == 2.2361
