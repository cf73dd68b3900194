"""Tests of agentfootprint.observe.wording.catalogues."""

from __future__ import annotations

import re

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.observe import (
    DEFAULT_COMMENTARY,
    DEFAULT_STATUS,
    commentary_messages,
    status_messages,
    validate_messages,
)

STATUS_KEYS = ("idle", "streaming", "tool", "paused", "tool.progress", "tool.progress.generic")


def names(text: str) -> set[str]:
    return set(re.findall(r"\{\{(\w+)\}\}", text))


def test_every_language_asks_for_what_english_asks_for() -> None:
    for key, text in commentary_messages("fr").items():
        assert names(text) == names(DEFAULT_COMMENTARY[key]), key
    for key, text in status_messages("fr").items():
        assert names(text) == names(DEFAULT_STATUS[key]), key


def test_what_a_language_leaves_out_is_said_in_english() -> None:
    assert commentary_messages("fr")["stream.tool_end"] != DEFAULT_COMMENTARY["stream.tool_end"]
    assert commentary_messages("fr")["artifacts.expired"] == DEFAULT_COMMENTARY["artifacts.expired"]
    validate_messages(status_messages("fr"), STATUS_KEYS, label="status", forbid_empty=True)


def test_a_language_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"no texts in 'tlh'. Use one of: en, fr\."):
        status_messages("tlh")
