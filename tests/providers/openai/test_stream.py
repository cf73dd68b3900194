"""Tests of agentfootprint.providers.openai.stream."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.llm import LLMResponse, ProviderStreamError
from agentfootprint.providers.arguments import CallReader
from agentfootprint.providers.openai.stream import Assembler

Fragment = dict[str, Any]


def piece(args: Any = None, *, index: int | None = None, id: str | None = None, name: str | None = None) -> Fragment:
    """A fragment of a call; what is left out is not there."""
    function = {key: given for key, given in (("name", name), ("arguments", args)) if given is not None}
    top = {key: given for key, given in (("index", index), ("id", id)) if given is not None}
    return {**top, "function": function}


def heard(*deltas: list[Fragment]) -> LLMResponse:
    """What some deltas of calls add up to."""
    assembler = Assembler(CallReader("openai", prefix="m-"))
    for fragments in deltas:
        assembler.feed({"id": "r", "choices": [{"index": 0, "delta": {"tool_calls": fragments}}]})
    assembler.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    return assembler.finish()


def calls(*deltas: list[Fragment]) -> list[tuple[str, str, Any]]:
    """Id, name and arguments of each call; `None` for arguments that can't be read."""
    return [(call.id, call.name, None if call.args_error else dict(call.args)) for call in heard(*deltas).tool_calls]


def test_a_new_id_at_a_used_index_begins_a_call_and_a_known_one_goes_on() -> None:
    found = calls(
        [piece("", index=0, id="a", name="x")],
        [piece('{"k":', index=0)],
        [piece("1}", index=0, id="a")],
        [piece("", index=0, id="b", name="x")],
        [piece('{"k":2}', index=0)],
    )

    assert found == [("a", "x", {"k": 1}), ("b", "x", {"k": 2})]


def test_a_fragment_with_neither_index_nor_id_goes_to_the_call_begun_last() -> None:
    found = calls([piece(id="a", name="x")], [piece('{"k":')], [piece("1}")], [piece(id="b", name="y")], [piece("{}")])

    assert found == [("a", "x", {"k": 1}), ("b", "y", {})]


def test_calls_come_in_the_order_of_their_index() -> None:
    found = calls([piece("{}", index=1, id="b", name="y")], [piece("{}", index=0, id="a", name="x")])

    assert [call_id for call_id, *_ in found] == ["a", "b"]


def test_an_id_that_comes_late_belongs_to_the_call_that_was_begun() -> None:
    found = calls([piece("", index=0, name="x")], [piece("{}", index=0, id="a")])

    assert found == [("a", "x", {})]


def test_the_last_name_wins_and_a_name_that_is_repeated_begins_nothing() -> None:
    assert calls([piece("", index=0, id="a", name="x")], [piece("{}", index=0, name="y")]) == [("a", "y", {})]
    repeated = [[piece(part, index=0, id="a", name="x")] for part in ('{"k"', ":", "1", "}", "")]
    assert calls(*repeated) == [("a", "x", {"k": 1})]


@pytest.mark.parametrize("second", ["x", "y"])
@pytest.mark.parametrize("index", [None, 0])
def test_whole_calls_under_one_index_without_ids_are_told_apart(index: int | None, second: str) -> None:
    first = piece('{"k":1}', index=index, name="x")

    found = calls([first], [piece('{"k":2}', index=index, name=second)])

    assert found == [("m-1", "x", {"k": 1}), ("m-2", second, {"k": 2})]


def test_whole_calls_side_by_side_without_index_and_id_are_told_apart() -> None:
    assert calls([piece("", name="x"), piece("", name="y")]) == [("m-1", "x", {}), ("m-2", "y", {})]


def test_arguments_of_two_kinds_are_no_arguments() -> None:
    assert calls([piece({"k": 1}, index=0, id="a", name="x")], [piece('{"k":2}', index=0)]) == [("a", "x", None)]
    assert calls([piece([1], index=0, id="a", name="x")]) == [("a", "x", None)]


def test_a_call_that_names_no_tool_is_refused() -> None:
    with pytest.raises(ProviderStreamError, match="without the name"):
        calls([piece("{}", index=0, id="a")])


def test_other_choices_than_the_first_are_not_read() -> None:
    assembler = Assembler(CallReader("openai", prefix="m-"))
    assembler.feed({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]})
    assembler.feed({"choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}]})

    assert assembler.finish().content == "yes"


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thinking_of_compatible_servers_stays_out_of_the_text(key: str) -> None:
    assembler = Assembler(CallReader("openai", prefix="m-"))

    added = assembler.feed({"choices": [{"index": 0, "delta": {key: "hm", "content": "42"}, "finish_reason": "stop"}]})

    assert added == ("42", "hm")
    assert assembler.finish().raw_thinking == {"kind": "field", "thinking": "hm"}


@pytest.mark.parametrize("junk", [{}, {"choices": None}, {"choices": [7]}, {"choices": [{"delta": "x"}]}, {"usage": 3}])
def test_chunks_that_say_nothing_add_nothing(junk: dict[str, Any]) -> None:
    assembler = Assembler(CallReader("openai", prefix="m-"))

    assert assembler.feed(junk) == ("", "")
