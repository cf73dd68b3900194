"""Tests of the examples: each runs offline, as it stands, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.landed import ROOT, skip_unless_landed
from tests.pages import run_python

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    source = example.read_text(encoding="utf-8")
    skip_unless_landed(source)

    printed = run_python(source, name=example.stem, folder=tmp_path / "empty")

    assert printed.strip(), "an example shows something"


def test_the_pause_is_answered_by_a_second_process(tmp_path: Path) -> None:
    source = (ROOT / "examples" / "06_pause.py").read_text(encoding="utf-8")

    first = run_python(source, name="ask", folder=tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "pause.json").rename(tmp_path / "two" / "pause.json")
    second = run_python(source, name="answer", folder=tmp_path / "two", arguments=("answer",))

    assert first == "ask_human Refund 480.0?\n"
    assert second == "Done.\n"
