"""Tests of agentfootprint.hosting.wires.encoding."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.errors import ConfigError
from agentfootprint.hosting import encode_sse
from agentfootprint.hosting.wires.encoding import comment

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


def lines_as_a_browser_splits_them(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@given(name=NAMES, payload=JSON, number=st.none() | st.integers(0, 10**9))
def test_one_event_is_one_event_whatever_is_in_it(name: str, payload: Any, number: int | None) -> None:
    text = encode_sse(name, payload, id=None if number is None else str(number))

    *fields, end, rest = lines_as_a_browser_splits_them(text)
    assert (end, rest) == ("", "")
    split = dict(field.split(": ", 1) for field in fields)
    assert split.pop("event") == name
    assert json.loads(split.pop("data")) == payload
    assert split == ({} if number is None else {"id": str(number)})


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\r\nb", "a\0b", "\n"])
def test_a_name_or_id_that_would_begin_another_field_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="line end"):
        encode_sse(name, {})
    with pytest.raises(ConfigError, match="line end"):
        encode_sse("x", {}, id=name)


def test_a_comment_stays_one_line() -> None:
    assert comment("lagged 5\ndata: {}\r\n") == ": lagged 5 data: {}  \n\n"
