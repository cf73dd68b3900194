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


def test_several_calls_are_decided_by_a_second_process_each_on_its_own(tmp_path: Path) -> None:
    source = (ROOT / "examples" / "11_batch_approval.py").read_text(encoding="utf-8")

    first = run_python(source, name="ask", folder=tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "pause.json").rename(tmp_path / "two" / "pause.json")
    second = run_python(source, name="answer", folder=tmp_path / "two", arguments=("answer",))

    assert [line.split()[0] for line in first.splitlines()] == ["c0", "c2"]
    assert second.splitlines() == [
        "A-1: refunded 480",
        "A-2: refunded 20",
        "declined by human: over the limit",
        "Two of three are done.",
    ]
