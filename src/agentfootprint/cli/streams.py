"""Where does the output of a command go: which stream, how wide, in colour or not, as text or as JSON?

Invariants: stdout holds the result and nothing else; with JSON it is one document. Nothing is wrapped or cut here: a
text comes in at `width` columns. No control character but newline and tab gets through, whoever made the text. A reader
that closes the pipe, or never was there, ends the output and not the command.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TextIO, TypeAlias, cast

from agentfootprint.cli.errors import FileAccessError

__all__ = ["GLOBAL_OPTIONS", "Choices", "Streams", "read_choices"]

NARROWEST: Final = 60
WIDEST: Final = 100
PIPED: Final = 80
_QUIETER: Final = 2
"""`-qq`: the exit code is the answer."""
_BASIC: Final = 0xFFFF
"""The last character that JSON spells as one escape."""

GLOBAL_OPTIONS: Final = ("--json", "-q", "-qq", "--quiet", "-v", "--verbose", "--color", "--no-color")
"""What may stand before or after the command's name (experience, section 9)."""

Side: TypeAlias = Literal["out", "err"]

_STYLES: Final = (
    (re.compile(r"^error:", re.MULTILINE), "bold red"),
    (re.compile(r"^ {2}fix:", re.MULTILINE), "bold"),
    (re.compile(r"^PROVEN\b", re.MULTILINE), "bold red"),
    (re.compile(r"^ {3}confirmed\b", re.MULTILINE), "red"),
    (re.compile(r"^ {9}> .*$", re.MULTILINE), "red"),
    (re.compile(r"\[recorded\]"), "blue"),
    (re.compile(r"\[(?:ranked[^\]]*|[\w-]+ can't order these)\]"), "yellow"),
    (
        re.compile(
            r"^(?:WHY|SOURCES|CUSTODY|MISSING|LIMITS|ANSWER|RECORDING|PLAN|PROVE|READ|WROTE|NEXT)\b", re.MULTILINE
        ),
        "bold",
    ),
)
"""What stands out in colour; the word itself always says the same (experience, section 1, rule 6)."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the options that every command takes say."""

    as_json: bool = False
    quiet: int = 0
    verbose: bool = False
    color: bool | None = None
    """`None`: as the terminal and the environment say."""


def read_choices(arguments: Sequence[str]) -> tuple[Choices, list[str]]:
    """Take the options of every command out of a command line; they may stand anywhere before `--`.

    Args:
        arguments: The words after the program's name.

    Returns:
        What they say, and the other words in order.
    """
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    given = [word for word in words[:end] if word in GLOBAL_OPTIONS]
    rest = [word for word in words[:end] if word not in GLOBAL_OPTIONS] + words[end:]
    colors = [word for word in given if word in ("--color", "--no-color")]
    return (
        Choices(
            as_json="--json" in given,
            quiet=sum({"-q": 1, "--quiet": 1, "-qq": 2}.get(word, 0) for word in given),
            verbose="-v" in given or "--verbose" in given,
            color=colors[-1] == "--color" if colors else None,
        ),
        rest,
    )


