"""Tests of the README: what it shows a newcomer works, word for word, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.landed import ROOT
from tests.pages import Block, blocks, program, run_bash, run_python

README = ROOT / "README.md"
COMMANDS = [block for block in blocks(README) if block.mark == "run"]
CUSTODY = ["ANSWER", "READ", "LANDED", "ALLOWED", "BORN"]


def test_the_quick_start_prints_a_custody_chain(tmp_path: Path) -> None:
    programs = [block.code for block in blocks(README) if block.language == "python" and block.mark is None]

    printed = run_python(programs[0], name="quick_start", folder=tmp_path / "empty")

    firsts = [line.split()[0] for line in printed.partition("CUSTODY of ")[2].splitlines() if line.strip()]
    assert [word for word in firsts if word in CUSTODY][:5] == CUSTODY


def test_all_programs_of_the_readme_run_in_order(tmp_path: Path) -> None:
    run_python(program(README), name="readme", folder=tmp_path / "empty")


@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: f"line {block.line}")
def test_the_commands_of_the_readme_run(block: Block, tmp_path: Path) -> None:
    run_bash(block.commands, folder=tmp_path / "empty")
