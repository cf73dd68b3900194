"""Tests of the import contract: `make layers` checks the code against it, these check that it stays what was agreed."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.landed import ROOT, SOURCE

# From the top floor down: a later line never imports an earlier one, names on one line never each other.
FLOORS = """
__main__
cli testing
lens agui mcp
hosting
compose
agent
rag
explain memory
context
tools
security artifacts
observe
resilience providers
recording
events llm identity flow
trace
_lazy _optional _blocking
errors
"""


@pytest.fixture(scope="module")
def linter() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]


def contract(linter: dict[str, Any], name: str) -> dict[str, Any]:
    return next(contract for contract in linter["contracts"] if contract["name"] == name)


def test_the_floors_are_the_agreed_ones_and_no_room_stands_beside_them(linter: dict[str, Any]) -> None:
    layers = contract(linter, "Imports point downward")

    floors = [[room.strip("() ") for room in line.split("|")] for line in layers["layers"]]

    assert floors == [line.split() for line in FLOORS.split("\n") if line]
    assert layers["containers"] == ["agentfootprint"]
    assert layers["exhaustive"] is True
    assert "ignore_imports" not in layers


def test_every_room_on_disk_has_a_floor() -> None:
    rooms = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}

    assert rooms - set(FLOORS.split()) - {"__init__"} == set()


def test_imports_inside_functions_and_of_other_packages_count(linter: dict[str, Any]) -> None:
    assert linter["include_external_packages"] is True
    assert linter["exclude_type_checking_imports"] is True  # a signature may name a type of a higher floor


def test_a_recording_is_read_without_the_engine(linter: dict[str, Any]) -> None:
    reading = contract(linter, "A recording is read without the engine")

    assert reading["type"] == "forbidden"
    assert reading["source_modules"] == ["agentfootprint.recording", "agentfootprint.explain"]
    assert reading["forbidden_modules"] == ["agentfootprint.flow"]


def test_vendors_stay_in_their_adapter(linter: dict[str, Any]) -> None:
    vendors = contract(linter, "Vendors stay in their adapter")

    assert vendors["type"] == "forbidden"
    assert vendors["forbidden_modules"] == ["anthropic", "openai", "starlette", "typer", "rich"]
    assert sorted(vendors["ignore_imports"]) == [
        "agentfootprint.agui.** -> starlette",
        "agentfootprint.cli.** -> rich",
        "agentfootprint.cli.** -> typer",
        "agentfootprint.hosting.** -> starlette",
        "agentfootprint.mcp.** -> starlette",
        "agentfootprint.observe.console -> rich",
        "agentfootprint.providers.** -> *",
    ]


def test_no_room_has_a_cycle_inside(linter: dict[str, Any]) -> None:
    cycles = contract(linter, "No cycle inside a room")

    assert cycles["type"] == "acyclic_siblings"
    assert cycles["ancestors"] == ["agentfootprint", "agentfootprint.*"]
