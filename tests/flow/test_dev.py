"""Tests of agentfootprint.flow.dev."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator

import pytest

from agentfootprint.flow import FlowDevWarning, enable_dev_mode
from agentfootprint.flow.dev import dev_warning, is_dev_mode


@pytest.fixture(autouse=True)
def off() -> Iterator[None]:
    yield
    enable_dev_mode(on=False)


def test_an_oddity_is_silent_out_of_dev_mode(caplog: pytest.LogCaptureFixture) -> None:
    enable_dev_mode(on=False)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dev_warning("odd")

    assert not caplog.records


def test_an_oddity_is_said_as_a_warning_and_to_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    enable_dev_mode()

    with caplog.at_level(logging.WARNING, "agentfootprint.flow"), pytest.warns(FlowDevWarning, match="odd"):
        dev_warning("odd")

    assert [record.getMessage() for record in caplog.records] == ["odd"]


def test_the_environment_turns_it_on_unless_the_program_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentfootprint.flow.dev._enabled", [])
    monkeypatch.delenv("AGENTFOOTPRINT_DEV", raising=False)
    assert not is_dev_mode()

    monkeypatch.setenv("AGENTFOOTPRINT_DEV", "1")
    assert is_dev_mode()

    enable_dev_mode(on=False)
    assert not is_dev_mode()
