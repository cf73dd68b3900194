"""Tests of agentfootprint.cli.streams."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentfootprint.cli import streams
from agentfootprint.cli.errors import FileAccessError
from agentfootprint.cli.streams import Choices, Streams, read_choices


class Screen(io.StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("words", "choices", "rest"),
    [
        (["show", "run.json"], Choices(), ["show", "run.json"]),
        (["--json", "show", "run.json"], Choices(as_json=True), ["show", "run.json"]),
        (["show", "run.json", "--json", "-v"], Choices(as_json=True, verbose=True), ["show", "run.json"]),
        (["-q", "why", "run.json", "--quiet"], Choices(quiet=2), ["why", "run.json"]),
        (["why", "-qq"], Choices(quiet=2), ["why"]),
        (["why", "--no-color", "--color"], Choices(color=True), ["why"]),
        (["why", "--color", "--no-color"], Choices(color=False), ["why"]),
        (["why", "--", "--json"], Choices(), ["why", "--", "--json"]),
    ],
)
def test_common_options_stand_anywhere(words: list[str], choices: Choices, rest: list[str]) -> None:
    assert read_choices(words) == (choices, rest)


@pytest.mark.parametrize(("columns", "width"), [(40, 60), (80, 80), (91, 91), (200, 100)])
def test_a_terminal_is_used_from_60_to_100_columns(columns: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def size(*_: object) -> os.terminal_size:
        return os.terminal_size((columns, 24))

    monkeypatch.setattr(sys, "stdout", Screen())
    monkeypatch.setattr(streams.shutil, "get_terminal_size", size)

    assert Streams(environ={}).width == width
    assert Streams(environ={"CI": "true"}).width == 80


@pytest.mark.parametrize(
    ("environ", "choice", "on_a_terminal", "piped"),
    [
        ({}, None, True, False),
        ({"NO_COLOR": "1"}, None, False, False),
        ({"TERM": "dumb"}, None, False, False),
        ({"CI": "true"}, None, False, False),
        ({"FORCE_COLOR": "1"}, None, True, True),
        ({"FORCE_COLOR": "0"}, None, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, None, True, True),
        ({"NO_COLOR": "1"}, True, True, True),
        ({"FORCE_COLOR": "1"}, False, False, False),
    ],
)
def test_who_decides_about_colour(
    environ: dict[str, str],
    choice: bool | None,
    on_a_terminal: bool,
    piped: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streams_ = Streams(Choices(color=choice), environ)

    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert streams_.has_color() is piped
    monkeypatch.setattr(sys, "stdout", Screen())
    assert streams_.has_color() is on_a_terminal


@pytest.mark.parametrize(
    ("choices", "out", "err"),
    [
        (Choices(), "the whole\n", "a plan\na warning\nan error\n"),
        (Choices(quiet=1), "a line\n", "a warning\nan error\n"),
        (Choices(quiet=2), "", "an error\n"),
        (Choices(as_json=True), '{\n  "a": [\n    1\n  ]\n}\n', "a plan\na warning\nan error\n"),
        (Choices(as_json=True, quiet=2), '{\n  "a": [\n    1\n  ]\n}\n', "an error\n"),
    ],
)
def test_each_choice_gets_its_form_of_the_result(
    choices: Choices, out: str, err: str, capsys: pytest.CaptureFixture[str]
) -> None:
    streams_ = Streams(choices, {})

    streams_.note("a plan")
    streams_.give(text=lambda: "the whole", line=lambda: "a line", document=lambda: {"a": (1,)})
    streams_.warn("a warning")
    streams_.complain("an error")

    assert capsys.readouterr() == (out, err)


def test_colour_marks_words_and_changes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    painted = Screen()
    monkeypatch.setattr(sys, "stdout", painted)

    Streams(Choices(color=True), {}).say("CUSTODY of vip  [recorded]\nPROVEN Without [bold]vip[/bold] " + "x" * 200)

    shown = painted.getvalue()
    assert "\x1b[34m[recorded]\x1b[0m" in shown
    assert "\x1b[1;31mPROVEN\x1b[0m" in shown
    plain = shown.replace("\x1b[34m", "").replace("\x1b[1;31m", "").replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert plain == "CUSTODY of vip  [recorded]\nPROVEN Without [bold]vip[/bold] " + "x" * 200 + "\n"


def test_what_the_encoding_can_not_say_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))

    Streams(environ={}).say("Grüße")

    assert raw.getvalue() == b"Gr\\xfc\\xdfe\n"


def test_a_reader_that_leaves_ends_the_output_and_not_the_command(tmp_path: Path) -> None:
    program = (
        "from agentfootprint.cli.streams import Streams\n"
        "import pathlib\n"
        "for _ in range(3000): Streams().say('a line of text that fills the pipe')\n"
        f"pathlib.Path({str(tmp_path / 'done')!r}).touch()\n"
    )

    writer = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.readline()
    writer.stdout.close()
    complaints = writer.stderr.read()
    writer.stderr.close()

    assert (writer.wait(), complaints) == (0, b"")
    assert (tmp_path / "done").exists()


def test_a_stream_that_is_closed_gets_nothing_and_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    streams_ = Streams(Choices(as_json=True), {})

    streams_.json({"a": 1})
    Streams(environ={}).say("a result")
    streams_.complain("an error")

    assert (streams_.is_terminal(), streams_.can_ask(), streams_.width) == (False, False, 80)


def test_an_output_that_is_full_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    monkeypatch.setattr(sys, "stderr", Full())

    Streams(environ={}).complain("nobody to tell")
    with pytest.raises(FileAccessError, match=r"The output can't be written: no space left on device\."):
        Streams(environ={}).say("a result")


EVIL = "a\x1b[2J\x9b\x7f\r\u202e\u200b\u2028\udc80\U000e0001\tb"


def test_no_control_character_gets_through(capsys: pytest.CaptureFixture[str]) -> None:
    Streams(environ={}).complain(f"{EVIL}\n\ud800c")

    assert capsys.readouterr().err == ("a\\x1b[2J\\x9b\\x7f\\x0d\\u202e\\u200b\\u2028\\udc80\\U000e0001\tb\n\\ud800c\n")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_json_keeps_what_it_escapes(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))

    Streams(Choices(as_json=True), {}).json({"said": f"{EVIL}Grüße 日本 \U0001f600"})

    written = raw.getvalue().decode(encoding)
    assert json.loads(written)["said"] == f"{EVIL}Grüße 日本 \U0001f600"
    assert written.replace("\n", "").isprintable()
    assert ("日本" in written) is (encoding == "utf-8")
