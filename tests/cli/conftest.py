"""A folder to work in: `run.json` of the first hour's refund agent, and the module it was made with."""

from __future__ import annotations

import importlib.resources
import os
import shutil
import sys
from pathlib import Path

import pytest

from agentfootprint.cli import streams
from agentfootprint.observe import AuditExporter
from agentfootprint.recording import Recording
from tests.cli import refunds


@pytest.fixture(scope="session")
def refund_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of one refund, made once."""
    folder = tmp_path_factory.mktemp("refund")
    result = refunds.agent.run_sync(refunds.QUESTION)
    result.recording.save(folder / "run.json")
    audit = AuditExporter()
    for event in result.recording.events:
        audit.export(event)
    audit.save(folder / "run.audit.jsonl")
    refunds.priced.run_sync(refunds.QUESTION).recording.save(folder / "priced.json")
    return folder


@pytest.fixture
def desk(refund_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: run.json, run.audit.jsonl, priced.json, refunds.py, log.json."""
    for name in ("run.json", "run.audit.jsonl", "priced.json"):
        shutil.copy(refund_run / name, tmp_path / name)
    shutil.copy(refunds.__file__, tmp_path / "refunds.py")
    sample = importlib.resources.files("agentfootprint.explain.importing") / "sample_failure.json"
    (tmp_path / "log.json").write_text(sample.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "refunds", raising=False)
    return tmp_path


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Both streams go to a terminal of 80 columns."""

    def always(*_: object) -> bool:
        return True

    def size(*_: object) -> os.terminal_size:
        return os.terminal_size((80, 24))

    monkeypatch.setattr(streams.Streams, "is_terminal", always)
    monkeypatch.setattr(streams.shutil, "get_terminal_size", size)
    return monkeypatch


@pytest.fixture
def recording(refund_run: Path) -> Recording:
    return Recording.load(refund_run / "run.json")
