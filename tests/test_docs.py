"""Tests of the manual: every program in it runs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.landed import ROOT, skip_unless_landed
from tests.pages import Block, blocks, name_of, program, run_bash, run_python

PAGES = sorted((ROOT / "docs").rglob("*.md"))
WITH_PYTHON = [page for page in PAGES if program(page)]
EXCUSED = [(page, block) for page in PAGES for block in blocks(page) if block.mark and block.mark.startswith("not run")]
COMMANDS = [(page, block) for page in PAGES for block in blocks(page) if block.mark == "run"]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name_of)
def test_the_programs_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    source = program(page)
    skip_unless_landed(source)

    run_python(source, name=page.stem, folder=tmp_path / "empty")


@pytest.mark.parametrize(("page", "block"), COMMANDS, ids=lambda item: getattr(item, "name", ""))
def test_the_commands_of_a_page_run(page: Path, block: Block, tmp_path: Path) -> None:
    run_bash(block.commands, folder=tmp_path / "empty")


@pytest.mark.parametrize(("page", "block"), EXCUSED, ids=lambda item: getattr(item, "name", ""))
def test_a_program_that_is_not_run_says_why(page: Path, block: Block) -> None:
    compile(block.code, f"{page.name}:{block.line}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    pytest.skip(f"{name_of(page)}:{block.line} {block.mark}")


def test_a_program_keeps_the_line_numbers_of_its_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    shown = ["# Title", "```python", "a = 1", "```", "<!-- not run: why -->", "```python", "!", "```", "Text."]
    page.write_text("\n".join([*shown, "```python", "assert a", "```", ""]))

    lines = program(page).splitlines()

    assert {number: line for number, line in enumerate(lines, 1) if line} == {3: "a = 1", 11: "assert a"}


def test_commands_are_the_lines_after_a_prompt(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- run -->\n```console\n$ echo one\none\n$ echo two\ntwo\n```\n\n```bash\nexit 1\n```\n")

    run, left = blocks(page)

    assert (run.mark, left.mark) == ("run", None)
    assert run_bash(run.commands, folder=tmp_path / "empty") == "one\ntwo\n"
