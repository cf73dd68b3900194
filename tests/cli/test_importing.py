"""Tests of agentfootprint.cli.importing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfootprint.explain import forbidden_words
from agentfootprint.recording import Recording
from tests.cli.commands import afp, widest


def test_a_log_becomes_a_recording_and_its_limits_are_said(desk: Path) -> None:
    ran = afp("import", "log.json", "--to", "run2.json")

    lines = ran.out.splitlines()
    assert ran.code == 0
    assert lines[0].startswith("READ    ")
    assert "Who&When" in lines[0]
    assert any(line.startswith("WROTE   run2.json: ") for line in lines)
    assert "LIMITS  imported from a Who&When failure log: reads are inferred from message" in ran.out
    assert ran.err == "NEXT    agentfootprint why run2.json\n"
    assert widest(ran.out) <= 80
    assert forbidden_words(ran.out) == []
    assert len(Recording.load(desk / "run2.json").calls) > 0


def test_the_other_forms(desk: Path) -> None:
    document = afp("import", "log.json", "--to", "a.json", "--json").json
    brief = afp("import", "log.json", "--to", "b.json", "-q")

    assert document["format"] == "agentfootprint.import/1"
    assert document["wrote"] == "a.json"
    assert document["counts"]["messages"] >= document["counts"]["modelCalls"] > 0
    assert brief.out.startswith("b.json: ")
    assert (brief.out.count("\n"), brief.err) == (1, "")
    assert {path.name for path in desk.iterdir()} >= {"a.json", "b.json"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nothing.json", "--to", "x.json"], "ERR_FILE"),
        (["log.json", "--to", "nowhere/x.json"], "ERR_FILE"),
        (["log.json", "--to", "."], "ERR_FILE"),
        (["run.json", "--to", "x.json"], "ERR_ALREADY_RECORDING"),
        (["refunds.py", "--to", "x.json"], "ERR_TRACE_NOT_JSON"),
        (["other.json", "--to", "x.json"], "ERR_UNKNOWN_TRACE"),
        (["log.json"], "ERR_USAGE"),
    ],
)
def test_what_can_not_be_imported_is_named_and_nothing_is_written(words: list[str], code: str, desk: Path) -> None:
    (desk / "other.json").write_text('{"spans": []}', encoding="utf-8")

    ran = afp("import", *words)

    assert (ran.code, ran.out) == (2, "")
    assert f"[{code}]" in ran.err
    assert not (desk / "x.json").exists()
