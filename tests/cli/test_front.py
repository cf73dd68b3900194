"""Tests of agentfootprint.cli.front."""

from __future__ import annotations

import sys

import pytest
import typer
import typer.main
from typer.core import TyperGroup

from agentfootprint.cli.front import Command, Front, streams_of
from agentfootprint.errors import AgentFootprintError

HELP = "Usage: agentfootprint act\n\nKept   as it was written,\n       --blanks   and all.\n"


def program() -> Front:
    """A program with one command, made of the two classes."""
    app = typer.Typer(cls=Front, add_completion=False, rich_markup_mode=None)

    @app.callback()
    def front() -> None:
        """A program."""

    @app.command("act", cls=Command, help=HELP)
    def act(context: typer.Context, how: str) -> None:
        streams = streams_of(context)
        if how == "exit":
            raise typer.Exit(1)
        if how == "refuse":
            raise AgentFootprintError("It can't be done.", fix="Don't.")
        if how == "interrupt":
            raise KeyboardInterrupt
        streams.say(f"{how} {streams.as_json}")

    command = typer.main.get_command(app)
    assert isinstance(command, Front)
    assert callable(front)
    assert callable(act)
    return command


@pytest.mark.parametrize(("how", "code"), [("done", 0), ("exit", 1), ("refuse", 2), ("interrupt", 130)])
def test_whatever_happens_is_an_exit_code(how: str, code: int) -> None:
    assert program().main(["act", how, "-qq"], standalone_mode=False) == code
    with pytest.raises(SystemExit) as left:
        program().main(["act", how, "-qq"])
    assert left.value.code == code


def test_the_words_of_the_process_are_read_when_none_are_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["agentfootprint", "act", "done", "--json"])

    assert program().main(standalone_mode=False) == 0
    assert capsys.readouterr().out == ""


def test_a_help_text_is_printed_as_it_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert program().main(["act", "--help"], standalone_mode=False) == 0
    assert capsys.readouterr().out == HELP


def test_the_program_has_one_name_however_it_was_started(capsys: pytest.CaptureFixture[str]) -> None:
    assert program().main(["act"], prog_name="other", standalone_mode=False) == 2
    assert "See agentfootprint act --help." in capsys.readouterr().err


@pytest.mark.parametrize("moment", ["act", "parse"])
def test_an_interrupt_is_said_whenever_it_comes(
    moment: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if moment == "parse":

        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(TyperGroup, "make_context", interrupted)

    assert program().main(["act", "interrupt"], standalone_mode=False) == 130
    assert capsys.readouterr() == ("", "Interrupted.\n")
