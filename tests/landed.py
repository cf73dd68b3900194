"""What has landed of the page of public names, for the tests that compare the two or wait for a part.

`tests/api_names.json` is made by `scripts/api_names.py`. A room has `names` (with the parameter list, or null where
there is nothing to call), `later` (promised without a signature) and `types` (mentioned in a signature of the room).
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import TypedDict

import pytest

__all__ = ["PAGE", "ROOT", "SOURCE", "Room", "offered", "promised", "skip_unless_landed"]

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "agentfootprint"


class Room(TypedDict):
    names: dict[str, str | None]
    later: list[str]
    types: list[str]


PAGE: dict[str, Room] = json.loads((Path(__file__).parent / "api_names.json").read_text(encoding="utf-8"))


@cache
def offered(room: str) -> frozenset[str]:
    """The public names of a room; empty when the room is not there yet."""
    if importlib.util.find_spec(room) is None:
        return frozenset()
    return frozenset(getattr(importlib.import_module(room), "__all__", ()))


def promised(room: str) -> set[str]:
    entry = PAGE[room]
    return {*(name for name in entry["names"] if "." not in name), *entry["later"], *entry["types"]}


def skip_unless_landed(program: str) -> None:
    """Skip a program that imports something the page promises and the package has not yet; a misspelt name runs."""
    missing: list[str] = []
    for node in ast.walk(ast.parse(program)):
        if not isinstance(node, ast.ImportFrom) or node.module not in PAGE:
            continue
        wanted = {alias.name for alias in node.names}
        missing += sorted(f"{node.module}.{name}" for name in (wanted & promised(node.module)) - offered(node.module))
    if missing:
        pytest.skip(f"not landed yet: {', '.join(missing)}")
