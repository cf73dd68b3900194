"""Every log of the Who&When collection that is at hand; none of them is in this repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentfootprint.explain import forbidden_words, import_trace, why
from tests.landed import ROOT

DATA = Path(os.environ.get("AGENTFOOTPRINT_DATA") or ROOT.parent / "shared" / "data") / "who_and_when"
HALVES = ("algorithm_generated", "hand_crafted")


@pytest.mark.parametrize("half", HALVES)
def test_every_log_imports_and_why_names_candidates_and_no_verdict(half: str, tmp_path: Path) -> None:
    logs = sorted((DATA / half).glob("*.json"))
    if not logs:
        pytest.skip(f"no logs in {DATA / half}: set AGENTFOOTPRINT_DATA to the folder that holds who_and_when")

    for log in logs:
        trace = import_trace(log)
        report = why(trace.recording)
        text, wire = str(report), report.to_wire()

        assert report.step == trace.answer_step, log
        assert report.answer.strip(), log
        assert report.sources, log
        assert all(len(report.custody(source.id)) == 5 for source in report.sources), log
        assert any(source.has_content_evidence for source in report.sources), log
        assert wire["mode"] == "correlational", log
        assert not any("verdict" in suspect for suspect in wire["suspects"]), log
        assert "imported" in {flag["flag"] for flag in wire["honestyFlags"]}, log
        assert not forbidden_words(text), log
    assert why(import_trace(logs[0]).recording).to_html(tmp_path / "why.html").stat().st_size


@pytest.mark.parametrize("half", HALVES)
def test_no_log_loses_a_word(half: str) -> None:
    import json

    logs = sorted((DATA / half).glob("*.json"))
    if not logs:
        pytest.skip(f"no logs in {DATA / half}: set AGENTFOOTPRINT_DATA to the folder that holds who_and_when")

    for log in logs:
        said = "".join(entry["content"] for entry in json.loads(log.read_bytes())["history"])
        history = import_trace(log).recording.snapshot["sharedState"]["history"]

        kept = "".join(m["content"] for m in history if m["injectedBy"]["injectionId"] != "question")
        assert kept == said, log
