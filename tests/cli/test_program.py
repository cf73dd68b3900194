"""Tests of agentfootprint.cli.program."""

from __future__ import annotations

import re
import shlex
import socket
import webbrowser
from pathlib import Path
from typing import Any

import pytest
import typer.main

from agentfootprint.cli import audit, doctor, importing, serving, show, why
from agentfootprint.cli import program as front
from agentfootprint.cli.demo import command as demo
from agentfootprint.cli.streams import GLOBAL_OPTIONS
from tests.cli.commands import afp, widest
from tests.landed import ROOT
from tests.pages import blocks

HELPS = {
    "audit": audit.HELP,
    "demo": demo.HELP,
    "doctor": doctor.HELP,
    "import": importing.HELP,
    "serve": serving.HELP,
    "show": show.HELP,
    "why": why.HELP,
}


def commands() -> dict[str, Any]:
    """The commands of the program, hidden ones too."""
    group: Any = typer.main.get_command(front.app)
    return group.commands


def options_of(command: str) -> set[str]:
    """The options a command really has, the common ones left out."""
    found = commands()[command]
    return {name for param in found.params for name in (*param.opts, *param.secondary_opts) if name.startswith("-")}


def test_the_overview_is_the_one_of_the_first_hour() -> None:
    ran = afp("--help")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out == front.HELP
    assert "why       Which context reached the answer; --prove tests it." in ran.out
    assert widest(ran.out) <= 80
    assert len(ran.out.splitlines()) <= 24


def test_only_what_is_built_stands_in_the_overview() -> None:
    named = re.findall(r"^(?:\w+ {2,}| {9})(\w+) {2,}\w", front.HELP.partition("Options")[0], re.MULTILINE)

    built = {name for name, command in commands().items() if not command.hidden}
    assert set(named) == built == set(HELPS)


@pytest.mark.parametrize("command", HELPS)
def test_a_commands_help_says_what_it_takes(command: str) -> None:
    ran = afp(command, "--help")

    assert (ran.code, ran.err, ran.out) == (0, "", HELPS[command])
    assert widest(ran.out) <= 80
    written = set(re.findall(r"(?<=[ \n])--?[a-z][a-z-]*", ran.out.partition("Examples")[0])) - {*GLOBAL_OPTIONS}
    assert written - options_of(command) == set(), "written and not there"
    assert options_of(command) - written == set(), "there and not written"
    assert f"Usage: agentfootprint {command}" in ran.out


def anywhere(*_: object) -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


async def at_once(*_: object, sockets: list[socket.socket]) -> None:
    """A server that ends when it has begun."""


@pytest.mark.parametrize(
    ("command", "example"),
    [
        (command, example)
        for command, text in HELPS.items()
        for example in re.findall(r"agentfootprint [^\n]+", text.partition("Examples")[2])
    ],
)
def test_every_example_runs(command: str, example: str, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(serving, "_bound", anywhere)
    monkeypatch.setattr("uvicorn.Server.serve", at_once)
    program, *words = shlex.split(example)

    assert program == "agentfootprint"
    assert afp(*words).code == 0
    assert bool(opened) is ("--open" in words)


def test_every_command_has_an_example() -> None:
    assert all("Examples   agentfootprint " in text for text in HELPS.values())


def test_without_a_command_the_overview_goes_to_stderr() -> None:
    ran = afp()

    assert (ran.code, ran.out) == (2, "")
    assert ran.err == front.HELP


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["wy"], "Did you mean 'why'?"),
        (["why", "run.json", "--provee"], "--prove"),
        (["show", "a.json", "b", "c"], "c"),
        (["--jsno", "why"], "--jsno"),
        (["import", "log.json"], "--to"),
        (["why", "run.json", "--runs", "0", "--prove"], "--runs"),
    ],
)
def test_a_word_that_is_not_understood_is_two_lines(words: list[str], said: str) -> None:
    ran = afp(*words)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert "[ERR_USAGE]" in ran.err
    assert "  fix: See agentfootprint" in ran.err
    assert said in ran.err
    assert widest(ran.err) <= 80


def test_a_usage_error_is_json_when_json_was_asked_for() -> None:
    ran = afp("wy", "--json")

    assert (ran.code, ran.err) == (2, "")
    assert ran.json["error"]["code"] == "ERR_USAGE"


def test_common_options_stand_before_and_after_the_command(desk: Path) -> None:
    assert desk.is_dir()
    assert afp("--json", "show", "run.json").out == afp("show", "run.json", "--json").out
    assert afp("-q", "why", "run.json").out == afp("why", "run.json", "-q").out
    assert "\x1b[34m[recorded]" in afp("--color", "why", "run.json").out
    assert "\x1b[" not in afp("--no-color", "why", "run.json", env={"FORCE_COLOR": "1"}).out


def test_a_bug_exits_with_70(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(why, "one_line", fail)

    ran = afp("why", "run.json", "-q")

    assert desk.is_dir()
    assert (ran.code, ran.out) == (70, "")
    assert "[ERR_INTERNAL]" in ran.err
    kept = re.search(r"written to\s+(\S+)\.\n", ran.err)
    assert kept is not None
    Path(kept[1]).unlink()


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "_sqlite", interrupted)

    assert afp("doctor").code == 130


@pytest.mark.usefixtures("here")
def test_the_manual_shows_what_the_commands_print() -> None:
    shown = [
        block.code for block in blocks(ROOT / "docs" / "how-to" / "command-line.md") if block.language == "console"
    ]
    parts = [part for code in shown for part in re.split(r"^\$ ", code, flags=re.MULTILINE) if part]

    for part in parts:
        command, _, printed = part.partition("\n")
        program, *words = shlex.split(command)
        assert program == "agentfootprint"
        assert without_clocks(afp(*words).out) == without_clocks(printed), command


def without_clocks(text: str) -> str:
    return re.sub(r" +(?:under )?[\d.]+ s(?=\.?\n)|^run-\S+| +[\d,]+ KB", " _", text, flags=re.MULTILINE)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_a_command_json_says_what_is_wrong() -> None:
    ran = afp("--json")

    assert (ran.code, ran.err) == (2, "")
    assert ran.json["error"]["code"] == "ERR_USAGE"
    assert ran.json["error"]["problem"] == "No command is named."
