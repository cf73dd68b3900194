"""Tests of agentfootprint.cli.app."""

from __future__ import annotations

import inspect
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agentfootprint.cli import app
from tests.landed import ROOT


def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    done = subprocess.run(
        [sys.executable, "-m", "agentfootprint", "why", "nothing.json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: There is no file 'nothing.json'.")


def test_both_names_of_the_command_are_installed() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]

    assert scripts == {"agentfootprint": "agentfootprint.cli.app:main", "afp": "agentfootprint.cli.app:main"}
    assert inspect.isfunction(app.main)


INTERRUPTING = """
import importlib.abc, os, signal, sys
wanted = sys.argv.pop(1)
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from agentfootprint.cli.app import main
main()
"""


@pytest.mark.parametrize(
    "module",
    [
        "agentfootprint.cli.streams",
        "typer",
        "agentfootprint.cli.why",
        "typer._adapters",
        "agentfootprint.explain.asking",
    ],
)
def test_an_interrupt_while_something_is_imported_is_said_too(module: str, desk: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTING, module, "why", "run.json"],
        cwd=desk,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_an_interrupt_at_the_end_ends_it_in_silence(desk: Path) -> None:
    late = (
        "import os, signal, threading\n"
        "from agentfootprint.cli.app import main\n"
        "def late():\n"
        "    threading.main_thread().join()\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=late).start()\n"
        "main()\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", late, "show", "run.json", "-q"], cwd=desk, capture_output=True, check=False
    )

    assert done.returncode in (0, 130)
    assert done.stdout.startswith(b"run-")
    assert done.stderr == b""


def test_a_program_that_ignores_interrupts_goes_on_ignoring_them(desk: Path) -> None:
    ignoring = INTERRUPTING.replace("wanted =", "signal.signal(signal.SIGINT, signal.SIG_IGN); wanted =")

    done = subprocess.run(
        [sys.executable, "-c", ignoring, "typer", "show", "run.json", "-q"], cwd=desk, capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_stream_that_was_closed_breaks_nothing(closed: str, desk: Path) -> None:
    done = subprocess.run(
        f"exec {shlex.quote(sys.executable)} -m agentfootprint why run.json {closed}",
        shell=True,
        cwd=desk,
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"WHY ") is (not closed.startswith(">"))
