"""Tests of agentfootprint.providers.anthropic.response."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.llm import MalformedToolArgsError, ProviderStreamError, WireToolManifest
from agentfootprint.providers.anthropic.response import Reader, manifest_of

NONE = WireToolManifest(())


def message(*blocks: dict[str, Any], stop: Any = "end_turn", **more: Any) -> dict[str, Any]:
    return {"id": "msg_1", "content": list(blocks), "stop_reason": stop, **more}


def call(args: object, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "c", "name": "refund", "input": args, **more}


@pytest.mark.parametrize(
    "found", [None, [], "text", {}, {"content": None}, {"content": "text"}, {"content": ["text"]}, message(stop=None)]
)
def test_what_is_no_message_is_refused_with_the_request_it_answers(found: object) -> None:
    with pytest.raises(ProviderStreamError) as caught:
        Reader().message(found, NONE, "req_1")

    assert (caught.value.request_id, caught.value.phase) == ("req_1", "decode")


@pytest.mark.parametrize("args", [[1], 7, True, "text", '{"a": 1}', {"a": float("nan")}])
def test_arguments_that_are_no_object_are_reported_raised_or_passed_over_as_was_asked(args: object) -> None:
    (told,) = Reader().message(message(call(args), stop="tool_use"), NONE).tool_calls
    (passed,) = Reader("empty").message(message(call(args), stop="tool_use"), NONE).tool_calls
    with pytest.raises(MalformedToolArgsError) as caught:
        Reader("raise").message(message(call(args), stop="tool_use"), NONE)

    assert told.args_error is not None
    assert told.args_error.block_index == 0
    assert (dict(told.args), dict(passed.args), passed.args_error) == ({}, {}, None)
    assert (caught.value.tool, caught.value.block_index) == ("refund", 0)


def test_a_call_without_the_name_of_a_tool_is_refused() -> None:
    with pytest.raises(ProviderStreamError, match="name of a tool"):
        Reader().message(message(call({}, name=""), stop="tool_use"), NONE)


def test_calls_of_a_reply_that_ended_for_another_reason_are_not_taken_for_whole() -> None:
    cut = message(call({}), stop="stop_sequence")

    (told,) = Reader().message(cut, NONE).tool_calls
    with pytest.raises(MalformedToolArgsError):
        Reader("raise").message(cut, NONE)

    assert told.args_error is not None
    assert Reader("empty").message(cut, NONE).tool_calls[0].args_error is None


@pytest.mark.parametrize("usage", [None, [], {}, {"input_tokens": "9"}, {"input_tokens": True}, {"output_tokens": -1}])
def test_a_count_that_is_no_count_is_unknown(usage: object) -> None:
    response = Reader().message(message(usage=usage), NONE)

    assert response.usage is not None
    assert not response.usage.known


def test_the_request_names_the_reply_that_has_no_name_of_its_own() -> None:
    assert Reader().message(message() | {"id": None}, NONE, "req_9").provider_ref == "req_9"


def test_half_of_a_surrogate_pair_is_replaced() -> None:
    blocks = {"type": "text", "text": "a\ud83c"}, {"type": "text", "text": "\udf0d\ud83c"}

    assert Reader().message(message(*blocks), NONE).content == "a🌍\ufffd"


def test_the_manifest_is_read_from_the_body_in_its_order() -> None:
    assert manifest_of({"tools": [{"name": "b"}, {"name": "a"}]}).tool_names == ("b", "a")
    assert manifest_of({}).tool_names == ()