@dataclass(slots=True)
class Streams:
    """The two streams of one command, and how much of what is said goes there."""

    choices: Choices = field(default_factory=Choices)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def as_json(self) -> bool:
        """Whether stdout gets one JSON document."""
        return self.choices.as_json

    @property
    def is_brief(self) -> bool:
        """Whether the result is to be one line."""
        return self.choices.quiet == 1 and not self.as_json

    @property
    def width(self) -> int:
        """Columns of the result: the terminal's, from 60 to 100, and 80 without one."""
        return self._width("out")

    @property
    def error_width(self) -> int:
        """Columns of what goes to stderr."""
        return self._width("err")

    def _width(self, side: Side) -> int:
        if not self.is_terminal(side):
            return PIPED
        return min(max(shutil.get_terminal_size((PIPED, 24)).columns, NARROWEST), WIDEST)

    def is_terminal(self, side: Side = "out") -> bool:
        """Whether a person looks at that stream; in CI nobody does."""
        stream = _stream(side)
        return stream is not None and stream.isatty() and not self.environ.get("CI")

    def can_ask(self) -> bool:
        """Whether a person can be asked a question."""
        stdin = cast("TextIO | None", sys.stdin)  # as `<&-` leaves it
        return stdin is not None and stdin.isatty() and self.is_terminal("err")

    def has_color(self, side: Side = "out") -> bool:
        """Whether that stream gets colour (experience, section 2)."""
        if self.choices.color is not None:
            return self.choices.color
        forced = self.environ.get("FORCE_COLOR", "")
        if forced:
            return forced != "0"
        if self.environ.get("NO_COLOR") or self.environ.get("TERM") == "dumb":
            return False
        return self.is_terminal(side)

    def give(self, *, text: Callable[[], str], line: Callable[[], str], document: Callable[[], object]) -> None:
        """Print the result in the one form that was asked for; the others are not made.

        Args:
            text: The whole result.
            line: The result in one line, for `-q`.
            document: The result as JSON.
        """
        if self.as_json:
            self.json(document())
        elif self.choices.quiet == 0:
            self.say(text())
        elif self.is_brief:
            self.say(line())

    def json(self, document: object) -> None:
        """Print one JSON document on stdout."""
        from agentfootprint.trace import thaw

        stream = _stream("out")
        is_unicode = stream is None or (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf")
        text = json.dumps(thaw(document), ensure_ascii=not is_unicode, indent=2)
        self._write("out", _harmless(text, _json_escape))

    def say(self, text: str) -> None:
        """Print a part of the result on stdout, unless JSON or silence was asked for."""
        if not self.as_json and self.choices.quiet < _QUIETER:
            self._write("out", text)

    def note(self, text: str) -> None:
        """Print a plan, progress or a next step on stderr; `-q` leaves it out."""
        if self.choices.quiet == 0:
            self._write("err", text)

    def warn(self, text: str) -> None:
        """Print a warning on stderr; `-qq` leaves it out."""
        if self.choices.quiet < _QUIETER:
            self._write("err", text)

    def complain(self, text: str) -> None:
        """Print an error on stderr, whatever was asked for."""
        self._write("err", text)

    def _write(self, side: Side, text: str) -> None:
        stream = _stream(side)
        if stream is None:
            return
        encoding = stream.encoding or "utf-8"
        shown = f"{_harmless(text, _text_escape)}\n".encode(encoding, "backslashreplace").decode(encoding)
        try:
            if self.has_color(side):
                _paint(stream, shown)
            else:
                stream.write(shown)
            stream.flush()
        except BrokenPipeError:
            _abandon(stream)
        except OSError as error:
            _abandon(stream)
            if side == "out":
                reason = (error.strerror or type(error).__name__).lower()
                raise FileAccessError(
                    f"The output can't be written: {reason}.", fix="Send it elsewhere, or make room.", where="stdout"
                ) from error


def _stream(side: Side) -> TextIO | None:
    """The stream of now, which a test or the user's code may have changed; `None` as `>&-` leaves it."""
    return cast("TextIO | None", sys.stdout if side == "out" else sys.stderr)


def _harmless(text: str, escape: Callable[[str], str]) -> str:
    """A text that can't steer a terminal, whatever a model, a file or an exception put into it."""
    return "\n".join(
        line if line.isprintable() else "".join(each if each == "\t" else escape(each) for each in line)
        for line in text.split("\n")
    )


def _text_escape(character: str) -> str:
    from agentfootprint.explain import escaped

    return escaped(character)


def _json_escape(character: str) -> str:
    """The same character as JSON spells it, where it would be escaped in a text."""
    if _text_escape(character) == character:
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= _BASIC else json.dumps(character)[1:-1]


def _paint(stream: TextIO, text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    painted = Text(text, end="")
    for pattern, style in _STYLES:
        painted.highlight_regex(pattern, style)
    console = Console(file=stream, force_terminal=True, color_system="standard", no_color=False, legacy_windows=False)
    console.print(painted, soft_wrap=True, end="")


def _abandon(stream: TextIO) -> None:
    """The reader has gone: what still comes, and the interpreter's last flush, go nowhere."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # a stream of a test has no descriptor
        return
