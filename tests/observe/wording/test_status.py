"""Tests of agentfootprint.observe.wording.status."""

from __future__ import annotations

from typing import Any

from agentfootprint import Agent, Mock, tool
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import StatusLine, render_status, select_status
from agentfootprint.tools import ToolContext
from tests.observe.made import desk, event, tool_end, tool_start

TEXTS = {"idle": "…", "streaming": "writing", "tool": "{{toolName}}", "tool.progress": "{{progressMessage}}"}


def progress(call_id: str, payload: Any, **where: Any) -> Any:
    said = {"toolCallId": call_id, "toolName": "t", "iteration": 1, "payload": payload}
    return event("stream.tool_progress", said, **where)


def test_a_line_is_told_whenever_it_changes_and_only_then() -> None:
    lines: list[str] = []
    agent, status = desk(turns=2), StatusLine(lines.append, templates=TEXTS)

    with status.attach(agent):
        agent.run_sync("Weather?")

    assert lines == ["…", "writing", "weather", "…", "writing", "weather", "…", "writing"]
    assert status.line() is None


def test_a_line_that_was_hidden_is_told_again() -> None:
    lines: list[str] = []
    status = StatusLine(lines.append, templates=TEXTS)

    for _ in range(2):
        status.hear(tool_start("c1", "lookup"))
        status.hear(tool_end("c1"))

    assert lines == ["lookup", "lookup"]


def test_what_a_tool_reports_reaches_the_line_as_its_message_alone_and_cut() -> None:
    lines: list[str] = []

    @tool
    async def dig(ctx: ToolContext) -> str:
        """Dig."""
        ctx.progress({"message": "x" * 130, "secret": "swordfish"})
        return "done"

    agent = Agent(Mock([LLMResponse("", tool_calls=[ToolCall("c1", "dig", {})]), "Done."]), tools=[dig])
    with StatusLine(lines.append).attach(agent):
        agent.run_sync("Go.")

    assert "dig: " + "x" * 120 + "… (+10 more)" in lines
    assert "swordfish" not in " ".join(lines)


def test_the_latest_reporter_gives_way_when_its_call_ends() -> None:
    events = [tool_start("a", "first"), tool_start("b", "second"), progress("a", {"n": 1}), tool_end("a")]

    state = select_status(events)

    assert state is not None
    assert (state.tool_name, dict(state.vars)) == ("second", {"toolName": "second", "toolCallId": "b"})


def test_a_call_that_was_never_dispatched_never_shows() -> None:
    never = {"pausedCall": {"toolCallId": "x", "toolName": "y"}}

    assert select_status([tool_start("a", "t", not_dispatched=never)]) is None


def test_the_name_of_a_tool_speaks_no_template() -> None:
    state = select_status([tool_start("a", "{{appName}}")])

    assert render_status(state, "Desk", {"tool": "{{toolName}} of {{appName}}"}) == "{{appName}} of Desk"


def test_a_failure_and_an_end_leave_nothing_open() -> None:
    start = {"iteration": 1, "provider": "p", "model": "m", "systemPromptChars": 0, "messagesCount": 1, "toolsCount": 0}
    open_ends = [event("stream.llm_start", start, at="call-llm#1"), tool_start("a", "t")]

    assert select_status([*open_ends, event("error.fatal", {"error": "no", "stage": "s", "scope": "run"})]) is None


def test_text_that_is_dropped_and_begun_again_is_not_shown() -> None:
    start = {"iteration": 1, "provider": "p", "model": "m", "systemPromptChars": 0, "messagesCount": 1, "toolsCount": 0}
    token = {"iteration": 1, "tokenIndex": 0, "content": "Wrong"}
    events = [
        event("stream.llm_start", start),
        event("stream.token", token),
        event("stream.restarted", {"reason": "r"}),
    ]

    state = select_status(events)

    assert state is not None
    assert state.state == "idle"


def test_runs_side_by_side_have_lines_of_their_own() -> None:
    status = StatusLine(templates=TEXTS, app_name="Desk")

    status.hear(tool_start("c1", "a", run="run-1-1"))
    status.hear(tool_start("c1", "b", run="run-1-2"))

    assert (status.line("run-1-1"), status.line("run-1-2"), status.line()) == ("a", "b", "b")
    assert status.line("run-9-9") is None


def test_the_person_who_waits_reads_the_language_of_choice() -> None:
    lines: list[str] = []

    StatusLine(lines.append, locale="fr").hear(tool_start("c1", "chercher"))

    assert lines == ["J'utilise chercher…"]
