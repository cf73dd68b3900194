"""Tests of agentfootprint.cli.version."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from tests.cli.commands import afp
from tests.landed import ROOT


@pytest.mark.parametrize("words", [["--version"], ["--version", "--json"], ["-q", "--version"]])
def test_the_version_is_the_installed_one(words: list[str]) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    ran = afp(*words)

    assert ran.code == 0
    assert version in ran.out


def test_the_version_is_told_without_loading_a_command() -> None:
    asked = (
        "import sys; from agentfootprint.cli.app import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)\n"
    )

    done = subprocess.run([sys.executable, "-c", asked, "--version"], capture_output=True, text=True, check=False)

    assert done.stdout.startswith("agentfootprint ")
    assert not {"typer", "msgspec", "pydantic", "agentfootprint.explain.model"} & set(done.stderr.split())
