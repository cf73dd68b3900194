"""Which programs and commands does a page of the manual hold, and how are they run?

A ```python block is run unless `<!-- not run: the reason -->` stands on the line before it. A ```bash or ```console
block is run only after `<!-- run -->`; in `console`, the lines that begin with `$ ` are the commands.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.landed import ROOT

__all__ = ["Block", "blocks", "program", "run_bash", "run_python"]

LONGEST = 120  # seconds
FENCE = re.compile(
    r"(?:<!-- (?P<mark>run|not run: [^>]+?) -->\n)?^```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int
    """Of the first line of code in the page, from 1."""
    mark: str | None

    @property
    def commands(self) -> str:
        if self.language == "bash":
            return self.code
        return "".join(f"{line[2:]}\n" for line in self.code.splitlines() if line.startswith("$ "))


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["language"], found["code"], text.count("\n", 0, found.start("code")) + 1, found["mark"])
        for found in FENCE.finditer(text)
    ]


def program(page: Path) -> str:
    """The page's Python as one program, each line where it stands in the page, so that a traceback points there."""
    lines: list[str] = []
    for block in blocks(page):
        if block.language == "python" and block.mark is None:
            lines += [""] * (block.line - 1 - len(lines))
            lines += block.code.splitlines()
    return "\n".join(lines) + "\n" if lines else ""


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


def run_python(source: str, *, name: str, folder: Path, arguments: tuple[str, ...] = ()) -> str:
    """Run a program in an empty folder, warnings as errors, and return what it printed."""
    home = folder.parent / f"{folder.name}-program"
    home.mkdir()
    file = home / f"{name}.py"
    file.write_text(source, encoding="utf-8")
    return _run([sys.executable, "-W", "error", str(file), *arguments], folder)


def run_bash(commands: str, *, folder: Path) -> str:
    """Run commands as a reader would type them, stopping at the first that fails, and return what they printed."""
    return _run(["bash", "-euo", "pipefail", "-c", commands], folder)


def _run(command: list[str], folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        command,
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def name_of(page: Path) -> str:
    """A page's path below the project, as an id of a test."""
    return page.relative_to(ROOT).as_posix()
