"""Tests of agentfootprint.cli.vendors."""

from __future__ import annotations

import socket
import time

import pytest

from agentfootprint.cli.vendors import VENDORS, Address, Vendor, is_set, ollama_address
from agentfootprint.errors import AgentFootprintError
from agentfootprint.providers import resolve_provider


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, "http://localhost:11434"),
        ("  ", "http://localhost:11434"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:11434/v1/", "http://[::1]:11434"),
        ("https://me:secret@gpu.example", "https://gpu.example:443"),
        ("gpu.example", "http://gpu.example:80"),
    ],
)
def test_an_address_is_shown_without_who_may_use_it(
    given: str | None, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    if given is not None:
        monkeypatch.setenv("OLLAMA_HOST", given)

    found = ollama_address()

    assert found is not None
    assert str(found) == shown


@pytest.mark.parametrize("given", ["ftp://h", "http://", "http://h:port", "http://[::1", "http://h:99999"])
def test_what_is_no_address_is_none(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", given)

    assert ollama_address() is None


def test_a_port_listens_or_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert Address("http", "127.0.0.1", port).listens()

    assert not Address("http", "127.0.0.1", port).listens()


@pytest.mark.parametrize("host", ["no-such-host.invalid", "x" * 300, ".."])
def test_a_name_that_leads_nowhere_is_silent_in_time(host: str) -> None:
    started = time.perf_counter()

    assert not Address("http", host, 80).listens(0.2)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(("value", "there"), [("x", True), (" ", False), ("", False), (None, False)])
def test_a_blank_variable_is_unset(value: str | None, there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTFOOTPRINT_TRIED", raising=False)
    if value is not None:
        monkeypatch.setenv("AGENTFOOTPRINT_TRIED", value)

    assert is_set("AGENTFOOTPRINT_TRIED") is there


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_a_vendor_with_what_it_needs_can_be_made(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1")
    monkeypatch.setenv("AZURE_OPENAI_API_VERSION", "2024-10-21")
    for variable in vendor.variables:
        monkeypatch.delenv(variable, raising=False)
    if vendor.variables:
        with pytest.raises(AgentFootprintError):
            resolve_provider(f"{vendor.name}:some-model")

    for variable in vendor.variables:
        monkeypatch.setenv(variable, "https://some.example")

    assert resolve_provider(f"{vendor.name}:some-model")
