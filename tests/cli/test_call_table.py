"""Tests of agentfootprint.cli.call_table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agentfootprint.cli.call_table import call_rows, system_records, table_text
from agentfootprint.llm import LLMMessage, ToolCall, Usage
from agentfootprint.recording import Recording
from tests.cli.commands import widest


def call(iteration: int, *, step: str = "", **more: Any) -> Any:
    given: dict[str, Any] = {
        "iteration": iteration,
        "step": step or f"call-llm#{18 + 22 * (iteration - 1)}",
        "system_text": "Be terse.",
        "pieces": ("base",),
        "messages": [LLMMessage("user", "Hi.")] * iteration,
        "tools": (),
        "tool_calls": (),
        "finished": True,
        "usage": Usage(input=1_200, output=34),
    }
    return SimpleNamespace(**{**given, **more})


def use(iteration: int | None, *, step: str = "tool-calls#22", **more: Any) -> Any:
    given: dict[str, Any] = {
        "iteration": iteration,
        "step": step,
        "tool_name": "search",
        "args": {"query": "tea"},
        "finished": True,
        "ok": True,
        "denied": False,
        "dispatched": True,
        "result": "found",
    }
    return SimpleNamespace(**{**given, **more})


def table(calls: list[Any], uses: list[Any], *, width: int = 80, whole: bool = True) -> list[str]:
    return table_text(call_rows(calls, uses), width=width, whole=whole).splitlines()


def test_a_real_run_has_a_row_a_call(recording: Recording) -> None:
    rows = call_rows(recording.calls, recording.tool_uses)

    assert [row.call.step for row in rows] == ["call-llm#18", "call-llm#40"]
    assert [[each.tool_name for each in row.uses] for row in rows] == [["lookup_order"], []]
    assert [row.tokens for row in rows] == ["70 in/0", "87 in/33"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "answered"),
        ({"finished": False, "usage": None}, "did not answer"),
        ({"tool_calls": (ToolCall("1", "a", {}), ToolCall("2", "b", {}))}, "asked for a, b"),
    ],
)
def test_what_the_model_did_is_said(more: dict[str, Any], said: str) -> None:
    (row,) = call_rows([call(1, **more)], [])

    assert row.said == said


@pytest.mark.parametrize("usage", [None, Usage(known=False)])
def test_unknown_tokens_are_unknown_and_never_zero(usage: Usage | None) -> None:
    (row,) = call_rows([call(1, usage=usage)], [])

    assert row.tokens == "unknown"
    assert "tokensIn" not in row.to_wire()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, 'search({"query":"tea"}) -> 5 characters'),
        ({"ok": False, "result": "It broke."}, 'search({"query":"tea"}) -> an error, 9 characters'),
        ({"finished": False, "result": None, "ok": False}, 'search({"query":"tea"}) -> not settled'),
        ({"denied": True, "result": "[permission denied: no]"}, 'search({"query":"tea"}) -> denied'),
        ({"dispatched": False, "ok": False}, 'search({"query":"tea"}) -> not run'),
        ({"result": None}, 'search({"query":"tea"}) -> nothing recorded'),
        ({"args": {"query": "\x1b[2J"}}, 'search({"query":"\\u001b[2J"}) -> 5 characters'),
    ],
)
def test_what_a_tool_call_came_to_is_said(more: dict[str, Any], said: str) -> None:
    assert table([call(1)], [use(1, **more)])[2].strip() == f"tool-calls#22  {said}"


def test_a_star_marks_what_changed_since_the_call_before() -> None:
    first, second = call_rows([call(1), call(2, messages=[LLMMessage("user", "Hi.")])], [])
    (_, renamed) = call_rows([call(1), call(2, system_text="Be kind.")], [])

    assert first.changed == ("system", "messages", "tools")
    assert second.changed == ()
    assert renamed.changed == ("system", "messages")


def test_long_arguments_are_cut_on_a_terminal_and_go_on_in_a_pipe() -> None:
    long = use(1, args={"query": "tea " * 40})

    cut, whole = table([call(1)], [long], whole=False), table([call(1)], [long])

    assert len(cut) == 4 < len(whole)
    assert cut[2].endswith("...) -> 5 characters")
    assert widest("\n".join([*cut, *whole])) <= 80


def test_a_long_step_id_stays_whole_on_a_line_of_its_own() -> None:
    step = "sf-research/sf-desk/call-llm#1234"

    shown = table([call(1, step=step)], [use(1, step="sf-research/sf-desk/tool-calls#1240")])

    assert shown[1] == f"1   {step}"
    assert shown[2].split() == ["answered", "1,200", "in/34", "1*", "1*", "0*"]
    assert shown[3].strip() == "sf-research/sf-desk/tool-calls#1240"
    assert widest("\n".join(shown)) <= 80


def test_a_prompt_whose_parts_are_not_recorded_is_one_record() -> None:
    assert system_records(call(1, pieces=())) == 1
    assert system_records(call(1, pieces=(), system_text="")) == 0


def test_a_block_of_calls_says_what_changed_in_it() -> None:
    calls = [call(n, messages=[LLMMessage("user", "Hi.")], system_text="a" if n < 20 else "b") for n in range(1, 61)]

    (block,) = [line for line in table(calls, [use(n) for n in range(10, 14)]) if line.startswith("6-55")]

    assert block == "6-55  50 calls  tools: search 4  changed: system in 1 call"


def test_a_call_that_waits_for_a_person_says_so() -> None:
    open_one = use(1, finished=False, ok=False, result=None)
    rows = call_rows([call(1)], [open_one], waits=True)

    lines = table_text(rows, width=80, whole=True).splitlines()

    assert lines[2].endswith('search({"query":"tea"}) -> waits for a person')
    assert rows[0].to_wire()["toolCalls"] == [{"step": "tool-calls#22", "tool": "search", "ok": False, "waits": True}]


def test_a_call_that_an_earlier_run_asked_for_stands_before_the_first_model_call() -> None:
    taken_up = use(1, step="tool-calls#23")
    rows = call_rows([call(2, step="call-llm#41")], [taken_up])

    lines = table_text(rows, width=80, whole=True).splitlines()

    assert lines[1].split() == ["1", "tool-calls#23", 'search({"query":"tea"})', "->", "5", "characters"]
    assert lines[2].split()[:2] == ["2", "call-llm#41"]
    assert rows[0].to_wire()["settledBefore"] == [
        {"step": "tool-calls#23", "tool": "search", "ok": True, "resultCharacters": 5}
    ]
