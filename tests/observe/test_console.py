"""Tests of agentfootprint.observe.console."""

from __future__ import annotations

import io
import logging
import sys
from typing import Any

import pytest

from agentfootprint import Agent, Mock
from agentfootprint.events import ErrorFatal, Event, RunFacts, TurnStart, UnknownEvent
from agentfootprint.observe import ConsoleExporter, attach_exporter

RUN = RunFacts(run_id="run-1700000000000-1", started_at_ms=1_700_000_000_000)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def start(prompt: str) -> Event[Any]:
    return Event(TurnStart(turn_index=0, user_prompt=prompt), "seed#0", 12_000_000, RUN)


async def test_a_run_is_one_line_an_event(capsys: pytest.CaptureFixture[str]) -> None:
    agent = Agent(Mock(["Hello."]))

    with attach_exporter(agent.on, ConsoleExporter()):
        await agent.run("Hi")

    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith('{"type":"agentfootprint.agent.turn_start","turnIndex":0') for line in lines)
    assert not any("stream.token" in line for line in lines)


def test_in_a_terminal_a_line_says_when_and_is_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    exporter = ConsoleExporter()

    exporter.export(start("[bold]Hi[/bold]"))
    exporter.export(Event(ErrorFatal(error="no", stage="s", scope="run"), "s#1", 13_000_000, RUN))

    first, second = terminal.getvalue().splitlines()
    assert "12 ms" in first
    assert "agent.turn_start" in first
    assert "[bold]Hi[/bold]" in first  # somebody's text is no markup
    assert "\x1b[" in first
    assert "error.fatal" in second


def prompt_of(event: Event[Any]) -> str:
    return event.payload.user_prompt


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("form", [None, prompt_of])
def test_no_text_can_steer_the_terminal(monkeypatch: pytest.MonkeyPatch, terminal: bool, form: Any) -> None:
    out = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")

    ConsoleExporter(format=form).export(start("a\x1b[2Jb\x9bc\u202ed\u2028e\x7f\U000e0001"))

    written = out.getvalue().rstrip("\n")
    assert not {character for character in written if not character.isprintable()}
    assert "[2Jb" in written


def test_a_format_of_ones_own_is_written_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    ConsoleExporter(format=lambda event: f"{event.type}!").export(start("Hi"))

    assert capsys.readouterr().out == "agentfootprint.agent.turn_start!\n"


def test_a_logger_gets_the_line_and_the_event(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    event = start("100 %s")

    with caplog.at_level(logging.INFO, logger="shop"):
        ConsoleExporter(logger=logging.getLogger("shop")).export(event)

    (record,) = caplog.records
    assert record.getMessage().startswith('{"type":"agentfootprint.agent.turn_start"')
    assert vars(record)["event"] is event
    assert capsys.readouterr().out == ""


def test_a_payload_that_a_policy_hid_is_a_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    ConsoleExporter().export(UnknownEvent("agentfootprint.agent.turn_start", "[REDACTED]", {}))

    assert capsys.readouterr().out == '{"type":"agentfootprint.agent.turn_start","value":"[REDACTED]"}\n'
