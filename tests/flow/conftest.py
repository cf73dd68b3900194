"""What several test modules of the engine are given."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from agentfootprint.flow import enable_dev_mode
from tests.flow.waiting import Waits


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Waits:
    """No wait between attempts takes time; what was waited for is in `seconds`."""
    waits = Waits(asyncio.sleep)
    own = SimpleNamespace(sleep=waits, current_task=asyncio.current_task)
    monkeypatch.setattr("agentfootprint.flow.walking.recovering.asyncio", own)
    return waits


@pytest.fixture
def dev_mode() -> Iterator[None]:
    """Oddities are said while the test runs."""
    enable_dev_mode()
    yield
    enable_dev_mode(on=False)
