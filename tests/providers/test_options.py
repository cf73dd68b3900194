"""Tests of agentfootprint.providers.options."""

from __future__ import annotations

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.providers.options import HttpOptions, checked_address


def test_a_key_and_headers_are_not_in_its_repr() -> None:
    assert "secret" not in repr(HttpOptions(api_key="secret", headers={"x": "secret"}, client="secret"))


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_a_timeout_is_positive(timeout: float) -> None:
    with pytest.raises(ConfigError, match="timeout"):
        HttpOptions(timeout=timeout)


@pytest.mark.parametrize(
    "address", ["", "localhost", "ftp://x", "http://", "http://[x", "http://x:port", "https:///v1"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="base URL"):
        checked_address(address)


@pytest.mark.parametrize("address", ["http://localhost:8000/v1", "https://api.example", "http://[::1]:1/"])
def test_an_address_passes_as_it_is(address: str) -> None:
    assert checked_address(address) == address
