"""Tests of agentfootprint.observe.wording.messages."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.errors import ConfigError
from agentfootprint.observe import compose_messages, render_commentary, validate_messages


def test_overrides_win_and_neither_catalogue_is_touched() -> None:
    defaults, overrides = {"a": "1", "b": "2"}, {"b": "3", "new": "4"}

    whole = compose_messages(defaults, overrides)

    assert dict(whole) == {"a": "1", "b": "3", "new": "4"}
    assert (defaults, overrides) == ({"a": "1", "b": "2"}, {"b": "3", "new": "4"})
    with pytest.raises(TypeError):
        cast("Any", whole)["a"] = "x"


def test_all_that_a_catalogue_lacks_is_named_at_once() -> None:
    with pytest.raises(ConfigError, match=r"The status lacks tool, idle and has no text for paused\."):
        validate_messages({"paused": " "}, ["tool", "idle", "paused"], label="status", forbid_empty=True)

    validate_messages({"paused": ""}, ["paused"])


@given(st.text(), st.dictionaries(st.sampled_from(["a", "b"]), st.text()))
def test_a_value_is_put_in_once_and_never_read_again(value: str, others: dict[str, str]) -> None:
    assert render_commentary("<{{x}}>", {**others, "x": value}) == f"<{value}>"
    assert render_commentary("<{{missing}}>", others) == "<>"
